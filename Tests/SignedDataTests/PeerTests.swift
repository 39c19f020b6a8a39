// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import StoreWire
import TestSupport
import Testing

/// Apple's own library and an independent one judge what we sign, in Python.
/// Where Python or they are missing these tests fail: `make test` installs
/// them.
@Suite(.timeLimit(.minutes(5))) struct PeerTests {
    private static let appAppleID = 6_700_000_001

    @Test func `others' libraries accept what we sign and refuse what is spoilt`() async throws {
        let python =
            ProcessInfo.processInfo.environment["SHOPKEEPER_PYTHON"]
            ?? Command.packageRoot.appendingPathComponent(".venv/bin/python").path
        try #require(
            FileManager.default.isExecutableFile(atPath: python),
            "no Python with the peers at \(python); run `make test`, which installs it")
        let script = Command.packageRoot.appendingPathComponent("Tests/Peers/signed_data.py").path

        let outcome = try await Command.inFolder { folder in
            try Self.mint(into: folder)
            return try await Command.run(python, [script, folder.path], in: folder)
        }

        try #require(
            outcome.status == 0,
            "the peers did not run; `make test` installs them. \(outcome.errors)")
        let report = try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
        #expect(report.checks.count == 18)
        for check in report.checks where !check.passed {
            Issue.record("\(check.name): \(check.detail)")
        }
    }

    private struct Report: Decodable {
        let checks: [Check]

        struct Check: Decodable {
            let name: String
            let passed: Bool
            let detail: String
        }
    }

    /// Writes what `signed_data.py` reads.
    private static func mint(into folder: URL) throws {
        func write(_ bytes: [UInt8], _ name: String) throws {
            try Data(bytes).write(to: folder.appendingPathComponent(name))
        }
        let sandbox = try Sample.authority()
        let production = try Sample.productionAuthority()
        try write(sandbox.root, "sandbox-root.der")
        try write(production.root, "production-root.der")
        try write(Sample.foreignAuthority().root, "foreign-root.der")
        let transactions = [
            "sandbox": Sample.transaction(),
            "production": Sample.transaction(environment: "Production"),
        ]
        for (name, authority) in [("sandbox", sandbox), ("production", production)] {
            let payload = try #require(transactions[name])
            try write(Array(authority.transactions.sign(payload).utf8), "\(name).jws")
        }
        try write(Sample.receipt(), "receipt-sha256.der")
        try write(Sample.receipt(digest: .sha1), "receipt-sha1.der")
        let facts = Facts(
            bundleId: Sample.bundleID.value, appAppleId: appAppleID,
            device: hexadecimal(Sample.device), transactions: transactions, receipt: .sample)
        try JSONEncoder().encode(facts).write(to: folder.appendingPathComponent("facts.json"))
    }
}

/// What was signed, in the peers' words.
private struct Facts: Encodable {
    let bundleId: String
    let appAppleId: Int
    let device: String
    let transactions: [String: JWSTransactionDecodedPayload]
    let receipt: Receipt

    struct Receipt: Encodable {
        let header: Header
        let purchases: [Purchase]

        static let sample = Receipt(
            header: Header(Sample.header()),
            purchases: [1007, 1008].map { Purchase(Sample.purchase($0)) })
    }

    struct Header: Encodable {
        let receipt_type: String
        let app_item_id: Int64
        let bundle_id: String
        let application_version: String
        let receipt_creation_date_ms: Int64
        let original_purchase_date_ms: Int64
        let original_application_version: String

        init(_ header: ReceiptHeader) {
            receipt_type = header.environment
            app_item_id = header.appItemID
            bundle_id = header.bundleID.value
            application_version = header.appVersion
            receipt_creation_date_ms = header.creationDate.milliseconds
            original_purchase_date_ms = header.originalPurchaseDate.milliseconds
            original_application_version = header.originalAppVersion
        }
    }

    struct Purchase: Encodable {
        let quantity: Int64
        let product_id: String
        let transaction_id: String
        let purchase_date_ms: Int64?
        let original_transaction_id: String?
        let original_purchase_date_ms: Int64?
        let is_trial_period: Bool

        init(_ purchase: ReceiptPurchase) {
            quantity = purchase.quantity
            product_id = purchase.productID.value
            transaction_id = purchase.transactionID
            purchase_date_ms = purchase.purchaseDate?.milliseconds
            original_transaction_id = purchase.originalTransactionID
            original_purchase_date_ms = purchase.originalPurchaseDate?.milliseconds
            is_trial_period = purchase.isTrialPeriod
        }
    }
}
