// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import StoreWire

struct TransactionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transaction", abstract: "Completed sales.", subcommands: [List.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List transactions by customer.")

        @Option(name: .long, help: "Only transactions of this customer, by name or number.")
        var customer: String?
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let found = try store.store()
            let only = try await customer.asyncMap {
                try await CustomerCommand.find($0, found.operatorDoor)
            }
            let records = try await found.transactions(customer: only?.customerId)
            try printing.show(
                records,
                lines: Output.table(
                    records.map { record in
                        let payload = record.payload
                        return [
                            payload.transactionId ?? "", payload.productId ?? "",
                            "×\(payload.quantity ?? 1)",
                            Self.price(payload), payload.purchaseDate.map { "\($0)" } ?? "",
                            record.isFinished ? "finished" : "unfinished",
                        ]
                    }))
        }

        private static func price(_ payload: JWSTransactionDecodedPayload) -> String {
            guard let price = payload.price,
                let currency = payload.currency.flatMap({ Currency(code: $0) })
            else { return "" }
            return "\(Money(Amount(milliunits: price), currency))"
        }
    }
}

extension RunningStore {
    /// Returns every transaction of the realm, or of one customer.
    func transactions(customer: String? = nil) async throws -> [TransactionRecord] {
        var records: [TransactionRecord] = []
        var after: String?
        repeat {
            let query = [customer.map { "customer=\($0)" }, after.map { "after=\($0)" }]
                .compactMap { $0 }.joined(separator: "&")
            let page = try await operatorDoor.get(
                "/transactions?" + query, as: TransactionRecords.self)
            records += page.transactions
            after = page.next
        } while after != nil
        return records
    }
}
