// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

/// When a customer is asked for a review.
@Suite struct ReviewPolicyTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)
    private static let year: Int64 = 365 * 86_400

    private static func ago(_ seconds: Int64) -> Timestamp { now.adding(seconds: -seconds) }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let past: ReviewPolicy.Past
        let asks: Bool

        init(_ words: String, _ past: ReviewPolicy.Past, asks: Bool) {
            (testDescription, self.past, self.asks) = (words, past, asks)
        }
    }

    private static let recent = ago(1)

    static let cases = [
        Case("nothing happened", .init(), asks: true),
        Case("asked twice", .init(asked: [recent, ago(2)]), asks: true),
        Case("asked three times", .init(asked: [recent, ago(2), ago(year - 1)]), asks: false),
        Case("the first was a year ago", .init(asked: [recent, ago(2), ago(year)]), asks: true),
        Case(
            "asked by a clock that was ahead",
            .init(asked: [ago(-5), ago(-4), ago(-3)]), asks: false),
        Case("rated this version", .init(ratedVersion: "2", ratedAt: recent), asks: false),
        Case(
            "rated this version long ago", .init(ratedVersion: "2", ratedAt: ago(2 * year)),
            asks: false),
        Case(
            "rated another version within a year",
            .init(ratedVersion: "1", ratedAt: ago(year - 1)), asks: false),
        Case(
            "rated another version a year ago", .init(ratedVersion: "1", ratedAt: ago(year)),
            asks: true),
        Case(
            "rated another version, and was asked three times since",
            .init(
                asked: [recent, ago(2), ago(3)], ratedVersion: "1", ratedAt: ago(2 * year)),
            asks: false),
        Case("switched off", .init(isSwitchedOff: true), asks: false),
    ]

    @Test(arguments: cases)
    func `a released app asks by the rules`(one: Case) {
        let asks = ReviewPolicy.asks(one.past, version: "2", in: .released, at: Self.now)
        #expect(asks == one.asks)
    }

    @Test(arguments: cases)
    func `in development the customer is always asked, and in a beta never`(one: Case) {
        let asks = { ReviewPolicy.asks(one.past, version: "2", in: $0, at: Self.now) }
        #expect(asks(.development) && !asks(.beta))
    }
}
