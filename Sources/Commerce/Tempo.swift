// SPDX-License-Identifier: Apache-2.0

/// How long the periods of subscriptions last on a clock of a sandbox that
/// shortens them, instead of their time in the calendar. The clock itself keeps
/// its speed. Grace periods and the time for which a renewal is charged again are
/// shortened likewise.
///
/// The raw values are Apple's names of the rates. The lengths of weeks, months and
/// years, the grace periods of 6 and 16 days and the 60 days of repeated charges
/// are those of Apple's tables. Everything else is in proportion to them.
public enum Tempo: String, Hashable, Sendable, CaseIterable, Codable {
    case monthIsHour = "monthlyRenewalEveryHour"
    case monthIsThirtyMinutes = "monthlyRenewalEveryThirtyMinutes"
    case monthIsFifteenMinutes = "monthlyRenewalEveryFifteenMinutes"
    case monthIsFiveMinutes = "monthlyRenewalEveryFiveMinutes"
    /// Only Apple's sandbox has it. It is not a rate of catalogue files.
    case monthIsThreeMinutes = "monthlyRenewalEveryThreeMinutes"
    case monthIsThirtySeconds = "monthlyRenewalEveryThirtySeconds"
    case everyFifteenMinutes = "oneRenewalEveryFifteenMinutes"
    case everyFiveMinutes = "oneRenewalEveryFiveMinutes"
    case everyMinute = "oneRenewalEveryMinute"
    case everyThirtySeconds = "oneRenewalEveryThirtySeconds"
    case everyTenSeconds = "oneRenewalEveryTenSeconds"
    case everyTwoSeconds = "oneRenewalEveryTwoSeconds"

    /// Whether every period lasts the same time.
    public var makesPeriodsAlike: Bool {
        switch self {
        case .everyFifteenMinutes, .everyFiveMinutes, .everyMinute, .everyThirtySeconds,
            .everyTenSeconds, .everyTwoSeconds:
            true
        default: false
        }
    }

    /// How long a month lasts.
    public var monthSeconds: Int64 {
        switch self {
        case .monthIsHour: 3600
        case .monthIsThirtyMinutes: 1800
        case .monthIsFifteenMinutes, .everyFifteenMinutes: 900
        case .monthIsFiveMinutes, .everyFiveMinutes: 300
        case .monthIsThreeMinutes: 180
        case .everyMinute: 60
        case .monthIsThirtySeconds, .everyThirtySeconds: 30
        case .everyTenSeconds: 10
        case .everyTwoSeconds: 2
        }
    }

    /// How long a week lasts. It is more than its share of a month.
    public var weekSeconds: Int64 {
        switch self {
        case .monthIsHour: 900
        case .monthIsThirtyMinutes: 600
        case .monthIsFifteenMinutes: 300
        case .monthIsFiveMinutes, .monthIsThreeMinutes: 180
        case .monthIsThirtySeconds: 10
        default: monthSeconds
        }
    }

    /// Returns how long a period lasts.
    public func milliseconds(of period: Period) -> Int64 {
        if makesPeriodsAlike { return monthSeconds * 1000 }
        let count = Int64(period.count)
        return switch period.unit {
        case .day: weekSeconds * 1000 * count / 7
        case .week: weekSeconds * 1000 * count
        case .month: monthSeconds * 1000 * count
        case .year: monthSeconds * 1000 * 12 * count
        }
    }

    /// Returns how long a grace period of some days lasts after a period of this
    /// length, in whole seconds.
    public func graceMilliseconds(days: Int, after length: Period) -> Int64 {
        if makesPeriodsAlike { return monthSeconds * 1000 }
        // Apple's 16 days are half a month.
        let (whole, part) = length.unit == .week ? (weekSeconds, 7) : (monthSeconds, 32)
        let milliseconds = whole * 1000 * Int64(days) / Int64(part)
        return (milliseconds + 500) / 1000 * 1000
    }

    /// Returns how long after the end of the last paid period the attempt of a day
    /// comes, of the days for which a renewal is charged again.
    public func retryMilliseconds(day: Int64) -> Int64 {
        2 * monthSeconds * 1000 * day / RenewalRules.retryDaysMax
    }

    /// The tempo in words.
    public var words: String {
        let time = Self.words(monthSeconds)
        return makesPeriodsAlike
            ? "every period lasts \(time)" : "a month lasts \(time), other periods by Apple's table"
    }

    private static func words(_ seconds: Int64) -> String {
        switch seconds {
        case 3600: "1 hour"
        case 60: "1 minute"
        case let minutes where minutes % 60 == 0: "\(minutes / 60) minutes"
        default: "\(seconds) seconds"
        }
    }
}

extension Period {
    /// The end of this period from an instant on. `tempo`: nil in the calendar.
    public func end(
        from start: Timestamp, anchorDay: Int64? = nil, at tempo: Tempo?
    ) -> Timestamp {
        guard let tempo else { return start.adding(self, anchorDay: anchorDay) }
        return start.adding(milliseconds: tempo.milliseconds(of: self))
    }
}

/// A rate of a clock that has a name: a speed, and how long periods last.
public struct ClockPace: Hashable, Sendable {
    public let speed: Int64
    /// Nil if periods last their time in the calendar.
    public let tempo: Tempo?

    public init(speed: Int64 = 1, tempo: Tempo? = nil) {
        self.speed = speed
        self.tempo = tempo
    }

    public init(_ rate: TimeRate) { self.init(speed: rate.speed, tempo: rate.tempo) }

    /// Nil if no rate has this name.
    public init?(name: String) {
        if let rate = TimeRate.allCases.first(where: { $0.name == name }) {
            self.init(rate)
        } else if let tempo = Tempo(rawValue: name) {
            self.init(tempo: tempo)
        } else {
            return nil
        }
    }

    /// All names.
    public static let names: [String] =
        TimeRate.allCases.map(\.name) + [Tempo.monthIsThreeMinutes.rawValue]
}
