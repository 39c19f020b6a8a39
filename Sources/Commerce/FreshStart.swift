// SPDX-License-Identifier: Apache-2.0

/// Where a store goes on that was restored, or whose databases were set
/// back. Several stores may go on from one copy, at once or in turn, and know
/// nothing of each other; so a fixed step is not enough. The first number
/// lies
///
/// - above every number that the copy knows,
/// - above a floor that rises with the wall clock, faster than any thousandth
///   of a store's customers can buy for long,
/// - and so far above both as chance says, within a part of all that is left.
///
/// Where the clock was set back, chance keeps two stores apart; where chance
/// repeats itself (a cloned machine), the clock does. Counts below
/// ``firstRestored`` are left to stores that were never restored, so that
/// these may sell on beside a copy of theirs.
public struct FreshStart: Hashable, Sendable {
    /// The least count that a restored store gives out.
    public static let firstRestored: Int64 = 100_000_000_000
    /// How fast the floor rises: counts a second, each good for one number of
    /// every bucket. It stays below ``NumberLayout/countMax`` until 2137.
    public static let floorPerSecond: Int64 = 256
    /// The floor begins to rise at 2026-01-01T00:00:00Z.
    private static let floorBegins: Int64 = 1_767_225_600
    /// Chance spreads the starts over this part of what is left: a start from
    /// a copy of a restored store takes half of it, so that thousands in a
    /// row leave enough.
    private static let spreadPart: Int64 = 512
    /// Bits of chance in a generation. Seconds before them stay below 2^32,
    /// so that JSON carries the whole.
    private static let generationBits: Int64 = 21

    private let seconds: Int64
    private let chance: UInt64

    public init(wall: Timestamp, chance: UInt64) {
        seconds = min(max(wall.milliseconds / 1000, 0), Int64(UInt32.max))
        self.chance = chance
    }

    /// Draws its chance.
    public init(wall: Timestamp, randomness: Randomness) {
        self.init(
            wall: wall,
            chance: randomness.bytes(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// The first count, where the copy knows of none from `next` on. Nil
    /// where no counts are left.
    public func firstCount(from next: Int64) -> Int64? {
        let risen = max(0, seconds - Self.floorBegins) * Self.floorPerSecond
        let floor = max(next, Self.firstRestored + risen)
        let left = NumberLayout.countMax - floor
        guard left > 0 else { return nil }
        let spread = UInt64(max(1, left / Self.spreadPart))
        return floor + Int64(chance % spread)
    }

    /// A generation above `last` that no other store goes on with: a realm's
    /// devices know by it that they must read anew.
    public func generation(after last: Int64) -> Int64 {
        let lot = Int64(chance >> 32) & (1 << Self.generationBits - 1)
        let drawn = seconds << Self.generationBits | lot
        return drawn > last ? drawn : last + 1 + lot
    }
}
