// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import StoreWire

struct PurchaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purchase", abstract: "Requests of customers to buy, and their outcomes.",
        subcommands: [List.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List purchases in every state.")

        @Flag(name: .long, help: "Only purchases that wait for `approve` or `decline`.")
        var waiting = false
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let door = try store.store().operatorDoor
            var purchases: [PurchaseRecord] = []
            var query = waiting ? "?state=waiting" : "?"
            while true {
                let page = try await door.get("/purchases" + query, as: PurchaseRecords.self)
                purchases += page.purchases
                guard let next = page.next else { break }
                query = (waiting ? "?state=waiting&" : "?") + "after=\(next)"
            }
            try printing.show(
                purchases,
                lines: Output.table(
                    purchases.map {
                        [
                            $0.purchaseId, $0.customerId, "\($0.quantity) × \($0.productId)",
                            $0.state, $0.refusal ?? $0.transactionId ?? $0.waitingFor ?? "",
                        ]
                    }))
        }
    }
}

/// The common part of the two answers.
struct ApprovalOptions: ParsableArguments {
    @Argument(help: "The purchase's id, from `purchase list --waiting`.")
    var purchase: String
    @Option(name: .long, help: "The customer's number, if several customers have used the id.")
    var customer: String?
    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    func answer(_ word: String) async throws {
        guard UUID(uuidString: purchase) != nil else {
            throw Failure(
                .usage, "uuidInvalid", "\(purchase) is not a purchase's id.", field: "purchase",
                rule: "a UUID", remedy: "take one from `purchase list --waiting`")
        }
        let record = try await store.store().operatorDoor.put(
            "/purchases/\(purchase)/approval",
            AnswerApprovalRequest(answer: word, customerId: customer), as: PurchaseRecord.self)
        let outcome =
            switch record.state {
            case "sold": "sold as transaction \(record.transactionId ?? "")"
            case "refused": "refused: \(record.refusal ?? "")"
            default: record.state
            }
        try printing.show(record, "\(record.quantity) × \(record.productId): \(outcome)")
    }
}

struct ApproveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve", abstract: "Approve a purchase that waits.")

    @OptionGroup var options: ApprovalOptions

    func run() async throws { try await options.answer("approved") }
}

struct DeclineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decline", abstract: "Decline a purchase that waits.")

    @OptionGroup var options: ApprovalOptions

    func run() async throws { try await options.answer("declined") }
}
