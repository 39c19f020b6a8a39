// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

@Suite struct RetryTimetableTests {
    private let first = Timestamp(milliseconds: 1_795_233_600_000)

    @Test func `production tries six times in all`() {
        let table = RetryTimetable.productionNotifications
        var dates: [Timestamp] = [first]
        while let next = table.next(afterAttempts: dates.count, at: dates[dates.count - 1]) {
            dates.append(next)
        }

        #expect(dates.count == 6 && table.attemptsMax == 6)
        let hours = dates.map { $0.milliseconds(since: first) / 3_600_000 }
        #expect(hours == [0, 1, 13, 37, 85, 157])
    }

    @Test func `a sandbox tries once`() {
        #expect(RetryTimetable.sandboxNotifications.attemptsMax == 1)
        #expect(RetryTimetable.sandboxNotifications.next(afterAttempts: 1, at: first) == nil)
    }

    @Test func `what is never given up is tried at the last pause for ever`() {
        let table = RetryTimetable.processor
        let start = Timestamp(milliseconds: 0)

        let pauses = (1...8).map {
            table.nextForEver(afterAttempts: $0, at: start).milliseconds / 1000
        }

        #expect(pauses == [1, 5, 30, 120, 600, 3600, 3600, 3600])
    }
}
