// SPDX-License-Identifier: Apache-2.0

import Commerce
import TestSupport
import Testing

@Suite(.unforgiven) struct AttemptTests {
    private let rule = AttemptRule(freeMistakes: 3, waitSecondsMax: 60, atOnceMax: 4)

    private func at(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1000) }

    @Test func `the wait doubles with every mistake beyond the free ones, to its limit`() {
        let waits = (0...12).map { rule.waitSeconds(afterMistakes: $0) }

        #expect(waits == [0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60])
        #expect(AttemptRule.account.waitSeconds(afterMistakes: .max) == 900)
    }

    @Test func `after too many mistakes a client waits, tries once, and waits longer`() {
        var attempts = Attempts()
        for _ in 1...3 {
            #expect(attempts.begin(rule, at: at(5000)) == nil)
            attempts.end(isRight: false, forgets: false, at: at(5000))
        }

        #expect(attempts.begin(rule, at: at(5000)) == 1)
        #expect(attempts.begin(rule, at: at(5001)) == nil)
        attempts.end(isRight: false, forgets: false, at: at(5001))
        #expect(attempts.begin(rule, at: at(5002)) == 1)
        #expect(attempts.begin(rule, at: at(5003)) == nil)
    }

    @Test func `what is right makes good what was wrong, where it may`() {
        var account = Attempts()
        var client = Attempts()
        for _ in 1...2 {
            account.mistake(at: at(0))
            client.mistake(at: at(0))
        }

        account.end(isRight: true, forgets: true, at: at(1))
        client.end(isRight: true, forgets: false, at: at(1))

        #expect([account.mistakes, client.mistakes] == [0, 2])
        #expect(account.isForgotten(at: at(1)))
        #expect(!client.isForgotten(at: at(1)))
    }

    @Test func `there are never many guesses at once`() {
        var attempts = Attempts()
        let first = (1...6).map { _ in attempts.begin(rule, at: at(9)) }
        for _ in 1...4 { attempts.end(isRight: false, forgets: false, at: at(9)) }

        #expect(first == [nil, nil, nil, nil, 1, 1])
        #expect(attempts.begin(rule, at: at(9)) == 2)
        #expect(attempts.begin(rule, at: at(11)) == nil)
        #expect(attempts.begin(rule, at: at(11)) == 1)
    }

    @Test func `an hour without a mistake forgets them all, and a clock set back does no harm`() {
        var attempts = Attempts()
        for _ in 1...9 { attempts.mistake(at: at(100_000)) }

        #expect(attempts.wait(rule, at: at(100_000)) == 60)
        // The wait begins again, and ends by the clock as it is now.
        #expect(attempts.wait(rule, at: at(0)) == 60)
        #expect(attempts.wait(rule, at: at(59)) == 1)
        #expect(attempts.wait(rule, at: at(60)) == nil)
        #expect(attempts.wait(rule, at: at(103_600)) == nil)
        #expect(attempts.isForgotten(at: at(103_600)))
        attempts.mistake(at: at(103_600))
        #expect(attempts.mistakes == 1)
    }

    @Test(arguments: Seeds.all)
    func `at any time there are no more guesses than the rule allows`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed)
        var attempts = Attempts()
        var now: Int64 = 10_000
        var guesses: [Int64] = []
        for _ in 1...300 {
            now += Int64(random.integer(in: 0...2))
            guard attempts.begin(rule, at: at(now)) == nil else { continue }
            attempts.end(isRight: false, forgets: false, at: at(now))
            guesses.append(now)
        }
        // Three at once, then after 1, 2, 4, 8, 16 and 32 s, then a minute each.
        let elapsed = now - 10_000
        #expect(guesses.count >= 3)
        #expect(Int64(guesses.count) <= 3 + 6 + elapsed / 60 + 1)
    }
}
