// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire

/// A transaction as its row contains it.
struct TransactionFacts: Sendable {
    let customer: CustomerID
    let id: TransactionID
    let originalID: TransactionID
    let bundleID: BundleID
    let productID: ProductID
    let type: ProductType
    let quantity: Int
    let unitPrice: Amount
    /// The price of the whole quantity.
    let total: Money
    /// Alpha-3 code.
    let storefront: String
    let reason: TransactionReason
    let ownership: Ownership
    let appAccountToken: String?
    let appTransactionID: Int64
    let purchaseID: PurchaseID?
    let purchasedAt: Timestamp
    let originalPurchasedAt: Timestamp
    var finishedAt: Timestamp?
    var revokedAt: Timestamp?
    var revocationReason: Int?
    /// The customer's revision in which it last changed.
    var revision: Int64

    /// Returns the payload to sign. Absent facts are left out.
    func payload(environment: Environment, signedAt: Timestamp) -> JWSTransactionDecodedPayload {
        var payload = JWSTransactionDecodedPayload()
        payload.transactionId = id.description
        payload.originalTransactionId = originalID.description
        payload.bundleId = bundleID.value
        payload.productId = productID.value
        payload.purchaseDate = purchasedAt
        payload.originalPurchaseDate = originalPurchasedAt
        payload.quantity = quantity
        payload.type = type.name
        payload.appAccountToken = appAccountToken
        payload.inAppOwnershipType = ownership.wireName
        payload.signedDate = signedAt
        payload.revocationDate = revokedAt
        payload.revocationReason = revokedAt == nil ? nil : revocationReason
        payload.environment = environment.rawValue
        payload.storefront = storefront
        payload.storefrontId = Storefront.named(storefront)?.id
        payload.transactionReason = reason.wireName
        payload.price = total.amount.milliunits
        payload.currency = total.currency.code
        payload.appTransactionId = String(appTransactionID)
        return payload
    }

    /// The transaction's part of a receipt, in DER.
    var record: [UInt8] {
        var purchase = ReceiptPurchase(
            quantity: Int64(quantity), productID: productID, transactionID: id.description,
            purchaseDate: purchasedAt, type: type.inReceipts)
        purchase.originalTransactionID = originalID.description
        purchase.originalPurchaseDate = originalPurchasedAt
        purchase.cancellationDate = revokedAt
        purchase.cancellationReason = revokedAt == nil ? nil : revocationReason.map(Int64.init)
        return purchase.encoded()
    }

    /// The row of a new transaction.
    var row: [SQLValue] {
        RealmSchema.transactions.row([
            "customer_id": .integer(customer.value), "transaction_id": .integer(id.value),
            "original_transaction_id": .integer(originalID.value),
            "bundle_id": .text(bundleID.value), "product_id": .text(productID.value),
            "product_type": .text(type.rawValue), "quantity": .integer(Int64(quantity)),
            "unit_price": .integer(unitPrice.milliunits),
            "total_price": .integer(total.amount.milliunits),
            "currency": .text(total.currency.code), "storefront": .text(storefront),
            "reason": .text(reason.rawValue), "ownership": .text(ownership.rawValue),
            "app_account_token": .optional(appAccountToken),
            "app_transaction_id": .integer(appTransactionID),
            "purchase_id": .optional(purchaseID?.value),
            "purchased_at": .integer(purchasedAt.milliseconds),
            "original_purchased_at": .integer(originalPurchasedAt.milliseconds),
            "revision": .integer(revision), "changed_at": .integer(purchasedAt.milliseconds),
            "record": .blob(record),
        ])
    }
}

extension TransactionFacts {
    init(row: Row) throws {
        func date(_ column: String) throws -> Timestamp? {
            try row.optionalInteger(column).map(Timestamp.init(milliseconds:))
        }
        guard let type = ProductType(rawValue: try row.text("product_type")),
            let currency = Currency(code: try row.text("currency")),
            let reason = TransactionReason(rawValue: try row.text("reason")),
            let ownership = Ownership(rawValue: try row.text("ownership")),
            let purchasedAt = try date("purchased_at"),
            let originalPurchasedAt = try date("original_purchased_at")
        else { throw StorageFault(.malformedRow, "a transaction that cannot be read") }
        self.init(
            customer: CustomerID(try row.integer("customer_id")),
            id: TransactionID(try row.integer("transaction_id")),
            originalID: TransactionID(try row.integer("original_transaction_id")),
            bundleID: BundleID(try row.text("bundle_id")),
            productID: ProductID(try row.text("product_id")), type: type,
            quantity: Int(try row.integer("quantity")),
            unitPrice: Amount(milliunits: try row.integer("unit_price")),
            total: Money(Amount(milliunits: try row.integer("total_price")), currency),
            storefront: try row.text("storefront"), reason: reason, ownership: ownership,
            appAccountToken: try row.optionalText("app_account_token"),
            appTransactionID: try row.integer("app_transaction_id"),
            purchaseID: try row.optionalText("purchase_id").map { PurchaseID($0) },
            purchasedAt: purchasedAt, originalPurchasedAt: originalPurchasedAt,
            finishedAt: try date("finished_at"), revokedAt: try date("revoked_at"),
            revocationReason: try row.optionalInteger("revocation_reason").map(Int.init),
            revision: try row.integer("revision"))
    }
}

extension TransactionReason {
    /// The name in signed transactions.
    var wireName: String {
        switch self {
        case .purchase: "PURCHASE"
        case .renewal: "RENEWAL"
        }
    }
}

extension Ownership {
    /// The name in signed transactions.
    var wireName: String {
        switch self {
        case .purchased: "PURCHASED"
        case .familyShared: "FAMILY_SHARED"
        }
    }
}

extension ProductType {
    /// The type's number in receipts.
    fileprivate var inReceipts: ReceiptPurchase.ProductType {
        switch self {
        case .consumable: .consumable
        case .nonConsumable: .nonConsumable
        case .autoRenewable: .autoRenewable
        case .nonRenewing: .nonRenewing
        }
    }
}

extension PurchaseRoom {
    /// Signs a transaction again, dated now.
    func sign(_ facts: TransactionFacts, at now: Timestamp) throws -> String {
        try sign(facts.payload(environment: realm.description.environment, signedAt: now))
    }

    func sign(_ payload: JWSTransactionDecodedPayload) throws -> String {
        realm.ports.log(.debug, "transaction signed")
        return try realm.authority.transactions.sign(payload)
    }
}
