// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import TestSupport
import Testing

/// Calendar time: months that are too short, leap years, and days that return.
@Suite(.unforgiven) struct PeriodCalendarTests {
    private func at(_ text: String) throws -> Timestamp {
        try #require(Timestamp(iso8601: text.contains("T") ? text : text + "T10:30:00.250Z"))
    }

    @Test(arguments: [
        // from         period  to
        "2026-01-31     P1M     2026-02-28", "2028-01-31     P1M     2028-02-29",
        "2026-01-30     P1M     2026-02-28", "2026-01-28     P1M     2026-02-28",
        "2026-03-31     P1M     2026-04-30", "2026-03-31     P2M     2026-05-31",
        "2026-08-31     P6M     2027-02-28", "2027-08-31     P6M     2028-02-29",
        "2026-11-30     P3M     2027-02-28", "2026-12-31     P1M     2027-01-31",
        "2028-02-29     P1Y     2029-02-28", "2028-02-29     P4Y     2032-02-29",
        "2096-02-29     P4Y     2100-02-28", "2000-02-29     P400Y   2400-02-29",
        "2026-12-31     P1D     2027-01-01", "2028-02-28     P1D     2028-02-29",
        "2026-02-28     P1D     2026-03-01", "2026-12-28     P1W     2027-01-04",
        "1969-12-31     P1M     1970-01-31", "1899-12-31     P2M     1900-02-28",
    ])
    func `a period ends on the same day, or on the last of a shorter month`(line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let period = try #require(Period(iso8601: words[1]))

        #expect(try at(words[0]).adding(period) == at(words[2]))
    }

    @Test func `the day of the anchor returns after a short month`() throws {
        let start = try at("2026-01-31")
        let month = Period(1, .month)
        var dates = [start]
        for _ in 0..<5 {
            dates.append(try #require(dates.last).adding(month, anchorDay: 31))
        }

        #expect(
            try dates
                == ["01-31", "02-28", "03-31", "04-30", "05-31", "06-30"].map {
                    try at("2026-\($0)")
                })
        #expect(try at("2026-02-28").adding(month) == at("2026-03-28"), "without an anchor")
    }

    /// Every period of a subscription from every day of four years, against
    /// Foundation's calendar.
    @Test(arguments: Period.ofSubscriptions)
    func `it is the calendar's arithmetic`(text: String) throws {
        let period = try #require(Period(iso8601: text))
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        var parts = DateComponents()
        switch period.unit {
        case .day: parts.day = period.count
        case .week: parts.day = 7 * period.count
        case .month: parts.month = period.count
        case .year: parts.year = period.count
        }
        let first = try at("2027-01-01")
        for day in 0..<(4 * 366) {
            let start = first.adding(seconds: Int64(day) * 86_400)
            let date = Date(timeIntervalSince1970: Double(start.milliseconds) / 1000)
            let end = try #require(calendar.date(byAdding: parts, to: date))
            let milliseconds = (end.timeIntervalSince1970 * 1000).rounded()
            #expect(start.adding(period).milliseconds == Int64(milliseconds), "\(start)")
        }
    }

    @Test func `steps count from the anchor, forth and back`() throws {
        var random = SeededGenerator(7)
        for _ in 0..<2000 {
            let start = Timestamp(
                milliseconds: Int64.random(in: 0...4_000_000_000_000, using: &random))
            let count = Int.random(in: 1...999, using: &random)
            let unit = Period.Unit.allCases[Int.random(in: 0..<4, using: &random)]
            let (period, one) = (Period(count, unit), Period(1, unit))
            #expect(start.adding(period) == start.adding(one, times: count), "\(start) \(period)")
            #expect(start.adding(period) > start && start.adding(period, times: -1) < start)
            if unit == .day || unit == .week {
                #expect(start.adding(period).adding(period, times: -1) == start)
            }
        }
    }

    @Test(arguments: [
        ("1mo", "P1M"), ("P1M", "P1M"), ("12w", "P12W"), ("3d", "P3D"), ("999y", "P999Y"),
        ("90s", "90s"), ("2min", "120s"), ("6h", "21600s"),
    ])
    func `a step is read as people write it`(text: String, read: String) {
        #expect(TimeStep(text)?.description == read)
    }

    @Test(arguments: [
        "", "1", "mo", "0d", "-1d", "+1d", "1mon", "P0M", "PT1H", "1000y", "1.5d", "1 d", "١d",
        "99999999999s", "3162240001s", "9223372036854775807min", "P1M1D",
    ])
    func `what is no step is refused`(text: String) {
        #expect(TimeStep(text) == nil)
    }

    @Test(arguments: [
        ("now", "2027-03-31T00:00:00Z"), ("now-13mo", "2026-02-28T00:00:00Z"),
        ("now+1y", "2028-03-31T00:00:00Z"), ("now-90s", "2027-03-30T23:58:30Z"),
        ("2026-01-31T12:00:00+01:00", "2026-01-31T11:00:00Z"), ("0", "1970-01-01T00:00:00Z"),
        ("now1d", nil), ("now-", nil), ("then", nil), ("9223372036854775807", nil),
        ("2026-02-30T00:00:00Z", nil),
    ])
    func `an instant is read as people write it`(text: String, read: String?) throws {
        let now = try at("2027-03-31T00:00:00Z")

        #expect(Timestamp(text: text, now: now)?.description == read)
    }
}
