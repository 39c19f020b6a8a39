// SPDX-License-Identifier: Apache-2.0

/// The machine's time, handed in: tokens, sessions and time-outs are judged
/// by it, never what is sold. `Live` has the one that runs.
public struct WallClock: Sendable {
    private let read: @Sendable () -> Timestamp

    public init(_ read: @escaping @Sendable () -> Timestamp) {
        self.read = read
    }

    public var now: Timestamp { read() }

    /// A clock that always says the same.
    public static func standing(at instant: Timestamp) -> WallClock {
        WallClock { instant }
    }
}

/// A realm's commercial time, as its one row holds it: it dates what is
/// sold, renewed, expired, signed and owed.
public enum RealmClock: Hashable, Sendable {
    /// Runs with the wall, `offsetMilliseconds` ahead of it (behind when negative).
    case running(offsetMilliseconds: Int64)
    /// Stands still at an instant until it is moved.
    case standing(at: Timestamp)

    /// What this clock says when the wall says `wall`.
    public func now(wall: Timestamp) -> Timestamp {
        switch self {
        case .running(let offset): wall.adding(milliseconds: offset)
        case .standing(let instant): instant
        }
    }
}
