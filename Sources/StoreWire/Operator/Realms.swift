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

/// A realm's commercial time.
public struct ClockDescription: Hashable, Sendable, Codable {
    /// What the clock says.
    public var now: Timestamp
    public var isStanding: Bool
    /// How far a running clock is ahead of the machine's; missing while it stands.
    public var offsetMilliseconds: Int64?

    public init(now: Timestamp, isStanding: Bool, offsetMilliseconds: Int64?) {
        self.now = now
        self.isStanding = isStanding
        self.offsetMilliseconds = offsetMilliseconds
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

    public init(
        standAt: Timestamp? = nil, runOffsetMilliseconds: Int64? = nil,
        advanceMilliseconds: Int64? = nil
    ) {
        self.standAt = standAt
        self.runOffsetMilliseconds = runOffsetMilliseconds
        self.advanceMilliseconds = advanceMilliseconds
    }
}
