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
    var revocationType: RevocationType?
    /// Of the price, in thousandths of a percent, if it was refunded in part.
    var revocationPercentage: Int?
    /// The customer's revision in which it last changed.
    var revision: Int64
    /// The commercial time of ``revision``.
    var changedAt: Timestamp
    /// What a subscription's period has besides. Nil for other products.
    var period: PeriodFacts?

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
        payload.revocationType = revocationType?.rawValue
        payload.revocationPercentage = revocationPercentage
        payload.environment = environment.rawValue
        payload.storefront = storefront
        payload.storefrontId = Storefront.named(storefront)?.id
        payload.transactionReason = reason.wireName
        payload.price = total.amount.milliunits
        payload.currency = total.currency.code
        payload.appTransactionId = String(appTransactionID)
        if let period { state(period, in: &payload) }
        return payload
    }

    private func state(
        _ period: PeriodFacts, in payload: inout JWSTransactionDecodedPayload
    ) {
        payload.webOrderLineItemId = String(webOrderLineItemID)
        payload.subscriptionGroupIdentifier = period.groupID
        payload.expiresDate = period.expiresAt
        payload.isUpgraded = period.isUpgraded ? true : nil
        if let commitment = period.commitment {
            var info = TransactionCommitmentInfo()
            info.billingPeriodNumber = commitment.number
            info.totalBillingPeriods = commitment.periods
            info.commitmentPrice = commitment.price.amount.milliunits
            info.commitmentExpiresDate = commitment.endsAt
            payload.commitmentInfo = info
            payload.billingPlanType = BillingPlan.Kind.monthly.rawValue
        }
        guard let offer = period.offer else { return }
        payload.offerType = offer.kind.wireNumber
        payload.offerIdentifier = offer.id
        payload.offerDiscountType = offer.mode.wireName
        payload.offerPeriod = offer.period.description
    }

    /// The number of the period in an order. One order has one transaction, so the
    /// two numbers differ in their first digit only.
    var webOrderLineItemID: Int64 { id.value - 1_000_000_000_000_000 }

    /// The transaction's part of a receipt, in DER.
    var record: [UInt8] {
        var purchase = ReceiptPurchase(
            quantity: Int64(quantity), productID: productID, transactionID: id.description,
            purchaseDate: purchasedAt, type: type.inReceipts)
        purchase.originalTransactionID = originalID.description
        purchase.originalPurchaseDate = originalPurchasedAt
        purchase.cancellationDate = revokedAt
        purchase.cancellationReason = revokedAt == nil ? nil : revocationReason.map(Int64.init)
        if let period {
            purchase.expiresDate = period.expiresAt
            purchase.webOrderLineItemID = webOrderLineItemID
            purchase.isTrialPeriod = period.offer?.mode == .free
            purchase.isInIntroOfferPeriod =
                period.offer?.kind == .introductory && period.offer?.mode != .free
            purchase.promotionalOfferID =
                period.offer?.kind == .promotional ? period.offer?.id : nil
        }
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
            "revision": .integer(revision), "changed_at": .integer(changedAt.milliseconds),
            "group_id": .optional(period?.groupID), "expires_at": .optional(period?.expiresAt),
            "offer": .optional(period?.storedOffer),
            "commitment": .optional(period?.storedCommitment),
            "is_upgraded": .boolean(period?.isUpgraded ?? false), "record": .blob(record),
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
            revocationType: try row.optionalText("revocation_type").flatMap(RevocationType.init),
            revocationPercentage: try row.optionalInteger("revocation_percentage").map(Int.init),
            revision: try row.integer("revision"),
            changedAt: Timestamp(milliseconds: try row.integer("changed_at")),
            period: try PeriodFacts(row))
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

extension Realm {
    /// Signs a transaction again, dated now.
    func sign(_ facts: TransactionFacts, at now: Timestamp) throws -> String {
        try sign(facts.payload(environment: description.environment, signedAt: now))
    }

    func sign(_ payload: JWSTransactionDecodedPayload) throws -> String {
        ports.log(.debug, "transaction signed")
        return try authority.transactions.sign(payload)
    }
}
