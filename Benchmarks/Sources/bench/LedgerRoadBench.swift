// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Ledger
import Shop
import SignedData
import StoreWire

/// The cost of a proof that a store of ours gave: a receipt, and a transaction's number,
/// which the ledger looks up at the store.
struct LedgerRoadBench {
    private static let bundleID = BenchLedger.bundleID
    private static let product = BenchStore.season.id.value
    /// Purchases in a receipt, and how many such receipts.
    private let sizes = Brief.or([(1, 300), (100, 30)], brief: [(1, 3), (10, 2)])

    func run() async throws -> Bench.Outcome {
        progress("proofs that a store gives")
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("bench-roads-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var facts = try await prepare(folder)
        let store = try ServedProcess(arguments: ["serve-as-is", folder.path])
        defer { store.kill() }
        facts.setup.store = BenchLedger.Setup.Store(
            api: "http://127.0.0.1:\(store.port)", issuerID: facts.key.issuerId,
            keyID: facts.key.keyId, privateKeyPEM: facts.key.privateKey)
        let served = try await ServedLedger(facts.setup)
        defer { served.end() }
        let looked = try facts.transactions.map {
            try served.asker.post(
                "/ledger/v1/transactions",
                TakeTransactionRequest(transactionId: $0, account: "somebody"))
        }
        var notes = [
            "SQLite: proof by a transaction's number, looked up at a store on loopback: "
                + (try served.asker.waits(looked))
        ]
        for (size, receipts) in facts.receipts {
            let requests = try receipts.map {
                try served.asker.post("/ledger/v1/receipts", $0)
            }
            notes.append(
                "SQLite: proof by a receipt of \(size) purchases: "
                    + (try served.asker.waits(requests)))
        }
        return ([], notes)
    }

    private struct Facts {
        var setup: BenchLedger.Setup
        let key: CreatedServerKey
        /// Not in any of the receipts.
        let transactions: [String]
        let receipts: [(size: Int, requests: [TakeReceiptRequest])]
    }

    private func prepare(_ folder: URL) async throws -> Facts {
        let store = try await BenchStore.open(in: folder)
        let realm = try await store.realm(named: Store.defaultRealm)
        try await realm.catalogue.putCatalogue(
            Self.catalogue, app: AppDescription(bundleID: Self.bundleID))
        let key = try await realm.merchant.createServerKey(bundleID: Self.bundleID.value)
        var receipts: [(size: Int, requests: [TakeReceiptRequest])] = []
        for (size, count) in sizes {
            var requests: [TakeReceiptRequest] = []
            for number in 0..<count {
                let account = "shopper-\(size)-\(number)"
                let shopper = try await Shopper(realm, account)
                try await shopper.buy(size, of: Self.product)
                let receipt = Data(try await shopper.receipt()).base64EncodedString()
                requests.append(TakeReceiptRequest(receipt: receipt, account: account))
            }
            receipts.append((size, requests))
        }
        let looker = try await Shopper(realm, "looker")
        let many = Brief.or(300, brief: 5)
        try await looker.buy(many, of: Self.product)
        let sold = try await realm.purchases.listTransactions(
            bundleID: Self.bundleID.value, customer: looker.session.customer.description,
            limit: many)
        let root = try await store.rootCertificate(.sandbox)
        await store.close()
        return Facts(
            setup: BenchLedger.Setup(root: Data(root.der)), key: key,
            transactions: sold.transactions.compactMap(\.payload.transactionId),
            receipts: receipts)
    }

    private static let catalogue = Catalogue(
        products: [BenchStore.season], storefront: "USA", locale: "en_US")
}
