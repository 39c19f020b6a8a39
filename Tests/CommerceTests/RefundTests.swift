// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

/// The rules of refunds, by what operators and customers do one after the other.
@Suite struct RefundTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let isPeriod: Bool
        let lines: String

        init(_ name: String, isPeriod: Bool = false, _ lines: String) {
            (testDescription, self.isPeriod, self.lines) = (name, isPeriod, lines)
        }
    }

    /// What is done, what comes of it, and what the customer has paid and not got
    /// back. `-`: it was so already. A period of 9.99 USD is half over on day 15.
    static let cases = [
        Case(
            "asked for, declined, asked for again and granted",
            """
            request UNINTENDED_PURCHASE | 1 requested              | 9.99
            request OTHER               | -                        | 9.99
            decline                     | 1 declined               | 9.99
            decline                     | -                        | 9.99
            request LEGAL               | 2 requested              | 9.99
            refund full                 | 2 granted 9.99           | 0.00
            refund full                 | -                        | 0.00
            request OTHER               | refused refundedAlready  | 0.00
            decline                     | refused notRequested     | 0.00
            """),
        Case(
            "given back unasked, taken back, and given back again",
            """
            reverse                     | refused notRefunded      | 9.99
            decline                     | refused notRequested     | 9.99
            refund full                 | 1 granted 9.99           | 0.00
            refund nothing              | refused refundedAlready  | 0.00
            reverse                     | 1 reversed               | 9.99
            reverse                     | -                        | 9.99
            refund full                 | 2 granted 9.99           | 0.00
            reverse                     | 2 reversed               | 9.99
            """),
        Case(
            "revoked without money",
            """
            refund nothing              | 1 granted 0.00           | 9.99
            refund nothing              | -                        | 9.99
            refund full                 | refused refundedAlready  | 9.99
            reverse                     | 1 reversed               | 9.99
            """),
        Case(
            "only a period is given back in part",
            """
            refund prorated             | refused notProratable    | 9.99
            """),
        Case(
            "the unused half of a period", isPeriod: true,
            """
            day 15                      | -                        | 9.99
            refund prorated             | 1 granted 4.99 50000     | 5.00
            refund prorated             | -                        | 5.00
            refund full                 | refused refundedAlready  | 5.00
            reverse                     | 1 reversed               | 9.99
            day 30                      | -                        | 9.99
            refund prorated             | refused nothingUnused    | 9.99
            refund full                 | 2 granted 9.99           | 0.00
            """),
        Case(
            "after an upgrade the rest of the old period", isPeriod: true,
            """
            request OTHER               | 1 requested              | 9.99
            upgrade 3.33                | 2 granted 3.33           | 6.66
            reverse                     | refused notRefunded      | 6.66
            refund full                 | 1 granted 6.66           | 0.00
            reverse                     | 1 reversed               | 6.66
            """),
        Case(
            "a product that was bought again",
            """
            refund full                 | 1 granted 9.99           | 0.00
            again                       | -                        | 0.00
            reverse                     | refused ownedAgain       | 0.00
            """),
    ]

    @Test(arguments: cases) func `each step has its outcome`(_ test: Case) throws {
        var story = RefundStory(isPeriod: test.isPeriod)
        for line in test.lines.split(separator: "\n") {
            let parts = line.split(separator: "|").map {
                $0.split(separator: " ").joined(separator: " ")
            }
            let outcome = try story.play(parts[0])
            #expect(outcome == parts[1], "\(line)")
            #expect(story.kept == parts[2], "\(line)")
        }
        #expect(try story.folds())
    }

    @Test func `a member of the family has no refund`() {
        let sale = RefundableSale(
            total: Money(Amount(milliunits: 990), RefundStory.dollar), ownership: .familyShared)
        let now = Timestamp(milliseconds: 0)

        #expect(throws: RefundRefusal.shared) {
            try sale.requesting(.other, at: now, cause: .customer)
        }
        #expect(throws: RefundRefusal.shared) {
            try sale.granting(.full, for: .other, at: now, cause: .operator)
        }
    }

    @Test(
        arguments: [
            ("USD", 9990, 1, 3, 3330), ("USD", 1000, 1, 3, 330), ("JPY", 100_000, 1, 3, 33_000),
            ("KWD", 1000, 1, 3, 333), ("USD", 9990, 5, 3, 9990), ("USD", 9990, -1, 3, 0),
        ] as [(String, Int64, Int64, Int64, Int64)])
    func `a share is rounded down to what can be paid`(
        code: String, price: Int64, left: Int64, whole: Int64, share: Int64
    ) throws {
        let currency = try #require(Currency(code: code))
        let unused = UnusedTime(left: left, whole: whole)
        let price = Money(Amount(milliunits: price), currency)
        #expect(unused.share(of: price) == Money(Amount(milliunits: share), currency))
    }

    /// Every sequence of up to five of these steps, whatever they answer.
    @Test func `no sequence gives back more than was paid, and a repeat changes nothing`() throws {
        let words = [
            "request OTHER", "decline", "refund full", "refund prorated", "reverse",
            "upgrade 1.00", "refund nothing",
        ]
        var stories = [RefundStory(isPeriod: true)]
        for _ in 0..<5 {
            stories = try stories.flatMap { story in
                try words.map { word in
                    var next = story
                    _ = try next.play(word)
                    let sale = next.sale
                    #expect((0...9990).contains(sale.kept.milliunits))
                    #expect(sale.refunds.count { $0.isRevoking } <= 1)
                    if !word.hasPrefix("upgrade") {
                        let again = try next.play(word)
                        #expect(again == "-" || again.hasPrefix("refused"), "\(word): \(again)")
                        #expect(next.sale == sale)
                    }
                    return next
                }
            }
        }
        #expect(stories.count == 16_807)
        #expect(try stories.allSatisfy { try $0.folds() })
    }
}

/// A sale of 9.99 USD, and what became of its money.
struct RefundStory {
    static let dollar: Currency = Currency(code: "USD") ?? fallback
    private static var fallback: Currency { preconditionFailure("USD is a currency") }

    private let isPeriod: Bool
    private var day: Int64 = 0
    private var isOwnedAgain = false
    private var events: [[RefundEvent]] = []
    private var refunds: [Refund] = []

    init(isPeriod: Bool) { self.isPeriod = isPeriod }

    var sale: RefundableSale {
        RefundableSale(
            total: Money(Amount(milliunits: 9990), Self.dollar), isPeriod: isPeriod,
            unused: isPeriod && day < 30 ? UnusedTime(left: 30 - day, whole: 30) : nil,
            isOwnedAgain: isOwnedAgain, refunds: refunds)
    }

    var kept: String { sale.kept.decimal(decimals: 2) }

    /// Whether the refunds are what their events make of them.
    func folds() throws -> Bool { events.map { Refund($0) } == refunds }

    mutating func play(_ words: String) throws -> String {
        do throws(RefundRefusal) {
            guard let step = try step(words.split(separator: " ").map(String.init)) else {
                return "-"
            }
            apply(step)
            return "\(step.number) \(Self.text(step.event))"
        } catch {
            return "refused \(error)"
        }
    }

    private mutating func step(_ words: [String]) throws(RefundRefusal) -> RefundStep? {
        let now = Timestamp(milliseconds: day * 86_400_000)
        let word = words.count > 1 ? words[1] : ""
        switch words[0] {
        case "day": day = Int64(word) ?? 0
        case "again": isOwnedAgain = true
        case "request":
            return try sale.requesting(
                RefundWish(rawValue: word) ?? .other, at: now, cause: .customer)
        case "decline": return try sale.declining(at: now, cause: .operator)
        case "reverse": return try sale.reversing(at: now, cause: .operator)
        case "refund":
            return try sale.granting(
                RefundGrant.Kind(rawValue: word) ?? .full, for: .other, at: now,
                cause: .operator)
        case "upgrade":
            let sum = min(Amount(decimal: word) ?? sale.kept, sale.kept)
            return sale.upgrading(Money(sum, Self.dollar), at: now, cause: .customer)
        default: Issue.record("no such word: \(words)")
        }
        return nil
    }

    private mutating func apply(_ step: RefundStep) {
        let place = Int(step.number) - 1
        if place == refunds.count {
            guard let first = Refund(first: step.event) else {
                Issue.record("a refund begins with \(step.event)")
                return
            }
            refunds.append(first)
            events.append([step.event])
        } else {
            refunds[place].apply(step.event)
            events[place].append(step.event)
        }
    }

    private static func text(_ event: RefundEvent) -> String {
        switch event.change {
        case .requested: "requested"
        case .informed: "informed"
        case .declined: "declined"
        case .granted(let grant):
            "granted \(grant.sum.amount.decimal(decimals: 2))"
                + (grant.percentage.map { " \($0)" } ?? "")
        case .reversed: "reversed"
        }
    }
}
