// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Wakes the requests that wait for commits about a key, such as a customer. A
/// class, because writers and waiters share it. Nothing is polled. Two wake-ups
/// before a waiter runs count as one.
package final class Waiters<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var nextNumber = 0
        var waiters: [Key: [Int: Ticket]] = [:]
    }

    /// A registration. It is made before the database is read, so
    /// that no commit is missed between reading and waiting. A class, because
    /// thousands of devices wait: it needs no task and no stream of its own.
    package final class Ticket: Sendable {
        private struct State {
            var isWoken = false
            var isOver = false
            var waiting: CheckedContinuation<Void, Never>?
        }

        fileprivate let key: Key
        fileprivate let number: Int
        private let state = Mutex(State())

        fileprivate init(_ key: Key, _ number: Int) {
            (self.key, self.number) = (key, number)
        }

        /// Returns true when woken. Returns false if there is nothing to wait
        /// for any more, because the wait was ended or the task cancelled.
        package func wait() async -> Bool {
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
        package func end() { resume { $0.isOver = true } }

        /// Wakes this one alone.
        package func wake() { resume { $0.isWoken = true } }

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

    package init() {}

    /// Registers for the key's commits.
    package func ticket(_ key: Key) -> Ticket {
        state.withLock { state in
            state.nextNumber += 1
            let ticket = Ticket(key, state.nextNumber)
            state.waiters[key, default: [:]][ticket.number] = ticket
            return ticket
        }
    }

    package func giveBack(_ ticket: Ticket) {
        state.withLock { state in
            state.waiters[ticket.key]?[ticket.number] = nil
            if state.waiters[ticket.key]?.isEmpty == true { state.waiters[ticket.key] = nil }
        }
    }

    /// Wakes the key's waiters. Called after a successful commit. A waiter
    /// then checks itself whether there is news for it.
    package func wake(_ key: Key) {
        let woken = state.withLock { $0.waiters[key].map { Array($0.values) } ?? [] }
        for ticket in woken { ticket.wake() }
    }

    /// The number of waiters.
    package var waiting: Int { state.withLock { $0.waiters.values.reduce(0) { $0 + $1.count } } }

    /// Wakes all waiters, because words from other processes may have been
    /// lost.
    package func wakeAll() {
        for ticket in everybody { ticket.wake() }
    }

    /// Ends all waits, because what is waited for is closed.
    package func finish() {
        for ticket in everybody { ticket.end() }
    }

    private var everybody: [Ticket] {
        state.withLock { $0.waiters.values.flatMap(\.values) }
    }
}
