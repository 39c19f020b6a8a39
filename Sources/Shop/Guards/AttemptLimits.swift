// SPDX-License-Identifier: Apache-2.0

import Commerce
import Synchronization

/// Counts the wrong attempts of accounts and clients in this process. A class,
/// because a store's realms and doors share it. Its size is limited: when it is
/// full, the entries with the oldest mistakes are forgotten.
final class AttemptLimits: Sendable {
    /// The most entries of each kind, which take a few megabytes.
    static let entriesMax = 20_000

    /// The name of an account or client, compared by bytes.
    typealias Key = Identifier<AttemptLimits, String>

    fileprivate struct Table {
        let rule: AttemptRule
        var entries: [Key: Attempts] = [:]

        mutating func makeRoom(at now: Timestamp) {
            guard entries.count >= AttemptLimits.entriesMax else { return }
            entries = entries.filter { !$0.value.isForgotten(at: now) }
            guard entries.count >= AttemptLimits.entriesMax else { return }
            let dates = entries.values.map(\.last).sorted()
            let middle = dates[dates.count / 4]
            entries = entries.filter { $0.value.last > middle || $0.value.underWay > 0 }
        }

        mutating func change(_ key: Key, at now: Timestamp, _ body: (inout Attempts) -> Void) {
            body(&entries[key, default: Attempts()])
            if entries[key]?.isForgotten(at: now) == true { entries[key] = nil }
        }
    }

    fileprivate struct State {
        var accounts = Table(rule: .account)
        var clients = Table(rule: .client)
        var keys = Table(rule: .key)
        /// When each account last signed in from each address.
        var addresses: [Origin: Timestamp] = [:]
    }

    /// One sign-in: the account, and where it comes from.
    struct SignIn: Hashable, Sendable {
        let account: Key
        /// The client's address. Nil inside this process.
        let client: Key?
        /// The installation, if it has signed in to the account before.
        let knownDevice: String?

        init(account: String, client: String?, knownDevice: String?) {
            self.account = Key(account)
            self.client = client.map { Key($0) }
            self.knownDevice = knownDevice
        }
    }

    fileprivate struct Origin: Hashable, Sendable {
        let account: Key
        let client: Key
    }

    private let state = Mutex(State())

    /// The number of clients whose wrong keys are remembered.
    var keyCount: Int { state.withLock { $0.keys.entries.count } }

    /// Tries a password. Throws `tooManyAttempts` if the account or the client
    /// has to wait, whether the account exists or not.
    ///
    /// A device or address that has signed in to the account before has
    /// attempts of its own, so that a stranger's mistakes do not keep the
    /// customer out.
    func attempt(
        _ signIn: SignIn, now: () -> Timestamp,
        _ isRight: (_ holder: String) async throws -> Bool
    ) async throws -> Bool {
        let begun = now()
        let (place, wait) = state.withLock { state in
            let place = state.place(of: signIn)
            return (place, state.begin(place, at: begun))
        }
        if let wait { throw Self.tooManyAttempts(wait, field: "customer") }
        do {
            let answer = try await isRight((place.client ?? place.account).value)
            let ended = now()
            state.withLock { state in
                state.end(place, isRight: answer, at: ended)
                if answer { state.remember(signIn, at: ended) }
            }
            return answer
        } catch {
            // The password was not tried.
            let ended = now()
            state.withLock { $0.end(place, isRight: nil, at: ended) }
            throw error
        }
    }

    /// Throws `tooManyAttempts` if a client has sent too many wrong keys.
    func admitKey(of client: String, at now: Timestamp) throws {
        let wait = state.withLock { state in
            state.keys.entries[Key(client)]?.wait(state.keys.rule, at: now)
        }
        if let wait { throw Self.tooManyAttempts(wait, field: "Authorization") }
    }

    func wrongKey(of client: String, at now: Timestamp) {
        state.withLock { state in
            state.keys.makeRoom(at: now)
            state.keys.change(Key(client), at: now) { $0.mistake(at: now) }
        }
    }

    static func tooManyAttempts(_ seconds: Int64, field: String) -> Refusal {
        var refusal = Refusal(
            .tooMany, code: "tooManyAttempts", "There were too many wrong attempts.",
            field: field, rule: "after some wrong ones, each has to wait longer",
            remedy: "try again in \(seconds) s with the right one")
        refusal.retryAfterSeconds = Int(seconds)
        return refusal
    }
}

/// Identifies the counters for a sign-in.
private struct AttemptPlace {
    /// The account's counter, or that of one of its devices or addresses.
    let account: AttemptLimits.Key
    /// Nil if the attempt does not count for the client.
    let client: AttemptLimits.Key?
}

extension AttemptLimits.State {
    fileprivate func place(of signIn: AttemptLimits.SignIn) -> AttemptPlace {
        let account = signIn.account
        if let device = signIn.knownDevice {
            return AttemptPlace(account: .init("\(account)/device/\(device)"), client: nil)
        }
        guard let client = signIn.client else {
            return AttemptPlace(account: account, client: nil)
        }
        let origin = AttemptLimits.Origin(account: account, client: client)
        return AttemptPlace(
            account: addresses[origin] == nil ? account : .init("\(account)/address/\(client)"),
            client: client)
    }

    fileprivate mutating func remember(_ signIn: AttemptLimits.SignIn, at now: Timestamp) {
        guard let client = signIn.client else { return }
        let origin = AttemptLimits.Origin(account: signIn.account, client: client)
        if addresses[origin] == nil, addresses.count >= AttemptLimits.entriesMax {
            let dates = addresses.values.sorted()
            let middle = dates[dates.count / 4]
            addresses = addresses.filter { $0.value > middle }
        }
        addresses[origin] = now
    }

    fileprivate mutating func begin(_ place: AttemptPlace, at now: Timestamp) -> Int64? {
        accounts.makeRoom(at: now)
        clients.makeRoom(at: now)
        let waits = [
            accounts.entries[place.account]?.wait(accounts.rule, at: now),
            place.client.flatMap { clients.entries[$0]?.wait(clients.rule, at: now) },
        ].compactMap { $0 }
        if let longest = waits.max() { return longest }
        accounts.change(place.account, at: now) { [rule = accounts.rule] in
            _ = $0.begin(rule, at: now)
        }
        if let client = place.client {
            clients.change(client, at: now) { [rule = clients.rule] in
                _ = $0.begin(rule, at: now)
            }
        }
        return nil
    }

    /// `isRight` is nil if the password was not tried. A right password resets
    /// the counter of the account, device or address. It never resets the
    /// client's, because an attacker may have an account too.
    fileprivate mutating func end(_ place: AttemptPlace, isRight: Bool?, at now: Timestamp) {
        accounts.change(place.account, at: now) {
            $0.end(isRight: isRight ?? true, forgets: isRight == true, at: now)
        }
        guard let client = place.client else { return }
        clients.change(client, at: now) {
            $0.end(isRight: isRight ?? true, forgets: false, at: now)
        }
    }
}
