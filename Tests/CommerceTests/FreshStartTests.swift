// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

/// Where stores go on that were restored or set back.
@Suite struct FreshStartTests {
    /// 2027-01-01T00:00:00Z.
    private static let wall = Timestamp(milliseconds: 1_798_761_600_000)

    private func start(_ seconds: Int64 = 0, chance: UInt64 = 0) -> FreshStart {
        FreshStart(wall: Self.wall.adding(seconds: seconds), chance: chance)
    }

    private func first(_ start: FreshStart, from next: Int64 = 0) -> Int64 {
        start.firstCount(from: next) ?? -1
    }

    @Test func `the floor rises with the wall clock, above what was never restored`() {
        #expect(first(start()) > FreshStart.firstRestored)
        #expect(first(start(1)) - first(start()) == FreshStart.floorPerSecond)
        #expect(first(FreshStart(wall: Timestamp(milliseconds: 0), chance: 0)) >= 100_000_000_000)
    }

    @Test func `what the copy knows lies below`() {
        let known: Int64 = 800_000_000_000

        #expect(first(start(), from: known) >= known)
        #expect(first(start(chance: .max), from: known) > known)
    }

    @Test func `chance alone keeps apart what the clock does not`() {
        var generator = SplitMix64(state: 5)
        let starts = (0..<1000).map { _ in first(start(chance: generator.next())) }.sorted()

        // A thousand restores in one second: a hundred numbers for each bucket at least.
        #expect(zip(starts, starts.dropFirst()).allSatisfy { $1 - $0 > 100 })
    }

    @Test func `a clock far off, and a copy of a copy thousands of times, leave enough`() {
        let walls: [Int64] = [.min, -1, 0, 4_102_358_400_000, 9_000_000_000_000_000, .max]
        for wall in walls {
            for chance in [0, UInt64.max] {
                let start = FreshStart(wall: Timestamp(milliseconds: wall), chance: chance)
                let count = first(start)
                #expect((0..<NumberLayout.countMax - 1_000_000_000).contains(count), "\(wall)")
            }
        }
        var (generator, next): (_, Int64) = (SplitMix64(state: 9), 0)
        for _ in 0..<10_000 {
            let count = first(start(chance: generator.next()), from: next)
            #expect(count >= next)
            next = count + 1000
        }
        #expect(next < NumberLayout.countMax - 1_000_000)
    }

    @Test func `without counts left there is no fresh start`() {
        #expect(start().firstCount(from: NumberLayout.countMax) == nil)
        #expect(start().firstCount(from: NumberLayout.countMax - 1) == NumberLayout.countMax - 1)
    }

    @Test func `generations grow, differ by clock or chance, and JSON carries them`() {
        let latest = FreshStart(wall: Timestamp(milliseconds: .max), chance: .max)
        let one = start(chance: 1 << 32).generation(after: 1)

        #expect(start(chance: 2 << 32).generation(after: 1) != one)
        #expect(start(1, chance: 1 << 32).generation(after: 1) > one)
        #expect(start(-1_000_000, chance: 3 << 32).generation(after: one) == one + 4)
        #expect(latest.generation(after: 1) < 1 << 53)
    }
}
