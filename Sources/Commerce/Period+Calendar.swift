// SPDX-License-Identifier: Apache-2.0

/// Calendar time, in UTC.
extension Timestamp {
    /// Returns the instant that is `times` periods later (earlier if negative),
    /// at the same time of day.
    ///
    /// Months and years keep the day of the month. A month that is too short has
    /// its last day instead: a month after 31 January is 28 or 29 February.
    /// `anchorDay` is the day of the month that a subscription began on; without
    /// it, the day of this instant. With 31, a renewal on 28 February is followed
    /// by one on 31 March.
    public func adding(
        _ period: Period, times: Int = 1, anchorDay: Int64? = nil
    ) -> Timestamp {
        let count = Int64(period.count) * Int64(times)
        switch period.unit {
        case .day: return adding(seconds: count * 86_400)
        case .week: return adding(seconds: count * 7 * 86_400)
        case .month: return adding(months: count, anchorDay)
        case .year: return adding(months: count * 12, anchorDay)
        }
    }

    private func adding(months: Int64, _ anchorDay: Int64?) -> Timestamp {
        let date = CivilDate(self)
        let index = date.year * 12 + date.month - 1 + months
        let month = (index % 12 + 12) % 12 + 1
        let year = (index - month + 1) / 12
        let day = min(anchorDay ?? date.day, CivilDate.daysInMonth(month, of: year))
        let days = CivilDate.days(year: year, month: month, day: day)
        return Timestamp(
            milliseconds: (days * 86_400 + date.secondOfDay) * 1000 + date.millisecond)
    }
}

extension CivilDate {
    /// The number of days in a month, 1 to 12.
    static func daysInMonth(_ month: Int64, of year: Int64) -> Int64 {
        let next =
            month == 12
            ? days(year: year + 1, month: 1, day: 1) : days(year: year, month: month + 1, day: 1)
        return next - days(year: year, month: month, day: 1)
    }
}
