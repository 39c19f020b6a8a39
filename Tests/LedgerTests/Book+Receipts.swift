// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire

@testable import Ledger

extension Book {
    /// The same purchase as ``payload(_:_:)``, as a receipt has it.
    static func record(
        _ id: Int = 1, quantity: Int64 = 1, product: ProductID = "credits.5",
        type: ReceiptPurchase.ProductType? = .consumable,
        _ change: (inout ReceiptPurchase) -> Void = { _ in }
    ) -> ReceiptPurchase {
        var purchase = ReceiptPurchase(
            quantity: quantity, productID: product,
            transactionID: "\(2_000_000_000_000_000 + id)",
            purchaseDate: now.adding(milliseconds: Int64(id)), type: .consumable)
        purchase.type = type
        change(&purchase)
        return purchase
    }

    /// A receipt in Base64.
    static func receipt(
        _ purchases: [ReceiptPurchase], by authority: CertificateAuthority? = nil,
        bundleID: BundleID = Book.bundleID, environment: String = "ProductionSandbox",
        madeAt: Timestamp = now, appItemID: Int64 = 0
    ) throws -> String {
        var header = ReceiptHeader(
            environment: environment, bundleID: bundleID, appVersion: "1",
            device: Array(repeating: 7, count: 16), opaque: Array(repeating: 9, count: 16),
            creationDate: madeAt)
        header.appItemID = appItemID
        return Base64.encode(
            try (authority ?? sandbox()).receipts.sign(
                header, records: purchases.map { $0.encoded() }))
    }

    @discardableResult
    func take(
        receipt purchases: [ReceiptPurchase], account: String? = "blob",
        by authority: CertificateAuthority? = nil, madeAt: Timestamp = Book.now
    ) async throws -> ReceiptTaken {
        try await ledger.take(
            TakeReceiptRequest(
                receipt: try Self.receipt(purchases, by: authority, madeAt: madeAt),
                account: account))
    }
}
