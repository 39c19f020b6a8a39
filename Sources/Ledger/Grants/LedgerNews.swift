// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization

/// Wakes the requests that wait for an account's grants. A class, because
/// writers and waiters share it. A waiter then reads whether there is news for it.
final class LedgerNews: Sendable {
    private struct State {
        var nextNumber = 0
        var waiters: [String: [Int: Ticket]] = [:]
        var listening: Task<Void, Never>?
    }

    /// A registration, made before the account is read, so that no commit is missed
    /// between reading and waiting. A class, because waiter and writer share it.
    final class Ticket: Sendable {
        private struct State {
            var isWoken = false
            var isOver = false
            var waiting: CheckedContinuation<Void, Never>?
        }

        fileprivate let word: String
        fileprivate let number: Int
        private let state = Mutex(State())

        fileprivate init(_ word: String, _ number: Int) {
            (self.word, self.number) = (word, number)
        }

        /// Returns true when woken, and false when the wait was ended.
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

    /// The word by which processes name an account to each other. Two accounts may
    /// share one; then a waiter reads once for nothing.
    private static func word(_ account: String) -> String { Fingerprint.hex(account.utf8) }

    func ticket(_ account: String) -> Ticket {
        let word = Self.word(account)
        return state.withLock { state in
            state.nextNumber += 1
            let ticket = Ticket(word, state.nextNumber)
            state.waiters[word, default: [:]][ticket.number] = ticket
            return ticket
        }
    }

    func giveBack(_ ticket: Ticket) {
        state.withLock { state in
            state.waiters[ticket.word]?[ticket.number] = nil
            if state.waiters[ticket.word]?.isEmpty == true { state.waiters[ticket.word] = nil }
        }
    }

    /// Reports a commit for an account to the waiters of every process.
    func tell(_ account: String?, _ storage: any Storage) {
        guard let account else { return }
        let word = Self.word(account)
        wake(word)
        storage.wake(word)
    }

    /// Reports what other processes commit to this process's waiters, from the first
    /// waiter on until the ledger is closed.
    func listen(to storage: any Storage) {
        state.withLock { state in
            guard state.listening == nil else { return }
            let wakes = storage.wakes()
            state.listening = Task { [weak self] in
                for await wake in wakes {
                    switch wake {
                    case .word(let word): self?.wake(word)
                    case .missed: self?.wakeAll()
                    }
                }
            }
        }
    }

    /// Ends all waits.
    func finish() {
        let (task, tickets) = state.withLock { state in
            (state.listening.take(), state.waiters.values.flatMap(\.values))
        }
        task?.cancel()
        for ticket in tickets { ticket.end() }
    }

    /// The number of waiters.
    var waiting: Int { state.withLock { $0.waiters.values.reduce(0) { $0 + $1.count } } }

    private func wake(_ word: String) {
        let woken = state.withLock { $0.waiters[word].map { Array($0.values) } ?? [] }
        for ticket in woken { ticket.wake() }
    }

    private func wakeAll() {
        let woken = state.withLock { $0.waiters.values.flatMap(\.values) }
        for ticket in woken { ticket.wake() }
    }
}

/// A short fingerprint (FNV-1a, 64 bits) of what need not be kept from strangers.
package enum Fingerprint {
    package static func hex(_ bytes: some Sequence<UInt8>) -> String {
        let hash = bytes.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
