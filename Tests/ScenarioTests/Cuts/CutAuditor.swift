// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import PurchaseKitTesting
import Shop
import SignedData
import Storage
import StoreWire
import Synchronization

/// Reads the store's tables, the processor's book, the device's disk and what
/// the app was told, and compares them.
extension CutRun {
    struct Sold: Sendable {
        var id: String
        var isFinished: Bool
    }

    private static let transactions = Statement(
        "audit.transactions", "SELECT transaction_id, finished_at FROM transactions")
    private static let unsettled = Statement(
        "audit.unsettled",
        """
        SELECT purchase_id FROM purchases
        WHERE state IN ('asked', 'authorising', 'waiting') OR void_owed_at IS NOT NULL
        """)

    /// What the realm's tables hold.
    func sold() async throws -> [Sold] {
        try await store.database().read { reading in
            try reading.query(Self.transactions, []).map { row in
                Sold(
                    id: String(try row.integer("transaction_id")),
                    isFinished: try row.optionalInteger("finished_at") != nil)
            }
        }
    }

    func audit() async throws {
        try await store.live().realm.keeping.workOnce()
        let sold = try await sold()
        let heard = Set(delivered.withLock { $0 })
        let due = disk.isConfirmed ? 1 : 0
        if sold.count != due { complain("\(sold.count) transactions, and \(due) were due") }
        if heard != Set(sold.map(\.id)) { complain("the app heard \(heard) of \(sold.map(\.id))") }
        if let charges = processor?.charges, charges != sold.count {
            complain("\(charges) charges for \(sold.count) transactions")
        }
        if let captures = processor?.captures, captures != sold.count {
            complain("\(captures) sums taken for \(sold.count) transactions")
        }
        let unsettled = try await store.database().read { try $0.query(Self.unsettled, []).count }
        if unsettled > 0 { complain("\(unsettled) purchases hang") }
        if sold.contains(where: { !$0.isFinished }) { complain("a finish was not told") }
        try await checkQuiet(after: heard)
        if product == "pro" {
            for transaction in sold { try await checkReceipt(holds: transaction.id) }
        }
    }

    /// What was finished is not delivered again.
    private func checkQuiet(after heard: Set<String>) async throws {
        let count = delivered.withLock { $0.count }
        do {
            let app = try await restart()
            if !app.open.isEmpty || delivered.withLock({ $0.count }) != count {
                complain("delivered again after the finish")
            }
        } catch is Bell.NothingHappened {
            complain("nothing is quiet after the end")
        }
    }

    func checkReceipt(holds id: String) async throws {
        let store = try await store.live().store
        let root = try await store.rootCertificate(.sandbox).der
        guard let bytes = disk.read("sandboxReceipt"),
            let receipt = try? ReceiptVerifier(roots: [root])
                .verify(bytes, bundleID: Goods.bundleID)
        else { return complain("no receipt that verifies") }
        if !receipt.purchases.contains(where: { $0.transactionID == id }) {
            complain("the receipt does not hold \(id)")
        }
    }
}
