// SPDX-License-Identifier: Apache-2.0

/// The machine's time. It judges tokens, sessions and time-outs, and never what
/// is sold. `Live` has the running one.
public struct WallClock: Sendable {
    private let read: @Sendable () -> Timestamp

    public init(_ read: @escaping @Sendable () -> Timestamp) {
        self.read = read
    }

    public var now: Timestamp { read() }

    /// A clock that always returns the same instant.
    public static func standing(at instant: Timestamp) -> WallClock {
        WallClock { instant }
    }
}
