// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// Identifies a purchase: the root that proved it, the environment, the app,
/// and the transaction's number.
struct PurchaseKey: Hashable, Sendable {
    let root: String
    let environment: Environment
    let bundleID: String
    let transactionID: String
}

extension PurchaseKey {
    init(_ row: Row) throws {
        let word = try row.text("environment")
        guard let environment = Environment(named: word) else {
            throw StorageFault(.malformedRow, "environment is \(word)")
        }
        self.init(
            root: try row.text("root"), environment: environment,
            bundleID: try row.text("bundle_id"), transactionID: try row.text("transaction_id"))
    }
}

/// The facts of a purchase that never change.
struct BookedFacts: Hashable, Sendable {
    let productID: String
    let type: String
    let quantity: Int
    let purchasedAt: Timestamp
    let originalTransactionID: String
    /// Missing in older signed data. Compared only if both have it.
    let price: Int64?
    let currency: String?
    /// Whether they are known from an app receipt alone: without a price, and
    /// with dates in whole seconds.
    var isFromReceipt = false

    /// The most units of a transaction, many times what a store sells at once.
    static let quantityMax = 10_000

    /// Whether its units can be spent. Other types are owned or subscribed to.
    var isRedeemable: Bool { Self.redeemableTypes.contains(type) }

    /// The type of what renews.
    static let subscription = "Auto-Renewable Subscription"
    static let redeemableTypes = ["Consumable", "Non-Renewing Subscription"]

    /// Returns the first field in which two proofs of one purchase differ. Nil
    /// if they agree.
    func difference(from other: BookedFacts) -> String? {
        if !productID.isSame(as: other.productID) { return "productId" }
        if !type.isSame(as: other.type) { return "type" }
        if quantity != other.quantity { return "quantity" }
        guard isSameDate(as: other) else { return "purchaseDate" }
        guard originalTransactionID.isSame(as: other.originalTransactionID) else {
            return "originalTransactionId"
        }
        if let price, let otherPrice = other.price, price != otherPrice { return "price" }
        if let currency, let otherCurrency = other.currency, !currency.isSame(as: otherCurrency) {
            return "currency"
        }
        return nil
    }
}

extension BookedFacts {
    /// Receipts have dates in whole seconds.
    private func isSameDate(as other: BookedFacts) -> Bool {
        guard isFromReceipt || other.isFromReceipt else {
            return purchasedAt == other.purchasedAt
        }
        return Self.second(purchasedAt) == Self.second(other.purchasedAt)
    }

    private static func second(_ instant: Timestamp) -> Int64 {
        let rest = instant.milliseconds % 1000
        return instant.milliseconds - (rest < 0 ? rest + 1000 : rest)
    }

    /// Returns what another proof of the same purchase adds to these facts. Nil if
    /// it adds nothing. The result does not depend on which proof came first.
    func refined(by other: BookedFacts) -> BookedFacts? {
        isFromReceipt && !other.isFromReceipt ? other : nil
    }
}

/// Whether and when a purchase was revoked, as signed at some date. Proofs
/// arrive in any order and more than once. The result does not depend on the
/// order.
struct PurchaseFate: Hashable, Sendable {
    /// When it was signed.
    let signedAt: Timestamp
    let revokedAt: Timestamp?
    let revocationReason: Int?
    /// The end of a subscription's period. The store may sign a later one.
    var expiresAt: Timestamp?
    /// Whether the rest of the period was replaced by a higher subscription.
    var isUpgraded = false
    /// Whether the store has sent it to report that a refund was taken back. Then it is
    /// not revoked, and later than a refund of the same date.
    var takesRefundBack = false

    /// The newest proof wins. A store whose clock stands signs several with one date. Of
    /// these the one that takes a refund back wins, because a refund comes before it;
    /// then the one that takes more away: revoked before not revoked, then the earlier
    /// date, then the higher reason. With it go the latest end of a period and an
    /// upgrade, which the store does not take back.
    func merged(with other: PurchaseFate) -> PurchaseFate {
        if signedAt != other.signedAt { return signedAt > other.signedAt ? self : other }
        var merged = isStronger(than: other) ? self : other
        merged.expiresAt = [expiresAt, other.expiresAt].compactMap(\.self).max()
        merged.isUpgraded = isUpgraded || other.isUpgraded
        return merged
    }

    /// Which of two proofs with one date says whether the purchase is revoked.
    private func isStronger(than other: PurchaseFate) -> Bool {
        if takesRefundBack != other.takesRefundBack { return takesRefundBack }
        switch (revokedAt, other.revokedAt) {
        case (nil, .some): return false
        case (.some, nil): return true
        case (let mine?, let theirs?) where mine != theirs: return mine < theirs
        default: return revocationReason ?? -1 > other.revocationReason ?? -1
        }
    }
}

/// A purchase that a trusted root has signed for an accepted app.
struct ProvenPurchase: Hashable, Sendable {
    let key: PurchaseKey
    let facts: BookedFacts
    var fate: PurchaseFate
    /// The app account token. In lower case if it is a UUID.
    let account: String?

    /// Reads the facts from a verified payload. Rejects a payload that lacks a
    /// required fact.
    init(
        _ payload: JWSTransactionDecodedPayload, root: String, environment: Environment,
        bundleID: String
    ) throws(LedgerRefusal) {
        key = PurchaseKey(
            root: root, environment: environment, bundleID: bundleID,
            transactionID: try Self.text(payload.transactionId, "transactionId"))
        let quantity = payload.quantity ?? 1
        guard (1...BookedFacts.quantityMax).contains(quantity) else {
            throw Self.incomplete("quantity", "1 to \(BookedFacts.quantityMax)")
        }
        guard let purchasedAt = payload.purchaseDate else {
            throw Self.incomplete("purchaseDate", "an instant")
        }
        guard let signedAt = payload.signedDate else {
            throw Self.incomplete("signedDate", "an instant")
        }
        facts = BookedFacts(
            productID: try Self.text(payload.productId, "productId"),
            type: try Self.text(payload.type, "type"), quantity: quantity,
            purchasedAt: purchasedAt,
            originalTransactionID: try Self.text(
                payload.originalTransactionId ?? payload.transactionId, "originalTransactionId"),
            price: payload.price, currency: try Edge.optional(payload.currency, "currency"))
        fate = PurchaseFate(
            signedAt: signedAt, revokedAt: payload.revocationDate,
            revocationReason: payload.revocationReason, expiresAt: payload.expiresDate,
            isUpgraded: payload.isUpgraded ?? false)
        // Apple's empty token counts as none.
        let token = payload.appAccountToken.flatMap { $0.isEmpty ? nil : $0 }
        account = try token.map { value throws(LedgerRefusal) in
            try Edge.account(value, "appAccountToken")
        }
    }

    /// The same purchase, as a notification of a type proves it.
    func reported(by type: String) -> ProvenPurchase {
        guard type == "REFUND_REVERSED", fate.revokedAt == nil else { return self }
        var reported = self
        reported.fate.takesRefundBack = true
        return reported
    }

    static func text(
        _ value: String?, _ field: String
    ) throws(LedgerRefusal) -> String {
        guard let value else { throw incomplete(field, "1 to \(Edge.textBytesMax) bytes") }
        return try Edge.text(value, field)
    }

    static func incomplete(_ field: String, _ rule: String) -> LedgerRefusal {
        LedgerRefusal(
            .badRequest, code: "transactionIncomplete",
            "A required field of the transaction is missing or invalid.", field: field,
            rule: rule, remedy: "submit the transaction as the store signed it")
    }
}
