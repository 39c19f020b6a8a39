// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// Requests a snapshot of a sandbox.
public struct SaveSnapshotRequest: Hashable, Sendable, Codable {
    /// 1 to 40 of `a`–`z`, `0`–`9` and `-`.
    public var name: String

    public init(name: String) { self.name = name }
}

/// The state of a sandbox that was saved under a name.
public struct SnapshotSummary: Hashable, Sendable, Codable {
    public var name: String
    /// Wall time.
    public var savedDate: Timestamp
    /// The commercial time that was saved.
    public var now: Timestamp
    public var rows: Int64
    public var bytes: Int64

    public init(name: String, savedDate: Timestamp, now: Timestamp, rows: Int64, bytes: Int64) {
        self.name = name
        self.savedDate = savedDate
        self.now = now
        self.rows = rows
        self.bytes = bytes
    }
}

/// A realm's snapshots, by name.
public struct SnapshotList: Hashable, Sendable, Codable {
    public var snapshots: [SnapshotSummary]

    public init(snapshots: [SnapshotSummary]) { self.snapshots = snapshots }
}

/// A realm that has become what a snapshot has.
public struct SnapshotLoaded: Hashable, Sendable, Codable {
    public var name: String
    /// The new generation, by which devices recognise that they must read
    /// everything again.
    public var generation: Int64
    /// The commercial time.
    public var now: Timestamp
    public var rows: Int64

    public init(name: String, generation: Int64, now: Timestamp, rows: Int64) {
        self.name = name
        self.generation = generation
        self.now = now
        self.rows = rows
    }
}

/// Requests a new sandbox with what a snapshot has.
public struct BranchRealmRequest: Hashable, Sendable, Codable {
    /// The snapshot of the realm that is branched.
    public var snapshot: String
    /// The new realm's name.
    public var name: String

    public init(snapshot: String, name: String) {
        self.snapshot = snapshot
        self.name = name
    }
}
