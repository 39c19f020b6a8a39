// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import Live
import StoreWire

/// Subscriptions, and what operators and tests do to them.
struct SubscriptionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscription", abstract: "Auto-renewable subscriptions of customers.",
        discussion: """
            Any transaction of a subscription names it. Every change prints the events that it \
            caused. `renew`, `expire`, `fail-billing`, `fix-billing` and `consent` are for \
            sandboxes; `clock advance` lets time pass.
            """,
        subcommands: [
            List.self, Show.self, Cancel.self, Resume.self, Change.self, Extend.self,
            ExtendAll.self, RaisePrice.self, RaisePriceAll.self, Renew.self, Expire.self,
            FailBilling.self, FixBilling.self, Consent.self,
        ])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List subscriptions by customer.")

        @Option(name: .long, help: "Only subscriptions of this sign-in name.")
        var customer: String?
        @Option(name: .long, help: "Only those: active, expired, retry, grace or revoked.")
        var status: String?
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let door = try store.store().operatorDoor
            var only: CustomerSummary?
            if let customer { only = try await CustomerCommand.find(customer, door) }
            var found: [SubscriptionRecord] = []
            var after: String?
            repeat {
                let query = [
                    only.map { "customer=\($0.customerId)" }, status.map { "status=\($0)" },
                    after.map { "after=\($0)" },
                ].compactMap { $0 }.joined(separator: "&")
                let page = try await door.get(
                    "/subscriptions?" + query, as: SubscriptionRecords.self)
                found += page.subscriptions
                after = page.next
            } while after != nil
            try printing.show(
                found,
                lines: Output.table(
                    found.map { record in
                        [
                            record.subscriptionId, record.customerId, record.productId,
                            record.status,
                            (record.usableFrom.map { "from \($0) " } ?? "")
                                + "until \(record.usableUntil ?? record.endDate)",
                            record.next,
                        ]
                    }))
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show one subscription.")
        @OptionGroup var subject: SubscriptionOptions

        func run() async throws {
            let record = try await subject.store.store().operatorDoor.get(
                subject.path, as: SubscriptionRecord.self)
            try subject.printing.show(record, lines: record.lines)
        }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "cancel",
            abstract: "Switch the renewal off. The customer keeps what is paid for.")
        @OptionGroup var subject: SubscriptionOptions

        func run() async throws {
            try await subject.put("/renewal", SwitchRenewalRequest(isRenewing: false))
        }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume", abstract: "Switch the renewal on.")
        @OptionGroup var subject: SubscriptionOptions

        func run() async throws {
            try await subject.put("/renewal", SwitchRenewalRequest(isRenewing: true))
        }
    }

    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "change",
            abstract: "Choose the product of the next period, without a charge now.",
            discussion: """
                Any product of the group, also a better one. A customer who buys a better one \
                (`buy`) changes at once. The present product drops an earlier choice.
                """)
        @OptionGroup var subject: SubscriptionOptions
        @Option(name: .long, help: "The product's id.") var product: String

        func run() async throws {
            try await subject.put("/product", ChooseProductRequest(productId: product))
        }
    }

    struct Extend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "extend", abstract: "Move the next renewal, without a charge.")
        @OptionGroup var subject: SubscriptionOptions
        @Option(name: .long, help: "How many days, 1 to 90.") var days: Int

        func run() async throws {
            let door = try subject.store.store().operatorDoor
            try subject.show(
                try await door.post(
                    subject.path + "/extensions", ExtendSubscriptionRequest(days: days),
                    as: SubscriptionAnswer.self))
        }
    }

    struct RaisePrice: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "raise-price",
            abstract: "Announce a higher price to one customer.",
            discussion: """
                It applies to periods that begin at --from or later. Without --no-consent the \
                subscription ends there, unless the customer consents. Customers keep their \
                price when the product becomes dearer, until this is done.
                """)
        @OptionGroup var subject: SubscriptionOptions
        @OptionGroup var raise: RaisePriceOptions

        func run() async throws {
            try await subject.put(
                "/price", try await raise.request(try subject.store.store()))
        }
    }

    struct Renew: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "renew", abstract: "Charge the next period now. Sandboxes only.")
        @OptionGroup var subject: SubscriptionOptions

        func run() async throws { try await subject.force("/renewals") }
    }

    struct Expire: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "expire", abstract: "End it now, whatever was paid. Sandboxes only.")
        @OptionGroup var subject: SubscriptionOptions

        func run() async throws { try await subject.force("/expirations") }
    }

    struct FailBilling: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "fail-billing", abstract: "Let its renewals fail. Sandboxes only.")
        @OptionGroup var subject: SubscriptionOptions

        func run() async throws {
            try await subject.putControl("/billing", FailBillingRequest(failsBilling: true))
        }
    }

    struct FixBilling: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "fix-billing",
            abstract: "Let its renewals succeed, and charge an unpaid one now. Sandboxes only.")
        @OptionGroup var subject: SubscriptionOptions

        func run() async throws {
            try await subject.putControl("/billing", FailBillingRequest(failsBilling: false))
        }
    }

    struct Consent: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "consent",
            abstract: "Answer a higher price for the customer. Sandboxes only.")
        @OptionGroup var subject: SubscriptionOptions
        @Flag(name: .long, help: "Do not consent, which stops the renewal.") var refuse = false

        func run() async throws {
            try await subject.putControl("/consent", ConsentRequest(isAgreed: !refuse))
        }
    }
}

/// What happened to a customer.
struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract:
            "What happened to a customer's subscriptions and refunds, and in families, in order.")

    @Argument(help: "The customer's sign-in name or number.") var customer: String
    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let door = try store.store().operatorDoor
        let customer = try await CustomerCommand.find(customer, door)
        var events: [SubscriptionEventRecord] = []
        var after: String?
        repeat {
            let page = try await door.get(
                "/customers/\(customer.customerId)/history"
                    + (after.map { "?after=\($0)" } ?? ""), as: CustomerHistory.self)
            events += page.events
            after = page.next
        } while after != nil
        try printing.show(events, lines: events.map(\.line))
    }
}

/// The subscription that a verb is about.
struct SubscriptionOptions: ParsableArguments {
    @Argument(help: "The number of one of its transactions.") var subscription: String
    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    var path: String { "/subscriptions/\(DoorClient.part(subscription))" }

    func put(_ place: String, _ request: some Encodable & Sendable) async throws {
        let door = try store.store().operatorDoor
        try show(try await door.put(path + place, request, as: SubscriptionAnswer.self))
    }

    func putControl(_ place: String, _ request: some Encodable & Sendable) async throws {
        let door = try store.store().controlDoor
        try show(try await door.put(path + place, request, as: SubscriptionAnswer.self))
    }

    func force(_ place: String) async throws {
        let door = try store.store().controlDoor
        try show(
            try await door.post(path + place, [String: String](), as: SubscriptionAnswer.self))
    }

    func show(_ answer: SubscriptionAnswer) throws {
        let events =
            answer.events.isEmpty
            ? ["Nothing happened to the subscription itself."] : answer.events.map(\.line)
        try printing.show(answer, lines: events + answer.subscription.lines)
    }
}

extension SubscriptionEventRecord {
    var line: String { "\(date)  \(message)" }
}

extension SubscriptionRecord {
    fileprivate var next: String {
        guard let charge = nextCharge else { return "no charge" }
        let price = Currency(code: charge.currency).map {
            "\(Money(Amount(milliunits: charge.price), $0))"
        }
        return "\(charge.productId) for \(price ?? "") at \(charge.date)"
    }

    fileprivate var lines: [String] {
        Output.table([
            ["subscription", subscriptionId], ["customer", customerId],
            ["product", "\(productId), group \(groupId)"], ["status", status],
            ["period", "\(startDate) to \(endDate)"],
            [
                "usable",
                (usableFrom.map { "from \($0) " } ?? "")
                    + (usableUntil.map { "until \($0)" } ?? "no"),
            ], ["next charge", next],
        ])
    }
}
