// SPDX-License-Identifier: Apache-2.0

import Commerce
import Synchronization

/// Wakes the requests that wait for a customer's commits. A class, because
/// writers and waiters share it. Nothing is polled. Two wake-ups before a
/// waiter runs count as one.
final class ChangesHub: Sendable {
    private struct State {
        var nextTicket = 0
        var waiters: [CustomerID: [Int: AsyncStream<Void>.Continuation]] = [:]
    }

    /// A registration in the hub. It is made before the revision is read, so
    /// that no commit is missed between reading and waiting.
    struct Ticket: Sendable {
        fileprivate let customer: CustomerID
        fileprivate let number: Int
        fileprivate let stream: AsyncStream<Void>

        /// Returns true when woken. Returns false if there is nothing to wait
        /// for any more, because the realm is closed or the task cancelled.
        func wait() async -> Bool {
            for await _ in stream { return true }
            return false
        }
    }

    private let state = Mutex(State())

    /// Registers for the customer's commits.
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

    /// Wakes the customer's waiters. Called after a successful commit. A waiter
    /// then checks itself whether there is news for it.
    func wake(_ customer: CustomerID) {
        let woken = state.withLock { $0.waiters[customer].map { Array($0.values) } ?? [] }
        for wake in woken { wake.yield() }
    }

    /// The number of waiters.
    var waiting: Int { state.withLock { $0.waiters.values.reduce(0) { $0 + $1.count } } }

    /// Wakes all waiters, because words from other processes may have been
    /// lost.
    func wakeAll() {
        for wake in everybody { wake.yield() }
    }

    /// Ends all waits, because the realm is closed.
    func finish() {
        for wake in everybody { wake.finish() }
    }

    private var everybody: [AsyncStream<Void>.Continuation] {
        state.withLock { $0.waiters.values.flatMap(\.values) }
    }
}
