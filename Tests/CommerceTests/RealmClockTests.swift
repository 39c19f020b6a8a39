// SPDX-License-Identifier: Apache-2.0

import Commerce
import TestSupport
import Testing

@Suite(.unforgiven) struct ClockTests {
    private let wall = Timestamp(milliseconds: 1_000_000)

    @Test func `a clock that runs stops at the end of the certificates' years`() {
        let wall = Timestamp(milliseconds: 1_800_000_000_000)
        for rate: Int64 in [1, 60] {
            let clock = RealmClock(standsAt: nil, aheadMilliseconds: 0, rate: rate, since: wall)
                .moved(to: RealmClock.latest, wall: wall)
            let later = wall.adding(seconds: 3600)
            #expect(clock.now(wall: wall) == RealmClock.latest)
            #expect(clock.now(wall: later) == RealmClock.latest)
            #expect(
                clock.standing(at: clock.now(wall: later)).now(wall: later) == RealmClock.latest)
        }
    }

    @Test func `a running clock keeps its distance from the wall`() {
        #expect(RealmClock.running(offsetMilliseconds: 0).now(wall: wall) == wall)
        let ahead = RealmClock.running(offsetMilliseconds: 90_000)
        #expect(ahead.now(wall: wall).milliseconds == 1_090_000)
        #expect(ahead.now(wall: wall.adding(seconds: 1)).milliseconds == 1_091_000)
        let behind = RealmClock.running(offsetMilliseconds: -1_000_001)
        #expect(behind.now(wall: wall).milliseconds == -1)
    }

    @Test func `a standing clock does not look at the wall`() {
        let noon = Timestamp(milliseconds: 43_200_000)
        #expect(RealmClock.standing(at: noon).now(wall: wall) == noon)
        #expect(RealmClock.standing(at: noon).now(wall: wall.adding(seconds: 9)) == noon)
        #expect(WallClock.standing(at: noon).now == noon)
    }

    // MARK: Speed

    @Test func `a faster clock gains so many times the wall from its change on`() {
        let clock = RealmClock.running(offsetMilliseconds: 500).running(
            at: ClockPace(speed: 60), wall: wall)

        #expect(clock.now(wall: wall).milliseconds == 1_000_500)
        #expect(clock.now(wall: wall.adding(milliseconds: 1)).milliseconds == 1_000_560)
        #expect(clock.now(wall: wall.adding(seconds: 1)).milliseconds == 1_060_500)
    }

    @Test func `a change of speed goes on from where the clock was`() {
        let fast = RealmClock.running(offsetMilliseconds: 0).running(
            at: ClockPace(speed: 24), wall: wall)
        let later = wall.adding(seconds: 3600)
        let real = fast.running(at: ClockPace(speed: 1), wall: later)

        #expect(real.now(wall: later) == fast.now(wall: later))
        #expect(real.now(wall: later) == wall.adding(seconds: 24 * 3600))
        #expect(real.now(wall: later.adding(seconds: 1)) == wall.adding(seconds: 86_401))
    }

    @Test func `a clock that stands keeps its speed for when it runs`() {
        let noon = Timestamp(milliseconds: 43_200_000)
        let standing = RealmClock.standing(at: noon).running(at: ClockPace(speed: 10), wall: wall)
        #expect(standing.now(wall: wall.adding(seconds: 99)) == noon)
        #expect(
            standing.moved(to: standing.now(wall: wall).adding(milliseconds: 5), wall: wall).now(
                wall: wall
            ).milliseconds
                == 43_200_005)

        let released = standing.running(aheadMilliseconds: -1000, wall: wall)

        #expect(released.now(wall: wall).milliseconds == 999_000)
        #expect(released.now(wall: wall.adding(seconds: 1)).milliseconds == 1_009_000)
    }

    @Test func `a jump of a faster clock is as long as was asked`() {
        let clock = RealmClock.running(offsetMilliseconds: 0).running(
            at: ClockPace(speed: 60), wall: wall)
        let later = wall.adding(seconds: 1)

        let jumped = clock.moved(to: clock.now(wall: later).adding(milliseconds: 7), wall: later)

        #expect(jumped.now(wall: later) == clock.now(wall: later).adding(milliseconds: 7))
        #expect(
            jumped.now(wall: later.adding(milliseconds: 1))
                == clock.now(wall: later).adding(milliseconds: 67))
    }

    @Test func `a wall that is set back takes no clock back before its change`() {
        let clock = RealmClock.running(offsetMilliseconds: 0).running(
            at: ClockPace(speed: 86_400), wall: wall)

        #expect(clock.now(wall: wall.adding(milliseconds: -10)) == wall.adding(milliseconds: -10))
    }

    @Test func `a faster clock stands when it is at the end of what certificates cover`() {
        let clock = RealmClock.running(offsetMilliseconds: 0)
            .running(at: ClockPace(speed: RealmClock.rates.upperBound), wall: wall)

        for seconds: Int64 in [3600, 1_000_000_000, 9_000_000_000_000] {
            #expect(clock.now(wall: wall.adding(seconds: seconds)) >= RealmClock.latest)
        }
        #expect(clock.now(wall: wall.adding(seconds: 3600)) == RealmClock.latest)
    }

    @Test(arguments: Seeds.all)
    func `no clock goes back, whatever was changed`(seed: UInt64) {
        var generator = SeededGenerator(seed)
        var wall = wall
        var clock = RealmClock.running(offsetMilliseconds: 0)
        for _ in 0..<500 {
            let before = clock.now(wall: wall)
            switch generator.integer(in: 0...2) {
            case 0:
                clock = clock.running(
                    at: ClockPace(speed: generator.integer(in: RealmClock.rates)), wall: wall)
            case 1:
                let step: Int64 = generator.integer(in: 0...86_400_000)
                clock = clock.moved(to: before.adding(milliseconds: step), wall: wall)
            default: wall = wall.adding(milliseconds: generator.integer(in: 0...60_000))
            }
            guard clock.now(wall: wall) >= before else {
                Issue.record("\(clock) at \(wall) is before \(before)")
                return
            }
        }
    }

    @Test(
        arguments: [
            (1, 0, 5, 5), (1, 5, 5, 0), (1, 9, 5, 0), (60, 0, 60_000, 1000), (60, 0, 61, 2),
            (86_400, 0, 1, 1),
        ] as [(Int64, Int64, Int64, Int64)])
    func `the wall's time until a date is the clock's over its speed, rounded up`(
        rate: Int64, now: Int64, due: Int64, left: Int64
    ) {
        let clock = RealmClock.running(offsetMilliseconds: 0).running(
            at: ClockPace(speed: rate), wall: wall)
        #expect(
            clock.wallMilliseconds(
                from: Timestamp(milliseconds: now), to: Timestamp(milliseconds: due)) == left)
    }

    @Test func `every rate of a file is a speed that a clock may have`() {
        for rate in TimeRate.allCases { #expect(RealmClock.rates.contains(rate.speed)) }
        #expect(TimeRate.real.speed == 1)
        #expect(86_400 / TimeRate.minuteIsDay.speed == 60)
        for rate in TimeRate.allCases where rate.tempo != nil { #expect(rate.speed == 1) }
        #expect(TimeRate.allCases.count { $0.tempo?.makesPeriodsAlike == true } == 6)
    }

    @Test func `a clock keeps its tempo through every move, until it has another rate`() {
        let pace = ClockPace(tempo: .monthIsFiveMinutes)
        let clock = RealmClock.running(offsetMilliseconds: 0).running(at: pace, wall: wall)
        let moved = [
            clock.standing(at: wall), clock.running(aheadMilliseconds: 5, wall: wall),
            clock.moved(to: wall, wall: wall), clock.standing(at: wall).moved(to: wall, wall: wall),
            clock.standing(at: wall).resumed(wall: wall),
        ]

        #expect(moved.allSatisfy { $0.tempo == .monthIsFiveMinutes && $0.rate == 1 })
        #expect(clock.running(at: ClockPace(speed: 2), wall: wall).tempo == nil)
        #expect(clock.running(aheadMilliseconds: 0, wall: wall).tempo == nil)
    }
}
