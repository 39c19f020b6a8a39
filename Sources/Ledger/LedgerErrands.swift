// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Synchronization

/// What one process knows about the messages that it sends: that there may be new ones,
/// and which servers want none for a while. A class, because all calls of a ledger and
/// its worker share it.
final class LedgerErrands: Sendable {
    typealias Ticket = Waiters<Bool>.Ticket

    private let waiters = Waiters<Bool>()
    private let isAlarm = Atomic<Bool>(false)
    private let rests = Mutex<[String: Timestamp]>([:])

    /// A worker's registration. It is made before the database is read, so that no
    /// commit is missed.
    func ticket() -> Ticket { waiters.ticket(true) }

    func giveBack(_ ticket: Ticket) { waiters.giveBack(ticket) }

    /// Wakes the worker. Called after a commit that may have written a message.
    func ring() { waiters.wake(true) }

    /// Wakes the worker, because its pause is over.
    func soundAlarm() {
        isAlarm.store(true, ordering: .sequentiallyConsistent)
        ring()
    }

    /// Returns whether the pause was over.
    func stopAlarm() -> Bool {
        isAlarm.exchange(false, ordering: .sequentiallyConsistent)
    }

    /// Notes that a server wants no message before a date.
    func rest(_ url: String, until instant: Timestamp) {
        rests.withLock { $0[url] = max($0[url] ?? instant, instant) }
    }

    /// Forgets that a server wanted no message, because an operator sends one now.
    func endRest(_ url: String) { rests.withLock { $0[url] = nil } }

    /// Returns until when a server is left alone. Nil if a message may be sent.
    func rest(of url: String, at now: Timestamp) -> Timestamp? {
        rests.withLock { rests in
            guard let until = rests[url] else { return nil }
            // More than any rest is left if the machine's clock was set back.
            let left = until.milliseconds(since: now)
            guard left > 0, left <= Ledger.parkedAfterMilliseconds else {
                rests[url] = nil
                return nil
            }
            return until
        }
    }
}

extension Ledger {
    /// Wakes the worker of this process, so that it sends what a transaction of your own
    /// has written (``PreparedRedemption``, ``PreparedSpending``) at once. Call it after
    /// the commit. Without it the worker finds the message within 30 seconds.
    public func wakeWorker() { errands.ring() }

    /// Writes a commit that may owe messages, and wakes the worker.
    func commit<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        let answer = try await storage.write(body)
        if !configuration.webhooks.isEmpty || !configuration.forwardsTo.isEmpty {
            errands.ring()
        }
        return answer
    }
}
