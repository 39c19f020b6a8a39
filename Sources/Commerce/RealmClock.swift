// SPDX-License-Identifier: Apache-2.0

/// A realm's commercial time, as its one row holds it: it dates what is
/// sold, renewed, expired, signed and owed. It stands, or runs at a whole
/// number of times the wall's speed. What a change leaves alone goes on from
/// the instant that it was at.
public struct RealmClock: Hashable, Sendable {
    /// Where a clock that runs faster than the wall comes to stand: the end of
    /// the years for which a store's certificates are valid.
    public static let latest = Timestamp(milliseconds: 4_102_358_400_000)
    /// The speeds that there are; the highest is that of a test session whose
    /// months last two seconds.
    public static let rates: ClosedRange<Int64> = 1...1_296_000

    /// Set while it stands.
    public let standsAt: Timestamp?
    /// How far ahead of the wall it is at ``since``; behind when negative.
    public let aheadMilliseconds: Int64
    /// How many times as fast as the wall it runs, or will when it is let run.
    public let rate: Int64
    /// The wall's instant from which on ``rate`` counts.
    public let since: Timestamp

    /// A clock as it is stored.
    public init(
        standsAt: Timestamp?, aheadMilliseconds: Int64, rate: Int64 = 1,
        since: Timestamp = Timestamp(milliseconds: 0)
    ) {
        self.standsAt = standsAt
        self.aheadMilliseconds = aheadMilliseconds
        self.rate = min(max(rate, Self.rates.lowerBound), Self.rates.upperBound)
        self.since = since
    }

    /// Runs with the wall, `offsetMilliseconds` ahead of it (behind when negative).
    public static func running(offsetMilliseconds: Int64) -> RealmClock {
        RealmClock(standsAt: nil, aheadMilliseconds: offsetMilliseconds)
    }

    /// Stands still at an instant until it is moved.
    public static func standing(at instant: Timestamp) -> RealmClock {
        RealmClock(standsAt: instant, aheadMilliseconds: 0)
    }

    /// What this clock says when the wall says `wall`. Never less for a later wall.
    public func now(wall: Timestamp) -> Timestamp {
        if let standsAt { return standsAt }
        let offset = wall.adding(milliseconds: aheadMilliseconds)
        let run = wall.milliseconds(since: since)
        guard rate > 1, run > 0 else { return offset }
        let (gained, overflows) = (rate - 1).multipliedReportingOverflow(by: run)
        let left = Self.latest.milliseconds(since: offset)
        return overflows || gained > left
            ? max(Self.latest, offset) : offset.adding(milliseconds: gained)
    }

    /// The machine's milliseconds until this clock says `later`, at least 0;
    /// for one that stands, as though it ran.
    public func wallMilliseconds(from now: Timestamp, to later: Timestamp) -> Int64 {
        let left = max(0, later.milliseconds(since: now))
        return left / rate + (left % rate == 0 ? 0 : 1)
    }
}

// MARK: Changes

extension RealmClock {
    /// At another speed, from what it says at `wall` on; one that stands goes
    /// on standing, and runs at that speed when it is let run.
    public func running(atRate rate: Int64, wall: Timestamp) -> RealmClock {
        RealmClock(
            standsAt: standsAt, aheadMilliseconds: now(wall: wall).milliseconds(since: wall),
            rate: rate, since: wall)
    }

    /// Standing at an instant; its speed is kept for when it runs again.
    public func standing(at instant: Timestamp) -> RealmClock {
        RealmClock(
            standsAt: instant, aheadMilliseconds: aheadMilliseconds, rate: rate, since: since)
    }

    /// Running at its speed from `wall`, so far ahead of the wall then.
    public func running(aheadMilliseconds: Int64, wall: Timestamp) -> RealmClock {
        RealmClock(
            standsAt: nil, aheadMilliseconds: aheadMilliseconds, rate: rate, since: wall)
    }

    /// So much later, standing or running as it did. The step is of a size
    /// that was checked.
    public func advanced(milliseconds step: Int64, wall: Timestamp) -> RealmClock {
        guard let standsAt else {
            let ahead = now(wall: wall).milliseconds(since: wall) + step
            return RealmClock(
                standsAt: nil, aheadMilliseconds: ahead, rate: rate, since: wall)
        }
        return standing(at: standsAt.adding(milliseconds: step))
    }
}
