// SPDX-License-Identifier: Apache-2.0

import Commerce
import Synchronization

/// Who was wrong, how often, in this process: accounts and clients apart. A
/// class, because a store's realms and doors share it. It is bounded: where
/// there is no more room, those who were wrong longest ago are forgotten.
final class AttemptLimits: Sendable {
    /// Remembered at once, of each kind: a few megabytes.
    static let entriesMax = 20_000

    fileprivate struct Table {
        let rule: AttemptRule
        var entries: [String: Attempts] = [:]

        mutating func makeRoom(at now: Timestamp) {
            guard entries.count >= AttemptLimits.entriesMax else { return }
            entries = entries.filter { !$0.value.isForgotten(at: now) }
            guard entries.count >= AttemptLimits.entriesMax else { return }
            let dates = entries.values.map(\.last).sorted()
            let middle = dates[dates.count / 4]
            entries = entries.filter { $0.value.last > middle || $0.value.underWay > 0 }
        }

        mutating func change(_ key: String, at now: Timestamp, _ body: (inout Attempts) -> Void) {
            body(&entries[key, default: Attempts()])
            if entries[key]?.isForgotten(at: now) == true { entries[key] = nil }
        }
    }

    fileprivate struct State {
        var accounts = Table(rule: .account)
        var clients = Table(rule: .client)
        var keys = Table(rule: .key)
    }

    private let state = Mutex(State())

    /// How many clients' keys are remembered.
    var keyCount: Int { state.withLock { $0.keys.entries.count } }

    /// Tries a password, unless account or client have to wait: then it
    /// throws `tooManyAttempts`, whether there is such an account or not.
    func attempt(
        account: String, client: String?, now: () -> Timestamp,
        _ isRight: () async throws -> Bool
    ) async throws -> Bool {
        let begun = now()
        let wait = state.withLock { $0.begin(account, client, at: begun) }
        if let wait { throw Self.tooManyAttempts(wait, field: "customer") }
        do {
            let answer = try await isRight()
            let ended = now()
            state.withLock { $0.end(account, client, isRight: answer, at: ended) }
            return answer
        } catch {
            // Nothing was learnt of the password.
            let ended = now()
            state.withLock { $0.end(account, client, isRight: nil, at: ended) }
            throw error
        }
    }

    /// Throws `tooManyAttempts` where a client brought too many wrong keys.
    func admitKey(of client: String, at now: Timestamp) throws {
        let wait = state.withLock { state in
            state.keys.entries[client]?.wait(state.keys.rule, at: now)
        }
        if let wait { throw Self.tooManyAttempts(wait, field: "Authorization") }
    }

    func wrongKey(of client: String, at now: Timestamp) {
        state.withLock { state in
            state.keys.makeRoom(at: now)
            state.keys.change(client, at: now) { $0.mistake(at: now) }
        }
    }

    static func tooManyAttempts(_ seconds: Int64, field: String) -> Refusal {
        var refusal = Refusal(
            .tooMany, code: "tooManyAttempts", "There were too many wrong attempts.",
            field: field, rule: "after some wrong ones, each has to wait longer",
            remedy: "try again in \(seconds) s, with what is right")
        refusal.retryAfterSeconds = Int(seconds)
        return refusal
    }
}

extension AttemptLimits.State {
    fileprivate mutating func begin(
        _ account: String, _ client: String?, at now: Timestamp
    ) -> Int64? {
        accounts.makeRoom(at: now)
        clients.makeRoom(at: now)
        let waits = [
            accounts.entries[account]?.wait(accounts.rule, at: now),
            client.flatMap { clients.entries[$0]?.wait(clients.rule, at: now) },
        ].compactMap { $0 }
        if let longest = waits.max() { return longest }
        accounts.change(account, at: now) { [rule = accounts.rule] in _ = $0.begin(rule, at: now) }
        if let client {
            clients.change(client, at: now) { [rule = clients.rule] in
                _ = $0.begin(rule, at: now)
            }
        }
        return nil
    }

    /// `isRight` is nil where it is not known. A right password makes good
    /// the account's mistakes, never the client's: it may have an account of
    /// its own.
    fileprivate mutating func end(
        _ account: String, _ client: String?, isRight: Bool?, at now: Timestamp
    ) {
        accounts.change(account, at: now) {
            $0.end(isRight: isRight ?? true, forgets: isRight == true, at: now)
        }
        guard let client else { return }
        clients.change(client, at: now) {
            $0.end(isRight: isRight ?? true, forgets: false, at: now)
        }
    }
}
