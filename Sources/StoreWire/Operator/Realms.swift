// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A realm as operators see it.
public struct RealmSummary: Hashable, Sendable, Codable {
    /// Made once and never given to another realm.
    public var id: String
    public var name: String
    /// `Sandbox` or `Production`.
    public var environment: String
    /// With which the realm repeats itself; missing in an ordinary one.
    public var seed: Int64?
    /// Wall time at which it was made.
    public var createdDate: Timestamp

    public init(
        id: String, name: String, environment: String, seed: Int64?, createdDate: Timestamp
    ) {
        self.id = id
        self.name = name
        self.environment = environment
        self.seed = seed
        self.createdDate = createdDate
    }
}

/// Asks for a realm of its own.
public struct CreateRealmRequest: Hashable, Sendable, Codable {
    /// 1 to 40 of `a`–`z`, `0`–`9` and `-`.
    public var name: String
    /// `Sandbox` (when missing) or `Production`.
    public var environment: String?
    /// Same seed, same commands: same ids. Sandboxes only.
    public var seed: Int64?

    public init(name: String, environment: String? = nil, seed: Int64? = nil) {
        self.name = name
        self.environment = environment
        self.seed = seed
    }
}

/// What a reset took out of a realm.
public struct RealmReset: Hashable, Sendable, Codable {
    /// The realm's name.
    public var realm: String
    /// By which devices know that they must read anew.
    public var generation: Int64
    public var purchases: Int64
    public var transactions: Int64
    /// Ended ones too.
    public var sessions: Int64

    public init(
        realm: String, generation: Int64, purchases: Int64, transactions: Int64, sessions: Int64
    ) {
        self.realm = realm
        self.generation = generation
        self.purchases = purchases
        self.transactions = transactions
        self.sessions = sessions
    }
}

/// A realm's commercial time.
public struct ClockDescription: Hashable, Sendable, Codable {
    /// What the clock says.
    public var now: Timestamp
    public var isStanding: Bool
    /// How far a running clock is ahead of the machine's now; missing while it stands.
    public var offsetMilliseconds: Int64?
    /// How many times as fast as the machine's it runs, or would if it did not
    /// stand; missing for 1.
    public var rate: Int64?

    public init(
        now: Timestamp, isStanding: Bool, offsetMilliseconds: Int64?, rate: Int64? = nil
    ) {
        self.now = now
        self.isStanding = isStanding
        self.offsetMilliseconds = offsetMilliseconds
        self.rate = rate
    }
}

/// Moves a sandbox's clock: exactly one of the fields is given.
public struct MoveClockRequest: Hashable, Sendable, Codable {
    /// Stand still at this instant.
    public var standAt: Timestamp?
    /// Run, this many milliseconds ahead of the machine's clock (behind when negative).
    public var runOffsetMilliseconds: Int64?
    /// Jump forward by this many milliseconds; go on running or standing.
    public var advanceMilliseconds: Int64?
    /// Run so many times as fast as the machine's clock, from the instant it
    /// is at; a clock that stands does so when it is let run.
    public var rate: Int64?

    public init(
        standAt: Timestamp? = nil, runOffsetMilliseconds: Int64? = nil,
        advanceMilliseconds: Int64? = nil, rate: Int64? = nil
    ) {
        self.standAt = standAt
        self.runOffsetMilliseconds = runOffsetMilliseconds
        self.advanceMilliseconds = advanceMilliseconds
        self.rate = rate
    }
}
