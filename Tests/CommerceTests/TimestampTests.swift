// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import TestSupport
import Testing

@Suite(.unforgiven) struct TimestampTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"), (1_078_012_800_000, "2004-02-29T00:00:00Z"),
            (1_795_235_226_000, "2026-11-21T04:27:06Z"),
            (1_795_235_226_007, "2026-11-21T04:27:06.007Z"),
            (4_102_444_799_999, "2099-12-31T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
            (-62_135_596_800_000, "0001-01-01T00:00:00Z"),
            (253_402_300_799_000, "9999-12-31T23:59:59Z"),
            (-2_203_977_600_000, "1900-02-28T00:00:00Z"),
        ] as [(Int64, String)])
    func `an instant is printed and read in UTC`(milliseconds: Int64, text: String) {
        let instant = Timestamp(milliseconds: milliseconds)
        #expect(instant.description == text)
        #expect(Timestamp(iso8601: text) == instant)
    }

    @Test(
        arguments: [
            ("2026-11-21T05:27:06.123+01:00", 1_795_235_226_123),
            ("2026-11-21T05:27:06+0100", 1_795_235_226_000),
            ("2026-11-20T22:57:06-05:30", 1_795_235_226_000),
            ("2026-11-21T04:27:06.1Z", 1_795_235_226_100),
            ("2026-11-21T04:27:06.123999999Z", 1_795_235_226_123),
        ] as [(String, Int64)])
    func `offsets and fractions are read`(text: String, milliseconds: Int64) {
        #expect(Timestamp(iso8601: text)?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        "", "2026-11-21", "2026-11-21T04:27:06", "2026-11-21 04:27:06Z", "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-04-31T00:00:00Z",
        "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z",
        "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.1234567890Z", "2026-01-01T00:00:00+1",
        "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+01:60", "2026-01-01T00:00:00ZZ",
        "٢٠٢٦-01-01T00:00:00Z", "+026-01-01T00:00:00Z", "2026-01-01T00:00:00z",
    ])
    func `what names no instant is not read`(text: String) {
        #expect(Timestamp(iso8601: text) == nil)
    }

    @Test(arguments: Seeds.all)
    func `any instant of years 1 to 9999 is read as it was printed`(seed: UInt64) {
        var generator = SeededGenerator(seed)
        for _ in 0..<2000 {
            let instant = Timestamp(
                milliseconds: generator.integer(in: -62_135_596_800_000...253_402_300_799_999))
            #expect(Timestamp(iso8601: instant.description) == instant)
        }
    }

    @Test func `every day from 1890 to 2110 follows the one before`() {
        let day: Int64 = 86_400_000
        var expected = (year: Int64(1890), month: Int64(1), day: Int64(1))
        var instant = Timestamp(milliseconds: -29_219 * day)
        while expected.year < 2110 {
            let date = CivilDate(instant)
            guard (date.year, date.month, date.day) == expected else {
                Issue.record("\(date) is not \(expected)")
                return
            }
            expected = next(expected)
            instant = instant.adding(milliseconds: day)
        }
    }

    /// The calendar as school tells it.
    private func next(
        _ date: (year: Int64, month: Int64, day: Int64)
    ) -> (year: Int64, month: Int64, day: Int64) {
        let isLeap = date.year % 4 == 0 && (date.year % 100 != 0 || date.year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        if date.day < lengths[Int(date.month) - 1] { return (date.year, date.month, date.day + 1) }
        return date.month < 12 ? (date.year, date.month + 1, 1) : (date.year + 1, 1, 1)
    }

    @Test func `JSON carries whole milliseconds, and a fraction is cut`() throws {
        let instant = Timestamp(milliseconds: 1_795_235_226_007)
        let json = String(decoding: try JSONEncoder().encode([instant]), as: UTF8.self)
        #expect(json == "[1795235226007]")
        func read(_ text: String) throws -> [Timestamp] {
            try JSONDecoder().decode([Timestamp].self, from: Data(text.utf8))
        }
        #expect(try read(json) == [instant])
        #expect(
            try read("[1795235226007.25, -0.5]").map(\.milliseconds) == [1_795_235_226_007, -1])
        for wrong in [
            "[1e16]", "[9223372036854775807]", "[-9223372036854775808]", "[9000000000000001]",
            "[-1e300]", "[\"1\"]", "[null]",
        ] {
            #expect(throws: DecodingError.self) { try read(wrong) }
        }
    }

    @Test func `arithmetic and order`() {
        let instant = Timestamp(milliseconds: 5000)
        #expect(instant.adding(seconds: -5) == Timestamp(milliseconds: 0))
        #expect(instant.adding(milliseconds: 1) > instant)
        #expect(instant.milliseconds(since: Timestamp(milliseconds: 7000)) == -2000)
    }
}
