// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Story
import TestSupport
import Testing

/// Stories are read strictly: what would have no effect is refused, with its line.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct StoryTests {
    private func problems(_ yaml: String) -> [String] {
        do throws(StoryFault) {
            _ = try Story(yaml: Array(yaml.utf8))
            return []
        } catch { return error.problems.map { "\($0.line) \($0.rule)" } }
    }

    @Test func `a story is its steps, each with its line`() throws {
        let story = try Story(
            yaml: Array(
                """
                story: a month
                steps:
                - clock: 2027-01-31T10:00:00Z
                - customer: ann
                  storefront: DEU
                  asksToBuy: true
                - buy: news
                  customer: ann
                  quantity: 2
                  refused: productNotFound
                - advance: 1mo
                  notifications: drop
                - subscription: fail-billing
                  customer: ann
                - refund: news
                - expect:
                    customer: ann
                    subscription: { product: news, status: grace, renews: true, charge: 4.99 }
                    transactions: [news, news]
                    mayUse: { news: true }
                    notifications: []
                """.utf8))
        var expected = ExpectedSubscription()
        (expected.product, expected.status, expected.renews) = ("news", "grace", true)
        expected.charge = Amount(decimal: "4.99")
        let steps: [StoryAction] = [
            .stand(try #require(Timestamp(iso8601: "2027-01-31T10:00:00Z"))),
            .customer(name: "ann", storefront: "DEU", asksToBuy: true),
            .buy(product: "news", customer: "ann", quantity: 2, refusal: "productNotFound"),
            .advance(.period(Period(1, .month)), .dropped),
            .subscription(.failBilling, customer: "ann", product: nil),
            .refund(product: "news", customer: nil),
            .expect(
                StoryExpectation(
                    customer: "ann",
                    facts: [
                        ExpectedFact(line: 18, fact: .subscription(expected)),
                        ExpectedFact(line: 19, fact: .transactions(["news", "news"])),
                        ExpectedFact(line: 20, fact: .mayUse(product: "news", true)),
                        ExpectedFact(line: 21, fact: .notifications([])),
                    ])),
        ]

        #expect(story.name == "a month")
        #expect(story.steps.map(\.action) == steps)
        #expect(story.steps.map(\.line) == [3, 4, 7, 11, 13, 15, 16])
        #expect(story.hearsNotifications)
    }

    @Test(arguments: [
        ("customer: ann\n  age: 7", "4 `age` is unknown here"),
        ("buy: news\n  quantity: 11", "4 a quantity is 1 to 10"),
        ("buy: [a]", "3 it must be one value"),
        ("buy: null", "3 `null` is no value in YAML"),
        ("advance: a month", "3 a step of time"),
        ("advance: 1mo\n  notifications: later", "4 notifications are await, queue or drop"),
        ("clock: tomorrow", "3 it is not an instant"),
        ("subscription: pause", "3 pause is no command"),
        ("expect:\n    customer: ann", "3 an expectation names what is expected"),
        ("expect:\n    sales: 1", "4 `sales` is unknown here"),
        ("expect:\n    transactions: -1", "4 transactions are a number"),
        ("expect:\n    subscription: { status: paused }", "4 paused is no status"),
        ("expect:\n    subscription: { renews: yes }", "4 it must be true or false"),
        ("expect:\n    mayUse: { news: maybe }", "4 it must be true or false"),
        ("buy: news\n  advance: 1mo", "3 a step is one of"),
        ("storefront: USA", "3 a step is one of"),
        ("sell: news", "3 a step is one of"),
        ("customer: ann\n  storefront: XXX", "4 there is no storefront XXX"),
        ("customer: &a ann", "3 anchors, aliases and tags are not read"),
        ("customer: {", "the file is not YAML"),
    ])
    func `a wrong line is refused with its number`(step: String, problem: String) {
        let found = problems("story: s\nsteps:\n- \(step)\n")

        #expect(found.contains { $0.contains(problem) }, "\(found)")
    }

    @Test(arguments: ["", "[]", "story: s", "story: s\nsteps: []", "steps:\n- buy: a", "a: b"])
    func `a file without a story is refused`(yaml: String) {
        #expect(!problems(yaml).isEmpty)
    }

    @Test func `every problem is named, and what to do`() {
        let yaml = "story: s\nsteps:\n- buy: a\n  x: 1\n- buy: b\n  y: 2\n"

        #expect(throws: StoryFault.self) { try Story(yaml: Array(yaml.utf8)) }
        #expect(problems(yaml).count == 2)
    }

    @Test func `no bytes crash the reader`() {
        var random = SeededGenerator(7)
        let start = Array("story: s\nsteps:\n- expect: { subscription: { charge: 1 } }\n".utf8)
        for _ in 0..<500 {
            var bytes = start
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            _ = try? Story(yaml: bytes)
        }
    }
}
