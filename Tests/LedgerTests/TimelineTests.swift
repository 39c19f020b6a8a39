// SPDX-License-Identifier: Apache-2.0

import Commerce
import TestSupport
import Testing

@testable import Ledger

/// What purchases grant at which times. Days are those of January 2026, and go on
/// after 31.
@Suite struct TimelineTests {
    private static func day(_ number: Int) -> Timestamp {
        Timestamp(milliseconds: 1_767_225_600_000).adding(seconds: Int64(number - 1) * 86_400)
    }

    /// Purchases that are separated by `;`.
    private static func facts(
        _ lines: String, mayStand: Bool = true
    ) throws -> [EntitlementFact] {
        try facts(lines.split(separator: ";"), mayStand: mayStand)
    }

    private static func facts(
        _ lines: [Substring], mayStand: Bool = true
    ) throws -> [EntitlementFact] {
        let facts = try lines.map { try fact($0) }
        let lives = Dictionary(grouping: facts, by: \.original).mapValues { facts in
            SubscriptionLife(facts.map(period), mayStand: mayStand)
        }
        return facts.filter { $0.name == "pro" }.map { fact in
            var fact = fact
            fact.fate = lives[fact.original]?.fate(of: fact.transactionID) ?? fact.fate
            return fact
        }
    }

    private static func period(_ fact: EntitlementFact) -> SubscriptionLife.Period {
        SubscriptionLife.Period(
            transactionID: fact.transactionID, productID: fact.productID,
            purchasedAt: fact.purchasedAt, expiresAt: fact.expiresAt,
            isUpgraded: fact.isUpgraded, revokedAt: fact.revokedAt)
    }

    /// One purchase: `id: rule bought day [×quantity] [until day] [revoked day] …`. With
    /// `other` it grants something else, or belongs to another account.
    private static func fact(_ line: Substring) throws -> EntitlementFact {
        let words = line.split(separator: " ").map(String.init)
        func value(_ key: String) -> String? {
            words.firstIndex(of: key).flatMap { words.dropFirst($0 + 1).first }
        }
        func instant(_ key: String) -> Timestamp? { value(key).flatMap(Int.init).map(day) }
        let lasting: Grant.Lasting =
            switch words[1] {
            case "forever": .forever
            case "subscription": .subscription(grace: false)
            case "grace": .subscription(grace: true)
            default: .period(try #require(Period(iso8601: words[1])))
            }
        return EntitlementFact(
            name: words.contains("other") ? "other" : "pro", lasting: lasting,
            onReversal: words.contains("keep") ? .keep : .remove, transactionID: words[0],
            original: value("of") ?? words[0], productID: value("product") ?? "p",
            quantity: value("x").flatMap(Int.init) ?? 1,
            purchasedAt: try #require(instant("bought")), expiresAt: instant("until"),
            isUpgraded: words.contains("upgraded"), graceUntil: instant("grace-until"),
            revokedAt: instant("revoked"))
    }

    private static func day(of instant: Timestamp?) -> String {
        guard let instant else { return "…" }
        return "\(1 + instant.milliseconds(since: day(1)) / 86_400_000)"
    }

    private static func spans(_ facts: [EntitlementFact]) -> String {
        var words: [String] = []
        for span in EntitlementTimeline.all(facts).flatMap({ $0.spans }) {
            if let until = span.until, until <= span.start { continue }
            words.append(
                "\(span.fact.transactionID) \(day(of: span.start))–\(day(of: span.until)) "
                    + "\(span.end)")
        }
        return words.joined(separator: ", ")
    }

    @Test(
        arguments: [
            ("a forever bought 3", "a 3–… never"),
            ("a forever bought 3 revoked 9", "a 3–9 revoked"),
            ("a forever bought 3 revoked 9 keep", "a 3–… never"),
            ("a P10D bought 1", "a 1–11 expired"),
            ("a P10D x 3 bought 1", "a 1–31 expired"),
            // From the later of the purchase date and the present end.
            ("a P10D bought 1; b P10D bought 5", "a 1–11 expired, b 11–21 expired"),
            ("a P10D bought 1; b P10D bought 15", "a 1–11 expired, b 15–25 expired"),
            ("a P10D bought 1; b P10D bought 1", "a 1–11 expired, b 11–21 expired"),
            // The ninth purchase comes before the tenth.
            ("9 P10D bought 1; 10 P20D bought 1", "9 1–11 expired, 10 11–31 expired"),
            // What was not used of a revoked purchase is gone; the next moves up.
            ("a P10D bought 1 revoked 4; b P10D bought 2", "a 1–4 revoked, b 4–14 expired"),
            ("a P10D bought 1 revoked 20; b P10D bought 2", "a 1–11 expired, b 11–21 expired"),
            ("a P10D bought 1; b P10D bought 2 revoked 5", "a 1–11 expired"),
            (
                "a P10D bought 1; b P10D bought 2 revoked 5; c P10D bought 3",
                "a 1–11 expired, c 11–21 expired"
            ),
            ("a P10D bought 1 revoked 4 keep; b P1D bought 2", "a 1–11 expired, b 11–12 expired"),
            // A month is a calendar month.
            ("a P1M bought 31", "a 31–59 expired"),
            ("a subscription bought 1 until 8", "a 1–8 expired"),
            ("a subscription bought 1", ""),
            (
                "a subscription bought 1 until 8; b subscription of a bought 8 until 15",
                "a 1–8 expired, b 8–15 expired"
            ),
            ("a subscription bought 1 until 8 revoked 3", "a 1–3 revoked"),
            ("a subscription bought 1 until 8 revoked 9", "a 1–8 expired"),
            // Grace is a choice, and follows the last period only.
            ("a subscription bought 1 until 8 grace-until 14", "a 1–8 expired"),
            ("a grace bought 1 until 8 grace-until 14", "a 1–14 graceEnded"),
            ("a grace bought 1 until 8 grace-until 7", "a 1–8 expired"),
            ("a grace bought 1 until 8 grace-until 14 revoked 10", "a 1–10 revoked"),
            (
                "a grace bought 1 until 8 grace-until 21; b grace of a bought 10 until 17 "
                    + "grace-until 21",
                "a 1–8 expired, b 10–21 graceEnded"
            ),
            // The newest period counts, also one that was replaced and ends later.
            (
                "a grace bought 1 until 366 upgraded; b grace of a bought 5 until 36 "
                    + "grace-until 52",
                "a 1–5 upgraded, b 5–52 graceEnded"
            ),
            // So does one of another account, or one that grants nothing.
            (
                "a grace bought 1 until 8 grace-until 14; b grace of a other bought 8 until 15",
                "a 1–8 expired"
            ),
            (
                "a subscription bought 1 until 31 upgraded; "
                    + "b subscription of a other bought 5 until 36",
                "a 1–5 upgraded"
            ),
            ("a grace bought 1 until 8 upgraded grace-until 14", "a 1–8 expired"),
            // An upgrade ends at the purchase that replaced it, once that is known.
            ("a subscription bought 1 until 31 upgraded", "a 1–31 expired"),
            // The store need not say so of the period that was replaced.
            (
                "a subscription bought 1 until 31; "
                    + "b subscription of a product q bought 5 until 36",
                "a 1–5 upgraded, b 5–36 expired"
            ),
            (
                "a subscription bought 1 until 31; "
                    + "b subscription of a product q bought 5 until 36 revoked 9",
                "a 1–5 upgraded, b 5–9 revoked"
            ),
            // A renewal that is charged a little early ends nothing, and neither does
            // another product from the end on.
            (
                "a subscription bought 1 until 8; b subscription of a bought 7 until 15",
                "a 1–8 expired, b 7–15 expired"
            ),
            (
                "a subscription bought 1 until 8; "
                    + "b subscription of a product q bought 8 until 15",
                "a 1–8 expired, b 8–15 expired"
            ),
            (
                "a subscription bought 1 until 31 upgraded; "
                    + "b subscription of a bought 5 until 36",
                "a 1–5 upgraded, b 5–36 expired"
            ),
            // An upgrade replaces the period that runs, and the one that was charged ahead,
            // which begins later than the upgrade.
            (
                "1 subscription bought 1 until 8; 2 subscription of 1 bought 8 until 38; "
                    + "3 subscription of 1 product q bought 7 until 37",
                "1 1–7 upgraded, 3 7–37 expired"
            ),
            (
                "1 grace bought 1 until 8; 2 grace of 1 bought 8 until 38 revoked 6; "
                    + "3 grace of 1 product q bought 7 until 37 grace-until 40; "
                    + "4 grace of 1 product q bought 37 until 67 grace-until 70",
                "1 1–7 upgraded, 3 7–37 expired, 4 37–70 graceEnded"
            ),
            // So it does where the one that was charged ahead is of another product, too.
            (
                "1 subscription bought 1 until 8; "
                    + "2 subscription of 1 product r bought 8 until 38; "
                    + "3 subscription of 1 product q bought 7 until 37",
                "1 1–7 upgraded, 3 7–37 expired"
            ),
            // A period that is bought at that very instant replaces the upgrade.
            (
                "1 subscription bought 1 until 8; "
                    + "2 subscription of 1 product q bought 7 until 37; "
                    + "3 subscription of 1 bought 8 until 38",
                "1 1–7 upgraded, 2 7–8 upgraded, 3 8–38 expired"
            ),
            // A period that ends with one that was replaced goes on from the one that was not.
            (
                "1 subscription bought 1 until 31; "
                    + "2 subscription of 1 product q bought 1 until 31; "
                    + "3 subscription of 1 product q bought 31 until 59",
                "2 1–31 expired, 3 31–59 expired"
            ),
            // An upgrade replaces each period that runs.
            (
                "1 subscription bought 1 until 31; 2 subscription of 1 bought 12 until 42; "
                    + "3 subscription of 1 product q bought 21 until 51",
                "1 1–21 upgraded, 2 12–21 upgraded, 3 21–51 expired"
            ),
            // The one that was charged ahead stays replaced when the upgrade has ended, also
            // at the very instant at which it would have begun.
            (
                "1 subscription bought 1 until 31; 2 subscription of 1 bought 31 until 62; "
                    + "3 subscription of 1 product q bought 7 until 14",
                "1 1–7 upgraded, 3 7–14 expired"
            ),
            (
                "1 subscription bought 1 until 31; 2 subscription of 1 bought 31 until 62; "
                    + "3 subscription of 1 product q bought 7 until 31",
                "1 1–7 upgraded, 3 7–31 expired"
            ),
            // A lower product was charged ahead, and the higher one is bought again.
            (
                "1 subscription bought 1 until 31; "
                    + "2 subscription of 1 product r bought 31 until 61; "
                    + "3 subscription of 1 bought 7 until 38",
                "1 1–31 expired, 3 7–38 expired"
            ),
            // What never ran has no grace period, and takes the place of nothing.
            (
                "1 grace bought 1 until 31 revoked 7; 2 grace of 1 bought 31 until 62 revoked 7; "
                    + "3 grace of 1 bought 8 until 39 grace-until 55",
                "1 1–7 revoked, 3 8–55 graceEnded"
            ),
            (
                "1 grace bought 1 until 31 grace-until 40; "
                    + "2 grace of 1 bought 31 until 62 revoked 7",
                "1 1–40 graceEnded"
            ),
            (
                "1 grace bought 1 until 31; 2 grace of 1 bought 31 until 22 grace-until 41; "
                    + "3 grace of 1 product q bought 23 until 30 grace-until 36",
                "1 1–22 expired, 3 23–36 graceEnded"
            ),
            (
                "1 subscription bought 1 until 22; 2 subscription of 1 bought 31 until 22; "
                    + "3 subscription of 1 product q bought 23 until 53",
                "1 1–22 expired, 3 23–53 expired"
            ),
            // A tester has ended the period that runs with the one that was charged ahead.
            (
                "1 grace bought 1 until 8 grace-until 20; 2 grace of 1 bought 8 until 3",
                "1 1–3 expired"
            ),
        ])
    func `spans of purchases`(purchases: String, expected: String) throws {
        let facts = try Self.facts(purchases)

        #expect(Self.spans(facts) == expected)
        #expect(Self.spans(facts.reversed()) == expected)
    }

    /// Several processes of a store give out numbers, so that a greater one may be the earlier.
    @Test func `in production the numbers do not say what was sold first`() throws {
        let purchases =
            "9 subscription bought 1 until 8; 8 subscription of 9 bought 8 until 38; "
            + "1 subscription of 9 product q bought 7 until 37"

        #expect(
            Self.spans(try Self.facts(purchases, mayStand: false))
                == "9 1–7 upgraded, 1 7–37 expired")
    }

    @Test(
        arguments: [
            ("a P10D bought 5; b P10D bought 7", 1, "begins 5"),
            ("a P10D bought 5; b P10D bought 7", 5, "active 5–25 by a"),
            ("a P10D bought 5; b P10D bought 7", 15, "active 5–25 by b"),
            ("a P10D bought 5; b P10D bought 7", 25, "ended 25 expired"),
            ("a P10D bought 1; b P10D bought 20", 15, "ended 11 expired"),
            ("a P10D bought 1; b P10D bought 20", 22, "active 20–30 by b"),
            ("a P10D bought 1; b forever bought 5", 3, "active 1–… by a"),
            ("a forever bought 1 revoked 9; b P1D bought 20", 12, "ended 9 revoked"),
            ("a subscription bought 3", 4, "ended 3 noExpiry"),
            ("a P10D bought 5 revoked 3", 4, "ended 5 revoked"),
        ])
    func `state at a day`(purchases: String, at day: Int, expected: String) throws {
        let facts = try Self.facts(purchases)
        let timeline = try #require(EntitlementTimeline.all(facts).first)

        let state: String =
            switch timeline.state(at: Self.day(day)) {
            case .active(let since, let until, let by):
                "active \(Self.day(of: since))–\(Self.day(of: until)) by \(by.fact.transactionID)"
            case .ended(let span): "ended \(Self.day(of: span.until)) \(span.end)"
            case .begins(let span): "begins \(Self.day(of: span.start))"
            case nil: "nothing"
            }
        #expect(state == expected)
    }

    @Test func `absurd quantities end at the last date that is accepted`() throws {
        let line = "a P999Y x 10000 bought 1; b P999Y x 10000 bought 2; c P1D bought 3"
        let facts = try Self.facts(line)

        let ends = EntitlementTimeline.all(facts)[0].spans.map(\.until)

        let last = Timestamp(milliseconds: Int64(Timestamp.magnitudeMax))
        #expect(ends == [last, last, last])
    }

    /// The facts are a set: no order of theirs changes the answer.
    @Test func `every order of six purchases gives the same spans`() throws {
        let lines = [
            "a P10D bought 1", "b P10D bought 5 revoked 8", "c P3D x 2 bought 30",
            "d subscription bought 2 until 9", "e grace of d bought 9 until 16 grace-until 20",
            "f forever bought 40 revoked 44",
        ]
        let facts = try Self.facts(lines.map { $0[...] })
        let expected = Self.spans(facts)

        var seen: Set<String> = []
        permute(facts) { seen.insert(Self.spans($0)) }

        #expect(seen == [expected])
    }

    private func permute<Value>(_ values: [Value], _ body: ([Value]) -> Void) {
        func step(_ done: [Value], _ rest: [Value]) {
            if rest.isEmpty { return body(done) }
            for index in rest.indices {
                var left = rest
                let next = left.remove(at: index)
                step(done + [next], left)
            }
        }
        step([], values)
    }
}
