// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import StoreWire

struct RefundCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refund", abstract: "Give the money of a transaction back, or decline to.",
        discussion: """
            The transaction grants nothing any more: a subscription ends if its present period is \
            refunded. `reverse` takes a refund back, and `revoke` revokes without money.
            """)

    @OptionGroup var subject: RefundOptions
    @Flag(
        help: """
            Only for the unused time of a subscription's period, which ends now, or for what \
            the merchant has reported as unused.
            """)
    var prorated = false
    @Option(help: "Why: issueWithApp or other.") var reason: String?
    @Flag(help: "Decline the refund that the customer asked for.") var decline = false
    @Flag(help: "Decide the request by its reason and the merchant's report.")
    var asAdvised = false
    @Option(
        help: """
            Ask like the customer would: UNINTENDED_PURCHASE, FULFILLMENT_ISSUE, \
            UNSATISFIED_WITH_PURCHASE, LEGAL or OTHER. Sandboxes only.
            """)
    var request: String?

    func validate() throws {
        let given = [decline, prorated || (reason != nil && !asAdvised), asAdvised, request != nil]
        guard given.count(where: { $0 }) <= 1 else {
            throw ValidationError(
                "Give one of --decline, --as-advised, --request, and --prorated with --reason.")
        }
    }

    func run() async throws {
        if let request {
            let door = try subject.store.store().controlDoor
            return try subject.show(
                try await door.post(
                    subject.path + "/refund-requests", RefundRequest(reason: request),
                    as: RefundAnswer.self))
        }
        guard !asAdvised else {
            return try await subject.decide(.init(state: "advised", reason: reason))
        }
        guard !decline else { return try await subject.decide(.init(state: "declined")) }
        try await subject.decide(
            .init(state: "granted", kind: prorated ? "prorated" : "full", reason: reason))
    }
}

struct ReverseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reverse",
        abstract: "Take a refund or a revocation back. The transaction is valid again.")

    @OptionGroup var subject: RefundOptions

    func run() async throws { try await subject.decide(.init(state: "reversed")) }
}

struct RevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke a transaction without giving money back.")

    @OptionGroup var subject: RefundOptions
    @Option(help: "Why: issueWithApp or other.") var reason: String?

    func run() async throws {
        try await subject.decide(.init(state: "granted", kind: "nothing", reason: reason))
    }
}

struct RefundsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refunds", abstract: "List refunds by customer.")

    @Option(help: "Only those: requested, declined, granted or reversed.") var state: String?
    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let door = try store.store().operatorDoor
        var found: [RefundRecord] = []
        var after: String?
        repeat {
            let query = [
                state.map { "state=\(DoorClient.part($0))" }, after.map { "after=\($0)" },
            ].compactMap { $0 }.joined(separator: "&")
            let page = try await door.get("/refunds?" + query, as: RefundRecords.self)
            found += page.refunds
            after = page.next
        } while after != nil
        try printing.show(
            found,
            lines: Output.table(
                found.map { record in
                    [
                        record.transactionId, record.customerId, record.productId, record.state,
                        record.sumWords ?? record.requestReason ?? "",
                    ]
                }))
    }
}

/// The transaction that a verb is about.
struct RefundOptions: ParsableArguments {
    @Argument(help: "The transaction's number.") var transaction: String
    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    var path: String { "/transactions/\(DoorClient.part(transaction))" }

    func decide(_ request: DecideRefundRequest) async throws {
        let door = try store.store().operatorDoor
        try show(try await door.put(path + "/refund", request, as: RefundAnswer.self))
    }

    func show(_ answer: RefundAnswer) throws {
        let events =
            answer.events.isEmpty
            ? ["Nothing changed: it is \(answer.refund.state)."] : answer.events.map(\.line)
        try printing.show(answer, lines: events)
    }
}

extension RefundRecord {
    /// The sum with its currency.
    fileprivate var sumWords: String? {
        guard let sum, let currency = currency.flatMap({ Currency(code: $0) }) else { return nil }
        return "\(Money(Amount(milliunits: sum), currency))"
    }
}
