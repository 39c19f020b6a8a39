// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension Ledger {
    /// Spends exactly one unit of an account's purchase for a named purpose. A
    /// repeated request with the same key gets the same answer and spends
    /// nothing.
    ///
    /// Refusals, in order: `textInvalid`, `environmentMissing`,
    /// `environmentRefused`, `bundleIdMissing`, `bundleIdRefused`,
    /// `purchaseUnnamed`, `redemptionContradicts` (naming the field),
    /// `purchaseUnknown`, `notRedeemable`, `purchaseRevoked`, `purchaseSpent`.
    public func redeem(
        _ request: RedeemRequest, account: String, requestID: String = ""
    ) async throws -> LedgerRedemption {
        let wish = try wish(request, account: account)
        // A repeated request needs no commit.
        if let told = try await storage.read({ try wish.told($0) }) { return told.wire }
        let now = ports.wall.now
        let (redemption, isNew) = try await storage.write { try wish.fulfil($0, at: now) }
        if isNew { figures.countRedeemed() }
        ports.log(
            "redeemed",
            [
                "requestId": requestID, "transactionId": redemption.key.transactionID,
                "environment": redemption.key.environment.rawValue,
                "unit": "\(redemption.unit)",
            ])
        return redemption.wire
    }

    private func wish(
        _ request: RedeemRequest, account: String
    ) throws(LedgerRefusal) -> RedemptionWish {
        let wish = RedemptionWish(
            account: try Edge.account(account),
            idempotencyKey: try Edge.text(request.idempotencyKey, "idempotencyKey"),
            purpose: try Edge.text(
                request.purpose, "purpose", bytesMax: Edge.purposeBytesMax),
            transactionID: try Edge.optional(request.transactionId, "transactionId"),
            productID: try Edge.optional(request.productId, "productId"),
            environment: try environment(request.environment),
            bundleID: try bundleID(request.bundleId))
        guard wish.transactionID != nil || wish.productID != nil else {
            throw LedgerRefusal(
                .badRequest, code: "purchaseUnnamed", "Which purchase is to be spent?",
                field: "transactionId", rule: "`transactionId`, `productId`, or both",
                remedy: "name the transaction, or the product for its oldest unspent purchase")
        }
        return wish
    }
}

/// A redemption as a row of the ledger's books.
struct BookedRedemption: Hashable, Sendable {
    let wish: RedemptionWish
    let key: PurchaseKey
    let productID: String
    let unit: Int
    let redeemedAt: Timestamp

    init(
        _ wish: RedemptionWish, of purchase: BookedPurchase, unit: Int, redeemedAt: Timestamp
    ) {
        self.wish = wish
        key = purchase.key
        productID = purchase.facts.productID
        self.unit = unit
        self.redeemedAt = redeemedAt
    }

    init(_ row: Row) throws {
        guard let environment = Environment(named: try row.text("environment")) else {
            throw StorageFault(.malformedRow, "a redemption's environment is unknown")
        }
        key = PurchaseKey(
            root: try row.text("root"), environment: environment,
            bundleID: try row.text("bundle_id"), transactionID: try row.text("transaction_id"))
        productID = try row.text("product_id")
        unit = Int(try row.integer("unit"))
        redeemedAt = Timestamp(milliseconds: try row.integer("redeemed_at"))
        wish = RedemptionWish(
            account: try row.text("account"), idempotencyKey: try row.text("idempotency_key"),
            purpose: try row.text("purpose"),
            transactionID: try row.optionalText("asked_transaction_id"),
            productID: try row.optionalText("asked_product_id"), environment: environment,
            bundleID: key.bundleID)
    }

    var wire: LedgerRedemption {
        LedgerRedemption(
            account: wish.account, idempotencyKey: wish.idempotencyKey, purpose: wish.purpose,
            rootFingerprint: key.root, environment: key.environment.rawValue,
            bundleId: key.bundleID, productId: productID, transactionId: key.transactionID,
            unit: unit, redeemedDate: redeemedAt)
    }

    var row: [SQLValue] {
        LedgerSchema.redemptions.row(
            key.columns,
            [
                "account": .text(wish.account), "idempotency_key": .text(wish.idempotencyKey),
                "purpose": .text(wish.purpose),
                "asked_transaction_id": .optional(wish.transactionID),
                "asked_product_id": .optional(wish.productID),
                "product_id": .text(productID), "unit": .integer(Int64(unit)),
                "redeemed_at": .integer(redeemedAt.milliseconds),
            ])
    }
}

/// A request to spend a unit, in checked values.
struct RedemptionWish: Hashable, Sendable {
    let account: String
    let idempotencyKey: String
    let purpose: String
    let transactionID: String?
    let productID: String?
    let environment: Environment
    let bundleID: String

    /// Returns the first field in which two wishes with the same key differ.
    /// Nil if they are equal.
    func difference(from other: RedemptionWish) -> String? {
        if !purpose.isSame(as: other.purpose) { return "purpose" }
        if !transactionID.isSame(as: other.transactionID) { return "transactionId" }
        if !productID.isSame(as: other.productID) { return "productId" }
        if environment != other.environment { return "environment" }
        return bundleID.isSame(as: other.bundleID) ? nil : "bundleId"
    }

    /// Returns the redemption that was made with this key, if there is one.
    /// Refusal: `redemptionContradicts`.
    func told(_ reading: any Reading) throws -> BookedRedemption? {
        let values: [SQLValue] = [.text(account), .text(idempotencyKey)]
        guard let row = try reading.first(Statement.Redemptions.byKey, values) else { return nil }
        let told = try BookedRedemption(row)
        guard let field = difference(from: told.wish) else { return told }
        throw LedgerRefusal(
            .conflict, code: "redemptionContradicts",
            "This key was used for a redemption with another \(field).", field: field,
            rule: "one idempotency key is one redemption",
            remedy: "send what was sent before, or a new key for a new redemption")
    }

    /// Runs in a commit, possibly twice: locks the account's line, checks for
    /// the redemption, then spends one unit with a conditional statement.
    func fulfil(
        _ writing: any Writing, at now: Timestamp
    ) throws -> (BookedRedemption, isNew: Bool) {
        guard let line = try writing.first(Statement.Accounts.takeKnownLine, [.text(account)])
        else { throw unknown }
        if let told = try told(writing) { return (told, isNew: false) }
        let values: [SQLValue] = [
            .text(account), .text(environment.rawValue), .text(bundleID),
            .optional(transactionID), .optional(productID),
        ]
        guard let row = try writing.first(Statement.Booked.candidates, values) else {
            throw unknown
        }
        let purchase = try BookedPurchase(row)
        if let reason = purchase.unspendable { throw refusal(reason) }
        let spending =
            purchase.key.values + [.text(account), .integer(try line.integer("revision"))]
        guard let spent = try writing.first(Statement.Booked.spend, spending) else {
            throw refusal(.spent)
        }
        let redemption = BookedRedemption(
            self, of: purchase, unit: Int(try spent.integer("spent")), redeemedAt: now)
        try writing.execute(Statement.Redemptions.insert, redemption.row)
        return (redemption, isNew: true)
    }

    private var field: String { transactionID == nil ? "productId" : "transactionId" }

    private var unknown: LedgerRefusal {
        LedgerRefusal(
            .notFound, code: "purchaseUnknown",
            "This account has no such purchase in \(environment).", field: field,
            rule: "a purchase of the account, of this app and environment",
            remedy: "submit its signed transaction first")
    }

    private func refusal(_ reason: BookedPurchase.Unspendable) -> LedgerRefusal {
        switch reason {
        case .notRedeemable:
            LedgerRefusal(
                .conflict, code: "notRedeemable", "Units of this kind of product cannot be spent.",
                field: field, rule: BookedFacts.redeemableTypes.joined(separator: " or "),
                remedy: "what is owned or subscribed to needs no redemption")
        case .revoked:
            LedgerRefusal(
                .conflict, code: "purchaseRevoked", "The store has revoked this purchase.",
                field: field, rule: "a revoked purchase is not redeemed",
                remedy: "redeem another purchase")
        case .spent:
            LedgerRefusal(
                .conflict, code: "purchaseSpent", "Every unit of this purchase is spent.",
                field: field, rule: "each unit is spent once",
                remedy: "redeem another purchase")
        }
    }
}
