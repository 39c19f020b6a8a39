// SPDX-License-Identifier: Apache-2.0

/// Where the numbers of a store continue after it was restored, or after its
/// databases were set back. Several stores may continue from one copy, at once
/// or one after the other, without knowing of each other. A fixed step is
/// therefore not enough. The first number is
///
/// - above every number in the copy;
/// - above a floor that rises with the wall clock, faster than the customers of
///   any bucket can use numbers over a long time;
/// - above both by a random distance, within a part of the numbers that are
///   left.
///
/// If the clock was set back, randomness keeps two stores apart. If randomness
/// repeats itself (a cloned machine), the clock does. Counts below
/// ``firstRestored`` belong to stores that were never restored, so that these
/// can continue to sell beside a copy of themselves.
public struct FreshStart: Hashable, Sendable {
    /// The lowest count that a restored store uses.
    public static let firstRestored: Int64 = 100_000_000_000
    /// How fast the floor rises, in counts a second. Each count is good for one
    /// number of every bucket. The floor stays below ``NumberLayout/countMax``
    /// until 2137.
    public static let floorPerSecond: Int64 = 256
    /// The floor begins to rise at 2026-01-01T00:00:00Z, in seconds since 1970.
    private static let floorBegins: Int64 = 1_767_225_600
    /// The random distance is within this part of the numbers that are left. A
    /// start from a copy of a restored store uses half of it, so that enough is
    /// left after thousands of them.
    private static let spreadPart: Int64 = 512
    /// The number of random bits in a generation. The seconds before them stay
    /// below 2^32, so that JSON numbers can hold the whole.
    private static let generationBits: Int64 = 21

    private let seconds: Int64
    private let chance: UInt64

    public init(wall: Timestamp, chance: UInt64) {
        seconds = min(max(wall.milliseconds / 1000, 0), Int64(UInt32.max))
        self.chance = chance
    }

    /// Draws the random part from `randomness`.
    public init(wall: Timestamp, randomness: Randomness) {
        self.init(
            wall: wall,
            chance: randomness.bytes(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// Returns the first count, for a copy that knows of no count from `next`
    /// on. Nil if no counts are left.
    public func firstCount(from next: Int64) -> Int64? {
        let risen = max(0, seconds - Self.floorBegins) * Self.floorPerSecond
        let floor = max(next, Self.firstRestored + risen)
        let left = NumberLayout.countMax - floor
        guard left > 0 else { return nil }
        let spread = UInt64(max(1, left / Self.spreadPart))
        return floor + Int64(chance % spread)
    }

    /// Returns a generation above `last` that no other store continues with. A
    /// realm's devices recognise by it that they must read everything again.
    public func generation(after last: Int64) -> Int64 {
        let lot = Int64(chance >> 32) & (1 << Self.generationBits - 1)
        let drawn = seconds << Self.generationBits | lot
        return drawn > last ? drawn : last + 1 + lot
    }
}
