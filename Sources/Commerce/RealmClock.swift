// SPDX-License-Identifier: Apache-2.0

/// A realm's commercial time, as stored in its row. It dates what is sold,
/// renewed, expired, signed and owed. It stands still, or runs at a whole
/// multiple of the wall clock's speed. A change of one property leaves the
/// current instant as it is.
public struct RealmClock: Hashable, Sendable {
    /// A clock that runs stops here: at the end of the years for which a store's
    /// certificates are valid.
    public static let latest = Timestamp(milliseconds: 4_102_358_400_000)
    /// The year 2000, for the same reason.
    public static let earliest = Timestamp(milliseconds: 946_684_800_000)
    /// The allowed speeds. At the highest one, which test sessions use, a month
    /// of the calendar lasts two seconds.
    public static let rates: ClosedRange<Int64> = 1...1_296_000

    /// The instant at which it stands. Nil while it runs.
    public let standsAt: Timestamp?
    /// How far it is ahead of the wall clock at ``since``. Negative if it is
    /// behind.
    public let aheadMilliseconds: Int64
    /// Its speed as a multiple of the wall clock's. A standing clock keeps it
    /// for when it runs again.
    public let rate: Int64
    /// The wall clock's instant from which ``rate`` applies.
    public let since: Timestamp
    /// How long the periods of subscriptions last. Nil in the calendar.
    public let tempo: Tempo?

    /// Makes a clock from its stored values.
    public init(
        standsAt: Timestamp?, aheadMilliseconds: Int64, rate: Int64 = 1,
        since: Timestamp = Timestamp(milliseconds: 0), tempo: Tempo? = nil
    ) {
        self.standsAt = standsAt
        self.aheadMilliseconds = aheadMilliseconds
        self.rate = min(max(rate, Self.rates.lowerBound), Self.rates.upperBound)
        self.since = since
        self.tempo = tempo
    }

    /// A clock that runs with the wall clock, `offsetMilliseconds` ahead of it
    /// (behind if negative).
    public static func running(offsetMilliseconds: Int64) -> RealmClock {
        RealmClock(standsAt: nil, aheadMilliseconds: offsetMilliseconds)
    }

    /// A clock that stands at an instant until it is changed.
    public static func standing(at instant: Timestamp) -> RealmClock {
        RealmClock(standsAt: instant, aheadMilliseconds: 0)
    }

    /// Returns the commercial time at the wall clock's instant `wall`. It never
    /// decreases for a later `wall`.
    public func now(wall: Timestamp) -> Timestamp {
        if let standsAt { return standsAt }
        let offset = wall.adding(milliseconds: aheadMilliseconds)
        let run = wall.milliseconds(since: since)
        guard rate > 1, run > 0 else { return min(offset, Self.latest) }
        let (gained, overflows) = (rate - 1).multipliedReportingOverflow(by: run)
        let left = Self.latest.milliseconds(since: offset)
        return overflows || gained > left ? Self.latest : offset.adding(milliseconds: gained)
    }

    /// Returns how many milliseconds of wall time pass until this clock reaches
    /// `later`, at least 0. A standing clock is treated as if it ran.
    public func wallMilliseconds(from now: Timestamp, to later: Timestamp) -> Int64 {
        let left = max(0, later.milliseconds(since: now))
        return left / rate + (left % rate == 0 ? 0 : 1)
    }
}

// MARK: Changes

extension RealmClock {
    /// Returns the clock with another speed from `wall` on, and with other lengths of
    /// periods. A standing clock remains standing, and uses the speed when it runs
    /// again.
    public func running(at pace: ClockPace, wall: Timestamp) -> RealmClock {
        RealmClock(
            standsAt: standsAt, aheadMilliseconds: now(wall: wall).milliseconds(since: wall),
            rate: pace.speed, since: wall, tempo: pace.tempo)
    }

    /// Returns the clock standing at an instant. It keeps its speed for when it
    /// runs again.
    public func standing(at instant: Timestamp) -> RealmClock {
        RealmClock(
            standsAt: instant, aheadMilliseconds: aheadMilliseconds, rate: rate, since: since,
            tempo: tempo)
    }

    /// Returns the clock running at its speed from `wall` on, when it is
    /// `aheadMilliseconds` ahead. With 0 it follows the wall clock, at its speed, and
    /// periods last their time in the calendar.
    public func running(aheadMilliseconds: Int64, wall: Timestamp) -> RealmClock {
        RealmClock(
            standsAt: nil, aheadMilliseconds: aheadMilliseconds,
            rate: aheadMilliseconds == 0 ? 1 : rate, since: wall,
            tempo: aheadMilliseconds == 0 ? nil : tempo)
    }

    /// Returns the clock moved to an instant. It stands or runs as before.
    public func moved(to instant: Timestamp, wall: Timestamp) -> RealmClock {
        guard standsAt == nil else { return standing(at: instant) }
        return RealmClock(
            standsAt: nil, aheadMilliseconds: instant.milliseconds(since: wall), rate: rate,
            since: wall, tempo: tempo)
    }

    /// Returns the clock running on at its speed from its present instant.
    public func resumed(wall: Timestamp) -> RealmClock {
        RealmClock(
            standsAt: nil, aheadMilliseconds: now(wall: wall).milliseconds(since: wall),
            rate: rate, since: wall, tempo: tempo)
    }
}
