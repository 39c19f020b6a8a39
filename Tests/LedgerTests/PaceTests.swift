// SPDX-License-Identifier: Apache-2.0

import Commerce
import TestSupport
import Testing

@testable import Ledger

/// The pace of calls to a store, as values on a moved clock.
@Suite(.engineFree) struct PaceTests {
    private let now = Book.now

    @Test func `pauses double, with a random half`() {
        let rule = RetryRule(attempts: 4, timeoutMilliseconds: 1)
        let least = (1...4).map { rule.pauseMilliseconds(afterAttempt: $0, random: 0) }
        let most = (1...4).map { attempt in
            (0..<2000).compactMap {
                rule.pauseMilliseconds(afterAttempt: attempt, random: UInt64($0))
            }.max()
        }

        #expect(least == [100, 200, 400, nil])
        #expect(most == [200, 400, 800, nil])
    }

    @Test(
        arguments: [
            (nil, nil), ("soon", nil), ("-1", nil), ("0", 0), ("7", 7_000),
            // Apple's: UNIX time in milliseconds.
            ("1760000005000", 5_000), ("1759999990000", 0),
            // Never for longer than an hour.
            ("3600", 3_600_000), ("3601", 3_600_000), ("1760003600000", 3_600_000),
            ("1760003600001", 3_600_000), ("9223372036854775807", 3_600_000),
        ] as [(String?, Int64?)])
    func `Retry-After is read in seconds and in milliseconds since 1970`(
        header: String?, wait: Int64?
    ) {
        let instant = RetryAfter.instant(header, now: now)

        #expect(instant?.milliseconds(since: now) == wait)
    }

    @Test(
        arguments: [
            (nil, nil), ("", nil), ("soon", nil), ("-1", nil), ("0", 0), ("7", 7),
            ("Thu, 09 Oct 2025 08:54:20 GMT", 60), ("Thursday, 09-Oct-25 08:54:20 GMT", 60),
            ("Thu Oct  9 08:54:20 2025", 60), ("Thu, 09 Oct 2025 08:00:00 GMT", 0),
            ("Thu, 09 Oct 2025 08:54:20 CET", nil), ("Thu, 32 Oct 2025 08:54:20 GMT", nil),
            ("Thu, 09 Foo 2025 08:54:20 GMT", nil), ("Fri, 29 Feb 2030 08:54:20 GMT", nil),
            // Sixty years back rather than forty ahead.
            ("Thursday, 09-Oct-84 08:54:20 GMT", 0),
            // Never for longer than a message is sent.
            ("259201", 259_200), ("99999999999999999999", 259_200),
            ("Sat, 09 Oct 2032 08:54:20 GMT", 259_200),
        ] as [(String?, Int64?)])
    func `a merchant's Retry-After is read in seconds and as a date`(
        header: String?, wait: Int64?
    ) {
        let instant = RetryAfter.endpoint(header, now: now)

        #expect(instant?.milliseconds(since: now) == wait.map { $0 * 1000 })
    }

    @Test func `five failures in a row keep calls away, then one is let through`() {
        var breaker = CircuitBreaker()
        for _ in 1...4 { breaker.fail(at: now) }
        #expect(breaker.wait(at: now) == nil)
        breaker.fail(at: now)

        let end = now.adding(seconds: 30)
        #expect(breaker.wait(at: now) == end)
        #expect(breaker.wait(at: now.adding(milliseconds: 29_999)) == end)
        #expect(breaker.wait(at: end) == nil)
        // The others wait for that one.
        #expect(breaker.wait(at: end) != nil)
        breaker.fail(at: end)
        #expect(breaker.wait(at: end.adding(seconds: 59)) != nil)
        #expect(breaker.wait(at: end.adding(seconds: 60)) == nil)
        breaker.succeed()
        #expect(breaker.wait(at: end.adding(seconds: 60)) == nil)
        #expect(breaker.wait(at: end.adding(seconds: 60)) == nil)
    }

    @Test func `a pause that the store asks for is kept, also after a clock that ran ahead`() {
        var breaker = CircuitBreaker()
        breaker.rest(until: now.adding(seconds: 3600))

        #expect(breaker.wait(at: now.adding(seconds: 3599)) != nil)
        #expect(breaker.wait(at: now.adding(seconds: -86_400)) == nil)
    }

    @Test func `an earlier call's answer does not end a pause that the store asked for`() {
        var breaker = CircuitBreaker()
        breaker.rest(until: now.adding(seconds: 60))
        breaker.succeed()

        #expect(breaker.wait(at: now.adding(seconds: 59)) != nil)
        #expect(breaker.wait(at: now.adding(seconds: 60)) == nil)
    }

    @Test func `one failure with a pause that is over keeps no other call away`() {
        var breaker = CircuitBreaker()
        breaker.fail(at: now)
        breaker.rest(until: now)

        #expect(breaker.wait(at: now) == nil)
        #expect(breaker.wait(at: now) == nil)
    }

    @Test func `a call that waits for its turn looks again, and none waits for long`() throws {
        let gate = StoreGate()
        let turns = try (0..<6).map { _ in
            try gate.enter("store", perSecond: 1, waitMax: 5_000, at: now)
        }
        #expect(turns.map(\.pause) == [0, 1000, 2000, 3000, 4000, 5000])
        let refused = #expect(throws: StoreTrouble.self) {
            try gate.enter("store", perSecond: 1, waitMax: 5_000, at: now)
        }
        #expect(refused?.until == now.adding(seconds: 6))
        try gate.check(turns[1], "store", at: now.adding(seconds: 1))

        gate.rest("store", until: now.adding(seconds: 60))
        #expect(throws: StoreTrouble.self) {
            try gate.check(turns[2], "store", at: now.adding(seconds: 2))
        }
        try gate.check(turns[2], "store", at: now.adding(seconds: 60))
    }

    @Test func `a second's calls are made at once, and the others at an even pace`() {
        var budget = RateBudget(perSecond: 4)
        let waits = (0..<8).map { _ in budget.take(at: now) }
        #expect(waits == [0, 0, 0, 0, 250, 500, 750, 1000])

        // What was not used for a minute is not saved up.
        let later = now.adding(seconds: 60)
        #expect((0..<6).map { _ in budget.take(at: later) } == [0, 0, 0, 0, 250, 500])
        #expect(budget.take(at: now.adding(seconds: -86_400)) == 0)
    }
}
