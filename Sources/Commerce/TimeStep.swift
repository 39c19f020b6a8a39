// SPDX-License-Identifier: Apache-2.0

/// A step of time as people write it: `1mo`, `P1M`, `2w`, `90s`.
public enum TimeStep: Hashable, Sendable, CustomStringConvertible {
    /// In the calendar.
    case period(Period)
    case seconds(Int64)

    /// The longest step in seconds: a century.
    public static let secondsMax: Int64 = 100 * 366 * 86_400
    public static let rule =
        "a number and one of s, min, h, d, w, mo, y (`1mo`, `90s`), or an ISO 8601 period (`P1M`); "
        + "at most 999 days, weeks, months or years"

    /// Nil if the text is not a step.
    public init?(_ text: some StringProtocol) {
        if let period = Period(iso8601: text) {
            self = .period(period)
            return
        }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard digits.utf8.count <= 10, let count = Int64(digits), count >= 1 else { return nil }
        let seconds: (Int64) -> TimeStep? = { unit in
            count <= Self.secondsMax / unit ? .seconds(count * unit) : nil
        }
        let period: (Period.Unit) -> TimeStep? = { unit in
            count <= 999 ? .period(Period(Int(count), unit)) : nil
        }
        let step: TimeStep? =
            switch text.dropFirst(digits.count) {
            case "s": seconds(1)
            case "min": seconds(60)
            case "h": seconds(3600)
            case "d": period(.day)
            case "w": period(.week)
            case "mo": period(.month)
            case "y": period(.year)
            default: nil
            }
        guard let step else { return nil }
        self = step
    }

    public var description: String {
        switch self {
        case .period(let period): period.description
        case .seconds(let seconds): "\(seconds)s"
        }
    }

    /// Returns the instant one step after another one, or before it.
    public func applied(to instant: Timestamp, isBack: Bool = false) -> Timestamp {
        switch self {
        case .period(let period): instant.adding(period, times: isBack ? -1 : 1)
        case .seconds(let seconds): instant.adding(seconds: isBack ? -seconds : seconds)
        }
    }
}

extension Timestamp {
    public static let rule =
        "RFC 3339 with an offset, milliseconds since 1970, `now`, or `now` with a step such as "
        + "`now-13mo`"

    /// Reads an instant as people write it. Nil if the text is not one.
    public init?(text: String, now: Timestamp) {
        if let instant = Timestamp(iso8601: text) {
            self = instant
        } else if let milliseconds = Int64(text),
            milliseconds.magnitude <= Timestamp.magnitudeMax
        {
            self.init(milliseconds: milliseconds)
        } else if text == "now" {
            self = now
        } else {
            guard text.hasPrefix("now"), let sign = text.dropFirst(3).first, "+-".contains(sign),
                let step = TimeStep(text.dropFirst(4))
            else { return nil }
            self = step.applied(to: now, isBack: sign == "-")
        }
    }
}
