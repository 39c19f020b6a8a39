// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import StoreWire

struct RealmCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "realm", abstract: "The isolated worlds inside a store.",
        subcommands: [Create.self, List.self, Delete.self, RealmResetCommand.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create a realm.")

        @Argument(help: "The realm's name: 1 to 40 of a–z, 0–9 and `-`.") var name: String
        @Flag(name: .long, help: "Create a production realm; default: a sandbox.")
        var production = false
        @Option(name: .long, help: "The same seed and commands give the same ids. Sandboxes only.")
        var seed: Int64?
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let found = try store.store()
            let made = try await found.storeDoor.post(
                "/realms",
                CreateRealmRequest(
                    name: name, environment: production ? "Production" : nil, seed: seed),
                as: RealmSummary.self)
            try printing.show(
                made, "\(made.environment) \(made.name): \(found.run.url)/realms/\(made.name)")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the realms.")

        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let realms = try await store.store().storeDoor.get("/realms", as: RealmList.self).realms
            try printing.show(
                realms,
                lines: Output.table(
                    realms.map { [$0.name, $0.environment, $0.id, "\($0.createdDate)"] }))
        }
    }

    struct Delete: AsyncParsableCommand {
        private struct Deleted: Encodable { let deleted: String }

        static let configuration = CommandConfiguration(
            abstract: "Delete a realm and everything in it.")

        @Argument(help: "The realm's name, from `realm list`.") var name: String
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            try await store.store().storeDoor.delete("/realms/\(name)")
            try printing.show(Deleted(deleted: name), "Deleted \(name).")
        }
    }
}

struct TransactionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transaction", abstract: "Completed sales.", subcommands: [List.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List transactions by customer.")

        @Option(name: .long, help: "Only transactions of this customer, by number.") var customer:
            String?
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let records = try await store.store().transactions(customer: customer)
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

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Keys of merchants' servers for Apple's door.",
        subcommands: [Create.self, List.self, Revoke.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a server key; its private half is printed this once.")

        @Option(name: .long, help: "The app; default: the served one.") var bundleId: String?
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let found = try store.store()
            let made = try await found.operatorDoor.post(
                "/server-keys",
                CreateServerKeyRequest(bundleId: bundleId ?? found.run.bundleId),
                as: CreatedServerKey.self)
            try printing.show(
                made,
                lines: ["key \(made.keyId), issuer \(made.issuerId)"]
                    + made.privateKey.split(separator: "\n").map(String.init))
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the server keys.")

        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let keys = try await store.store().operatorDoor
                .get("/server-keys", as: ServerKeyList.self).serverKeys
            try printing.show(
                keys,
                lines: Output.table(
                    keys.map {
                        [
                            $0.keyId, $0.issuerId, $0.bundleId,
                            $0.revokedDate == nil ? "" : "revoked",
                        ]
                    }))
        }
    }
}
