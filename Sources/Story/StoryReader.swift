// SPDX-License-Identifier: Apache-2.0

import Commerce
import YAMLFile
import Yams

extension Story {
    /// Reads a story. Throws ``StoryFault`` with every problem.
    public init(yaml: [UInt8]) throws(StoryFault) {
        var reader = StoryReader()
        let story = reader.story(yaml)
        guard reader.problems.isEmpty, let story else {
            throw StoryFault(problems: reader.problems)
        }
        self = story
    }
}

/// Reads a story and collects its problems. An unknown key is one, because it
/// would have no effect.
struct StoryReader: YAMLReader {
    private(set) var problems: [StoryProblem] = []

    mutating func story(_ bytes: [UInt8]) -> Story? {
        guard
            let root = root(
                bytes, of: "a story", bytesMax: Story.bytesMax,
                whenEmpty: "write `story: NAME` and `steps:`")
        else { return nil }
        var story = Story(name: "", steps: [])
        for (key, value) in pairs(root) {
            switch key.text {
            case "story": story.name = text(value) ?? ""
            case "steps":
                story.steps = list(value).prefix(Story.stepsMax + 1).compactMap { step($0) }
            default: refuseKey(key, "`story` and `steps`")
            }
        }
        if story.name.isEmpty { refuse(1, "a story has a name", "write `story: NAME`") }
        if story.steps.isEmpty { refuse(1, "a story has steps", "write them below `steps:`") }
        if story.steps.count > Story.stepsMax {
            refuse(1, "a story has at most \(Story.stepsMax) steps", "make two of it")
        }
        return story
    }

    // MARK: Steps

    private static let actions = [
        "customer", "buy", "refund", "advance", "clock", "subscription", "expect",
    ]

    private mutating func step(_ node: Node) -> StoryStep? {
        let line = Self.line(node)
        let fields = YAMLFields(pairs(node))
        // A customer beside another action is its subject.
        let named = fields.keys.map(\.text).filter(Self.actions.contains)
        let actions = named.count > 1 ? named.filter { $0 != "customer" } : named
        guard actions.count == 1, let action = actions.first else {
            refuse(
                line, "a step is one of " + Self.actions.joined(separator: ", "),
                "write one of them, and a step of its own for each other")
            return nil
        }
        let read = read(action, fields, line)
        return read.map { StoryStep(line: line, action: $0) }
    }

    private mutating func read(_ action: String, _ fields: YAMLFields, _ line: Int) -> StoryAction?
    {
        switch action {
        case "customer": customer(fields)
        case "buy": buy(fields)
        case "refund": refund(fields)
        case "advance": advance(fields)
        case "clock": clock(fields)
        case "subscription": subscription(fields)
        default: expect(fields)
        }
    }

    private mutating func customer(_ fields: YAMLFields) -> StoryAction? {
        check(fields, ["customer", "storefront", "asksToBuy"])
        guard let name = value("customer", fields) else { return nil }
        let storefront = value("storefront", fields)
        if let storefront, Storefront.named(storefront) == nil {
            refuse(
                fields.line("storefront"), "there is no storefront \(storefront)",
                "write three letters such as USA")
        }
        return .customer(
            name: name, storefront: storefront, asksToBuy: flag("asksToBuy", fields) ?? false)
    }

    private mutating func buy(_ fields: YAMLFields) -> StoryAction? {
        check(fields, ["buy", "customer", "quantity", "refused"])
        guard let product = value("buy", fields) else { return nil }
        var quantity = 1
        if let text = value("quantity", fields) {
            quantity = Self.integer(text).flatMap { Int(exactly: $0) } ?? 0
            if !(1...10).contains(quantity) {
                refuse(fields.line("quantity"), "a quantity is 1 to 10", Self.integerRemedy)
            }
        }
        return .buy(
            product: product, customer: value("customer", fields), quantity: quantity,
            refusal: value("refused", fields))
    }

    private mutating func refund(_ fields: YAMLFields) -> StoryAction? {
        check(fields, ["refund", "customer"])
        return value("refund", fields).map {
            .refund(product: $0, customer: value("customer", fields))
        }
    }

    private mutating func advance(_ fields: YAMLFields) -> StoryAction? {
        check(fields, ["advance", "notifications"])
        guard let text = value("advance", fields) else { return nil }
        var choice = JumpNotifications.awaited
        if let word = value("notifications", fields) {
            guard let known = JumpNotifications(rawValue: word) else {
                refuse(
                    fields.line("notifications"), "notifications are await, queue or drop",
                    "write one of them")
                return nil
            }
            choice = known
        }
        guard let step = TimeStep(text) else {
            refuse(fields.line("advance"), "a step of time is \(TimeStep.rule)", "write 1mo")
            return nil
        }
        return .advance(step, choice)
    }

    private mutating func clock(_ fields: YAMLFields) -> StoryAction? {
        check(fields, ["clock"])
        return instant("clock", fields).map { .stand($0) }
    }

    private mutating func subscription(_ fields: YAMLFields) -> StoryAction? {
        check(fields, ["subscription", "customer", "product"])
        guard let word = value("subscription", fields) else { return nil }
        guard let deed = SubscriptionDeed(rawValue: word) else {
            let known = SubscriptionDeed.allCases.map(\.rawValue).joined(separator: ", ")
            refuse(
                fields.line("subscription"), "\(word) is no command", "write one of: \(known)")
            return nil
        }
        return .subscription(
            deed, customer: value("customer", fields), product: value("product", fields))
    }
}

// MARK: Expectations

extension StoryReader {
    private mutating func expect(_ fields: YAMLFields) -> StoryAction? {
        check(fields, ["expect"])
        guard let node = fields["expect"] else { return nil }
        let inner = YAMLFields(pairs(node))
        check(
            inner,
            ["customer", "subscription", "transactions", "notifications", "mayUse", "clock"])
        var facts: [ExpectedFact] = []
        for key in inner.keys.map(\.text) where key != "customer" {
            guard let node = inner[key] else { continue }
            facts += self.facts(key, node, inner)
        }
        if facts.isEmpty {
            refuse(
                fields.line("expect"), "an expectation names what is expected",
                "write one such as `transactions: 1` below it")
        }
        return .expect(StoryExpectation(customer: value("customer", inner), facts: facts))
    }

    private mutating func facts(_ key: String, _ node: Node, _ fields: YAMLFields) -> [ExpectedFact]
    {
        let line = fields.line(key)
        switch key {
        case "subscription":
            return [ExpectedFact(line: line, fact: .subscription(expected(node)))]
        case "transactions":
            if node.sequence != nil {
                return [ExpectedFact(line: line, fact: .transactions(texts(node)))]
            }
            guard let count = text(node).flatMap(Int.init), count >= 0 else {
                refuse(line, "transactions are a number, or a list of products", "write 2")
                return []
            }
            return [ExpectedFact(line: line, fact: .transactionCount(count))]
        case "notifications":
            return [ExpectedFact(line: line, fact: .notifications(texts(node)))]
        case "mayUse":
            return pairs(node).compactMap { key, value in
                flag(value).map {
                    ExpectedFact(line: key.line, fact: .mayUse(product: key.text, $0))
                }
            }
        case "clock":
            return instant(key, fields).map { [ExpectedFact(line: line, fact: .clock($0))] } ?? []
        default: return []
        }
    }

    private mutating func expected(_ node: Node) -> ExpectedSubscription {
        let fields = YAMLFields(pairs(node))
        check(fields, ["product", "status", "renews", "next", "charge", "until"])
        var expected = ExpectedSubscription()
        expected.product = value("product", fields)
        expected.status = value("status", fields)
        let statuses = ["active", "expired", "retry", "grace", "revoked"]
        if let status = expected.status, !statuses.contains(status) {
            refuse(
                fields.line("status"), "\(status) is no status",
                "write one of: " + statuses.joined(separator: ", "))
        }
        expected.renews = flag("renews", fields)
        expected.next = value("next", fields)
        expected.until = fields["until"] == nil ? nil : instant("until", fields)
        if let text = value("charge", fields) {
            expected.charge = Amount(decimal: text)
            if expected.charge == nil {
                refuse(
                    fields.line("charge"),
                    "a price is digits with at most one point and three decimals",
                    "write it like 0.99")
            }
        }
        return expected
    }
}

// MARK: Values

extension StoryReader {
    private mutating func list(_ node: Node) -> [Node] {
        guard let sequence = node.sequence else {
            refuse(Self.line(node), "it must be a list", "write each entry behind `- `")
            return []
        }
        return Array(sequence)
    }

    private mutating func texts(_ node: Node) -> [String] {
        list(node).compactMap { text($0) }
    }

    private mutating func flag(_ key: String, _ fields: YAMLFields) -> Bool? {
        fields[key].flatMap { flag($0) }
    }

    private mutating func instant(_ key: String, _ fields: YAMLFields) -> Timestamp? {
        guard let text = value(key, fields) else { return nil }
        if let instant = Timestamp(iso8601: text) { return instant }
        refuse(
            fields.line(key), "it is not an instant", "write 2027-01-01T00:00:00Z")
        return nil
    }

    mutating func refuse(_ line: Int, _ rule: String, _ remedy: String) {
        problems.append(StoryProblem(line: line, rule: rule, remedy: remedy))
    }
}
