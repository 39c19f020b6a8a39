// SPDX-License-Identifier: Apache-2.0

import Commerce
import Synchronization

/// Wakes the requests that wait for a customer's commits. A class, because
/// writers and waiters share it. Nothing is polled. Two wake-ups before a
/// waiter runs count as one.
final class ChangesHub: Sendable {
    private struct State {
        var nextNumber = 0
        var waiters: [CustomerID: [Int: Ticket]] = [:]
    }

    /// A registration in the hub. It is made before the revision is read, so
    /// that no commit is missed between reading and waiting. A class, because
    /// thousands of devices wait: it needs no task and no stream of its own.
    final class Ticket: Sendable {
        private struct State {
            var isWoken = false
            var isOver = false
            var waiting: CheckedContinuation<Void, Never>?
        }

        fileprivate let customer: CustomerID
        fileprivate let number: Int
        private let state = Mutex(State())

        fileprivate init(_ customer: CustomerID, _ number: Int) {
            (self.customer, self.number) = (customer, number)
        }

        /// Returns true when woken. Returns false if there is nothing to wait
        /// for any more, because the wait was ended or the task cancelled.
        func wait() async -> Bool {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    if !put(continuation) { continuation.resume() }
                }
            } onCancel: {
                end()
            }
            return state.withLock { state in
                defer { state.isWoken = false }
                return state.isWoken && !state.isOver
            }
        }

        /// Ends the wait, now or as soon as it begins.
        func end() { resume { $0.isOver = true } }

        fileprivate func wake() { resume { $0.isWoken = true } }

        /// Returns false if there is nothing to wait for.
        private func put(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
            state.withLock { state in
                guard !state.isWoken, !state.isOver else { return false }
                state.waiting = continuation
                return true
            }
        }

        private func resume(_ change: (inout sending State) -> Void) {
            let waiting = state.withLock { state in
                change(&state)
                return state.waiting.take()
            }
            waiting?.resume()
        }
    }

    private let state = Mutex(State())

    /// Registers for the customer's commits.
    func ticket(_ customer: CustomerID) -> Ticket {
        state.withLock { state in
            state.nextNumber += 1
            let ticket = Ticket(customer, state.nextNumber)
            state.waiters[customer, default: [:]][ticket.number] = ticket
            return ticket
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
        for ticket in woken { ticket.wake() }
    }

    /// The number of waiters.
    var waiting: Int { state.withLock { $0.waiters.values.reduce(0) { $0 + $1.count } } }

    /// Wakes all waiters, because words from other processes may have been
    /// lost.
    func wakeAll() {
        for ticket in everybody { ticket.wake() }
    }

    /// Ends all waits, because the realm is closed.
    func finish() {
        for ticket in everybody { ticket.end() }
    }

    private var everybody: [Ticket] {
        state.withLock { $0.waiters.values.flatMap(\.values) }
    }
}
