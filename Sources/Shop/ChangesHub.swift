// SPDX-License-Identifier: Apache-2.0

import Commerce
import Synchronization

/// Wakes those who wait for a customer's commits. A class, because
/// writers and waiters share it. Nothing is polled, and waking twice before
/// a waiter looks is waking once.
final class ChangesHub: Sendable {
    private struct State {
        var nextTicket = 0
        var waiters: [CustomerID: [Int: AsyncStream<Void>.Continuation]] = [:]
    }

    /// A place in the hub, taken before the revision is read, so that no
    /// commit falls between reading and waiting.
    struct Ticket: Sendable {
        fileprivate let customer: CustomerID
        fileprivate let number: Int
        fileprivate let stream: AsyncStream<Void>

        /// Returns true when woken; false when there is nothing to wait for
        /// any more, for the realm closes or the task is cancelled.
        func wait() async -> Bool {
            for await _ in stream { return true }
            return false
        }
    }

    private let state = Mutex(State())

    /// Asks to be woken by the customer's commits.
    func ticket(_ customer: CustomerID) -> Ticket {
        let (stream, wake) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        return state.withLock { state in
            state.nextTicket += 1
            let number = state.nextTicket
            state.waiters[customer, default: [:]][number] = wake
            return Ticket(customer: customer, number: number, stream: stream)
        }
    }

    func giveBack(_ ticket: Ticket) {
        state.withLock { state in
            state.waiters[ticket.customer]?[ticket.number] = nil
            if state.waiters[ticket.customer]?.isEmpty == true {
                state.waiters[ticket.customer] = nil
            }
        }
    }

    /// Tells of a commit. Called after it holds. Who is woken looks for
    /// itself whether it brought anything to be told.
    func wake(_ customer: CustomerID) {
        let woken = state.withLock { $0.waiters[customer].map { Array($0.values) } ?? [] }
        for wake in woken { wake.yield() }
    }

    /// How many wait.
    var waiting: Int { state.withLock { $0.waiters.values.reduce(0) { $0 + $1.count } } }

    /// Tells everybody: words from other processes may have been lost.
    func wakeAll() {
        for wake in everybody { wake.yield() }
    }

    /// Lets everybody go: the realm closes.
    func finish() {
        for wake in everybody { wake.finish() }
    }

    private var everybody: [AsyncStream<Void>.Continuation] {
        state.withLock { $0.waiters.values.flatMap(\.values) }
    }
}
