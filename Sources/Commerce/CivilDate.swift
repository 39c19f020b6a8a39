// SPDX-License-Identifier: Apache-2.0

/// A day and a time of day in UTC, in the proleptic Gregorian calendar.
public struct CivilDate: Hashable, Sendable {
    public let year: Int64
    public let month: Int64
    public let day: Int64
    public let secondOfDay: Int64
    public let millisecond: Int64

    public init(_ instant: Timestamp) {
        let millisecondsInDay: Int64 = 86_400_000
        let days = Self.floorDivide(instant.milliseconds, millisecondsInDay)
        let remainder = instant.milliseconds % millisecondsInDay
        let rest = remainder < 0 ? remainder + millisecondsInDay : remainder
        (year, month, day) = Self.civil(fromDays: days)
        secondOfDay = rest / 1000
        millisecond = rest % 1000
    }

    /// The number of days from 1970-01-01 to a date, by Howard Hinnant's
    /// algorithm.
    static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = floorDivide(shifted, 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func civil(fromDays days: Int64) -> (Int64, Int64, Int64) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthIndex = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthIndex + 2) / 5 + 1
        let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        value / divisor - (value % divisor < 0 ? 1 : 0)
    }
}

extension Timestamp: CustomStringConvertible {
    /// ISO 8601 in UTC: `2026-11-21T04:27:06Z`, with `.mmm` if there is a
    /// fraction of a second.
    public var description: String {
        let date = CivilDate(self)
        let fraction = date.millisecond == 0 ? "" : "." + padded(date.millisecond, 3)
        let time = [date.secondOfDay / 3600, date.secondOfDay / 60 % 60, date.secondOfDay % 60]
            .map { padded($0, 2) }.joined(separator: ":")
        let day = "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
        return "\(day)T\(time)\(fraction)Z"
    }

    /// Parses text such as `2026-11-21T04:27:06Z` or
    /// `2026-11-21T05:27:06.123+01:00`. Nil if the text is not an instant.
    public init?(iso8601 text: String) {
        guard let parts = ISO8601Parts(text) else { return nil }
        let days = CivilDate.days(year: parts.year, month: parts.month, day: parts.day)
        // A day that the month does not have, such as 30 February, is converted
        // to another day.
        let date = CivilDate(Timestamp(milliseconds: days * 86_400_000))
        guard date.month == parts.month, date.day == parts.day else { return nil }
        let seconds = days * 86_400 + parts.secondOfDay - parts.offsetSeconds
        self.init(milliseconds: seconds * 1000 + parts.millisecond)
    }
}

private func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

private struct ISO8601Parts {
    var year: Int64 = 0
    var month: Int64 = 0
    var day: Int64 = 0
    var secondOfDay: Int64 = 0
    var millisecond: Int64 = 0
    var offsetSeconds: Int64 = 0

    init?(_ text: String) {
        var rest = Substring(text)
        guard let year = Self.number(&rest, 4), Self.take(&rest, "-"),
            let month = Self.number(&rest, 2), (1...12).contains(month), Self.take(&rest, "-"),
            let day = Self.number(&rest, 2), (1...31).contains(day), Self.take(&rest, "T"),
            let hour = Self.number(&rest, 2), hour < 24, Self.take(&rest, ":"),
            let minute = Self.number(&rest, 2), minute < 60, Self.take(&rest, ":"),
            let second = Self.number(&rest, 2), second < 60,
            let millisecond = Self.fraction(&rest), let offset = Self.offset(&rest), rest.isEmpty
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        secondOfDay = hour * 3600 + minute * 60 + second
        self.millisecond = millisecond
        offsetSeconds = offset
    }

    private static func number(_ text: inout Substring, _ width: Int) -> Int64? {
        let digits = text.prefix(width)
        guard digits.utf8.count == width, digits.utf8.allSatisfy({ (48...57).contains($0) })
        else { return nil }
        text = text.dropFirst(width)
        return Int64(digits)
    }

    private static func take(_ text: inout Substring, _ character: Character) -> Bool {
        guard text.first == character else { return false }
        text = text.dropFirst()
        return true
    }

    private static func fraction(_ text: inout Substring) -> Int64? {
        guard take(&text, ".") else { return 0 }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, digits.count <= 9 else { return nil }
        text = text.dropFirst(digits.count)
        return Int64((digits + "00").prefix(3))
    }

    private static func offset(_ text: inout Substring) -> Int64? {
        if take(&text, "Z") { return 0 }
        let sign: Int64
        if take(&text, "+") { sign = 1 } else if take(&text, "-") { sign = -1 } else { return nil }
        guard let hours = number(&text, 2), hours < 24 else { return nil }
        _ = take(&text, ":")
        guard let minutes = number(&text, 2), minutes < 60 else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }
}
