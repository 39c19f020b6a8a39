// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Testing

@Suite struct PacificTimeTests {
    /// On both sides of each change of the clocks, and each fifth day.
    @Test func `it is that of Foundation, of every year since 1987`() throws {
        let zone = try #require(TimeZone(identifier: "America/Los_Angeles"))
        let (first, last): (Int64, Int64) = (536_457_600, 2_145_916_800)
        var instants = Array(stride(from: first, to: last, by: 5 * 86_400))
        var date = Date(timeIntervalSince1970: Double(first))
        while let next = zone.nextDaylightSavingTimeTransition(after: date),
            Int64(next.timeIntervalSince1970) < last
        {
            let change = Int64(next.timeIntervalSince1970)
            instants += [change - 1, change]
            date = next
        }
        #expect(instants.count > 3700)
        for instant in instants {
            let date = Date(timeIntervalSince1970: Double(instant))
            let expected = -Int64(zone.secondsFromGMT(for: date))
            let told = PacificTime.secondsBehind(at: Timestamp(milliseconds: instant * 1000))
            try #require(told == expected, "\(date)")
        }
    }

    @Test func `a date is written in both times`() {
        let date = Timestamp(milliseconds: 1_595_440_486_402)
        #expect(date.receiptText(inPacificTime: false) == "2020-07-22 17:54:46 Etc/GMT")
        #expect(
            date.receiptText(inPacificTime: true) == "2020-07-22 10:54:46 America/Los_Angeles")
    }
}
