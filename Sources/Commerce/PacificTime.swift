// SPDX-License-Identifier: Apache-2.0

/// The time of the west coast of the United States, in which verifyReceipt repeats every
/// date. The rules are those of the law since 1987, also for other years.
public enum PacificTime {
    /// Seconds that this time is behind UTC: seven hours in summer and eight in winter.
    public static func secondsBehind(at instant: Timestamp) -> Int64 {
        isSummer(at: instant) ? 25_200 : 28_800
    }

    /// Summer begins and ends at two o'clock of the time before: 10:00 and 9:00 in UTC.
    private static func isSummer(at instant: Timestamp) -> Bool {
        let date = CivilDate(instant)
        let begin: (month: Int64, day: Int64) =
            date.year >= 2007
            ? (3, sunday(2, of: 3, in: date.year)) : (4, sunday(1, of: 4, in: date.year))
        let end: (month: Int64, day: Int64) =
            date.year >= 2007
            ? (11, sunday(1, of: 11, in: date.year))
            : (10, lastSunday(ofOctober: date.year))
        let now = (date.month, date.day, date.secondOfDay)
        return now >= (begin.month, begin.day, 36_000) && now < (end.month, end.day, 32_400)
    }

    /// The day of a month's nth Sunday.
    private static func sunday(_ n: Int64, of month: Int64, in year: Int64) -> Int64 {
        1 + (7 - weekday(1, month, year)) % 7 + (n - 1) * 7
    }

    private static func lastSunday(ofOctober year: Int64) -> Int64 {
        31 - weekday(31, 10, year)
    }

    /// 0 is Sunday. By Sakamoto's method.
    private static func weekday(_ day: Int64, _ month: Int64, _ year: Int64) -> Int64 {
        let offsets: [Int64] = [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4]
        let year = month < 3 ? year - 1 : year
        return (year + year / 4 - year / 100 + year / 400 + offsets[Int(month) - 1] + day) % 7
    }
}

extension Timestamp {
    /// The date in the form of verifyReceipt: `2026-11-24 20:05:00` of UTC or of the
    /// Pacific coast.
    public func receiptText(inPacificTime isPacific: Bool) -> String {
        let behind = isPacific ? PacificTime.secondsBehind(at: self) : 0
        let date = CivilDate(adding(seconds: -behind))
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let year = String(date.year)
        let padded = String(repeating: "0", count: max(0, 4 - year.count)) + year
        let (hour, minute) = (date.secondOfDay / 3600, date.secondOfDay / 60 % 60)
        return "\(padded)-\(two(date.month))-\(two(date.day)) "
            + "\(two(hour)):\(two(minute)):\(two(date.secondOfDay % 60)) "
            + (isPacific ? "America/Los_Angeles" : "Etc/GMT")
    }
}
