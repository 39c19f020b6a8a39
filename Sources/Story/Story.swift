// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// What happens to a sandbox, step by step, and what is expected of it: a file that
/// people write.
public struct Story: Hashable, Sendable {
    /// The size of the largest file that is read.
    public static let bytesMax = 1024 * 1024
    /// The most steps of a story.
    public static let stepsMax = 10_000

    public var name: String
    public var steps: [StoryStep]

    public init(name: String, steps: [StoryStep]) {
        self.name = name
        self.steps = steps
    }

    /// Whether any step expects notifications.
    public var hearsNotifications: Bool {
        steps.contains { step in
            guard case .expect(let expectation) = step.action else { return false }
            return expectation.facts.contains {
                if case .notifications = $0.fact { true } else { false }
            }
        }
    }
}

/// One step, with its line in the file.
public struct StoryStep: Hashable, Sendable {
    public let line: Int
    public let action: StoryAction

    public init(line: Int, action: StoryAction) {
        self.line = line
        self.action = action
    }
}

/// What a step does. A customer is a sign-in name; nil for the sandbox's own.
public enum StoryAction: Hashable, Sendable {
    case customer(name: String, storefront: String?, asksToBuy: Bool)
    /// `refusal`: the code with which it is expected to be refused.
    case buy(product: String, customer: String?, quantity: Int, refusal: String?)
    case advance(TimeStep, JumpNotifications)
    /// The clock stands at an instant.
    case stand(Timestamp)
    /// A command about a customer's subscription, to `product` if that is given.
    case subscription(SubscriptionDeed, customer: String?, product: String?)
    /// Gives the money of the customer's last transaction of a product back.
    case refund(product: String, customer: String?)
    case expect(StoryExpectation)
}

/// What a story does to a subscription.
public enum SubscriptionDeed: String, Hashable, Sendable, CaseIterable {
    case cancel, resume, renew, expire, consent
    case failBilling = "fail-billing"
    case fixBilling = "fix-billing"
}

/// What is true of a customer, or of the sandbox.
public struct StoryExpectation: Hashable, Sendable {
    public let customer: String?
    public let facts: [ExpectedFact]

    public init(customer: String?, facts: [ExpectedFact]) {
        self.customer = customer
        self.facts = facts
    }
}

/// One expected fact, with its line in the file.
public struct ExpectedFact: Hashable, Sendable {
    public enum Fact: Hashable, Sendable {
        case subscription(ExpectedSubscription)
        /// The products of the customer's transactions, oldest first.
        case transactions([String])
        case transactionCount(Int)
        /// The types, with `/SUBTYPE`, since the last such expectation.
        case notifications([String])
        /// Whether the customer may use a product now.
        case mayUse(product: String, Bool)
        case clock(Timestamp)
    }

    public let line: Int
    public let fact: Fact

    public init(line: Int, fact: Fact) {
        self.line = line
        self.fact = fact
    }
}

/// The fields that are nil are not compared.
public struct ExpectedSubscription: Hashable, Sendable {
    public var product: String?
    /// `active`, `expired`, `retry`, `grace` or `revoked`.
    public var status: String?
    public var renews: Bool?
    /// The product of the next period.
    public var next: String?
    /// The next charge in the currency's unit. `0` also means none.
    public var charge: Amount?
    public var until: Timestamp?

    public init() {}
}

/// A line of a story that cannot be read.
public struct StoryProblem: Error, Hashable, Sendable, CustomStringConvertible {
    public let line: Int
    public let rule: String
    public let remedy: String

    public var description: String { "line \(line): \(rule); \(remedy)" }
}

/// What is wrong with a story, line by line.
public struct StoryFault: Error, Hashable, Sendable {
    public let problems: [StoryProblem]
}
