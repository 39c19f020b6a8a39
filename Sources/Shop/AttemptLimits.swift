// SPDX-License-Identifier: Apache-2.0

import Commerce
import Synchronization

/// How often accounts and clients were wrong in this process. A class, because
/// a store's realms and doors share it. It is bounded: where there is no more
/// room, the entries with the oldest mistakes are forgotten.
final class AttemptLimits: Sendable {
    /// Remembered at once, of each kind: a few megabytes.
    static let entriesMax = 20_000

    /// A name of what is limited, compared by bytes.
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
        /// When an account last signed in from an address.
        var addresses: [Origin: Timestamp] = [:]
    }

    /// One sign-in: to which account, and from where.
    struct SignIn: Hashable, Sendable {
        let account: Key
        /// The client's address; nil inside this process.
        let client: Key?
        /// The installation, where it has signed in to the account before.
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

    /// How many clients' keys are remembered.
    var keyCount: Int { state.withLock { $0.keys.entries.count } }

    /// Tries a password, unless account or client have to wait: then it
    /// throws `tooManyAttempts`, whether there is such an account or not.
    ///
    /// A device and an address that signed in to the account before have
    /// attempts of their own, so that a stranger's mistakes keep no customer out.
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
            // Nothing was learnt of the password.
            let ended = now()
            state.withLock { $0.end(place, isRight: nil, at: ended) }
            throw error
        }
    }

    /// Throws `tooManyAttempts` where a client brought too many wrong keys.
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
            remedy: "try again in \(seconds) s, with what is right")
        refusal.retryAfterSeconds = Int(seconds)
        return refusal
    }
}

/// Where the attempts of a sign-in are counted.
private struct AttemptPlace {
    /// The account's, or that of one of its devices or addresses.
    let account: AttemptLimits.Key
    /// Nil: no client's mistakes count.
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

    /// `isRight` is nil where it is not known. A right password makes good
    /// the mistakes of the place, never the client's: it may have an account of
    /// its own.
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
