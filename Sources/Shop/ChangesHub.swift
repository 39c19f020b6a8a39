// SPDX-License-Identifier: Apache-2.0

import Commerce
import Synchronization

/// Wakes those who wait for a customer's next commit. A class, because
/// writers and waiters share it. Nothing is polled, and waking twice before
/// a waiter looks is waking once.
final class ChangesHub: Sendable {
    private struct Waiter {
        let since: Int64
        let wake: AsyncStream<Void>.Continuation
    }

    private struct State {
        var nextTicket = 0
        var waiters: [CustomerID: [Int: Waiter]] = [:]
    }

    /// A place in the hub, taken before the revision is read, so that no
    /// commit falls between reading and waiting.
    struct Ticket: Sendable {
        fileprivate let customer: CustomerID
        fileprivate let number: Int
        fileprivate let stream: AsyncStream<Void>

        /// Returns when woken, or at once when its task is cancelled.
        func wait() async {
            for await _ in stream { return }
        }
    }

    private let state = Mutex(State())

    /// Asks to be woken by a commit beyond `since`.
    func ticket(_ customer: CustomerID, since: Int64) -> Ticket {
        let (stream, wake) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        return state.withLock { state in
            state.nextTicket += 1
            let number = state.nextTicket
            state.waiters[customer, default: [:]][number] = Waiter(since: since, wake: wake)
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

    /// Tells of a commit. Called after it holds.
    func wake(_ customer: CustomerID, revision: Int64) {
        let woken = state.withLock { state in
            state.waiters[customer]?.values.filter { $0.since < revision }.map(\.wake) ?? []
        }
        for wake in woken { wake.yield() }
    }

    /// Lets everybody go: the realm closes.
    func finish() {
        let woken = state.withLock { state in
            state.waiters.values.flatMap { $0.values.map(\.wake) }
        }
        for wake in woken { wake.finish() }
    }
}
