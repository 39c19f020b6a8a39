// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Synchronization

/// Wakes the requests that wait for an account's grants, in every process that shares
/// the database. A class, because writers and waiters share it. A waiter then reads
/// whether there is news for it.
final class LedgerNews: Sendable {
    typealias Ticket = Waiters<String>.Ticket

    private let waiters = Waiters<String>()
    private let listening = Mutex<Task<Void, Never>?>(nil)

    /// The word by which processes name an account to each other. Two accounts may
    /// share one; then a waiter reads once for nothing.
    private static func word(_ account: String) -> String { Fingerprint.of(account.utf8) }

    /// The number of waiters.
    var waiting: Int { waiters.waiting }

    func ticket(_ account: String) -> Ticket { waiters.ticket(Self.word(account)) }

    func giveBack(_ ticket: Ticket) { waiters.giveBack(ticket) }

    /// Reports a commit for an account to the waiters of every process.
    func tell(_ account: String?, _ storage: any Storage) {
        guard let account else { return }
        let word = Self.word(account)
        waiters.wake(word)
        storage.wake(word)
    }

    /// Reports what other processes commit to this process's waiters, from the first
    /// waiter on until the ledger is closed.
    func listen(to storage: any Storage) {
        listening.withLock { listening in
            guard listening == nil else { return }
            let wakes = storage.wakes()
            listening = Task { [waiters] in
                for await wake in wakes {
                    switch wake {
                    case .word(let word): waiters.wake(word)
                    case .missed: waiters.wakeAll()
                    }
                }
            }
        }
    }

    /// Ends all waits.
    func finish() {
        listening.withLock { $0.take() }?.cancel()
        waiters.finish()
    }
}
