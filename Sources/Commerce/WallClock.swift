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
