// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// A redemption or a reservation as a row of the ledger's books.
struct BookedRedemption: Hashable, Sendable {
    /// A unit that was reserved before it was spent.
    struct Reservation: Hashable, Sendable {
        let reservedAt: Timestamp
        let expiresAt: Timestamp
        let releasedAt: Timestamp?
    }

    /// A unit that was spent.
    struct Unit: Hashable, Sendable {
        let number: Int
        let redeemedAt: Timestamp
    }

    /// What has become of a reservation.
    enum State: String, Sendable {
        case held, confirmed, released, expired
    }

    let wish: RedemptionWish
    let key: PurchaseKey
    let productID: String
    let reservation: Reservation?
    let unit: Unit?

    init(
        _ wish: RedemptionWish, of key: PurchaseKey, _ productID: String,
        spent: (unit: Int, at: Timestamp)
    ) {
        self.wish = wish
        self.key = key
        self.productID = productID
        reservation = nil
        unit = Unit(number: spent.unit, redeemedAt: spent.at)
    }

    init(_ wish: RedemptionWish, of purchase: BookedPurchase, reservation: Reservation) {
        self.wish = wish
        key = purchase.key
        productID = purchase.facts.productID
        self.reservation = reservation
        unit = nil
    }

    /// The same reservation, confirmed or released.
    init(_ before: BookedRedemption, reservation: Reservation?, unit: Unit?) {
        wish = before.wish
        key = before.key
        productID = before.productID
        self.reservation = reservation
        self.unit = unit
    }

    init(_ row: Row) throws {
        key = try PurchaseKey(row)
        productID = try row.text("product_id")
        wish = try RedemptionWish(row, environment: key.environment)
        reservation = try row.optionalInteger("reserved_at").map { reservedAt in
            Reservation(
                reservedAt: Timestamp(milliseconds: reservedAt),
                expiresAt: Timestamp(milliseconds: try row.integer("expires_at")),
                releasedAt: try row.optionalInteger("released_at")
                    .map(Timestamp.init(milliseconds:)))
        }
        unit = try row.optionalInteger("unit").map { number in
            Unit(
                number: Int(number),
                redeemedAt: Timestamp(milliseconds: try row.integer("redeemed_at")))
        }
    }

    /// Returns what an account has done with a key.
    static func find(
        _ account: String, _ idempotencyKey: String, _ reading: any Reading
    ) throws -> BookedRedemption? {
        let values: [SQLValue] = [.text(account), .text(idempotencyKey)]
        return try reading.first(Statement.Redemptions.byKey, values).map {
            try BookedRedemption($0)
        }
    }

    /// Nil for a redemption that was never a reservation. A unit is held until the
    /// date of its expiry, and not at that date.
    func state(at now: Timestamp) -> State? {
        guard let reservation else { return nil }
        if unit != nil { return .confirmed }
        if reservation.releasedAt != nil { return .released }
        return now < reservation.expiresAt ? .held : .expired
    }

    /// Nil until a unit is spent.
    var redemption: LedgerRedemption? {
        guard let unit else { return nil }
        return LedgerRedemption(
            account: wish.account, idempotencyKey: wish.idempotencyKey, purpose: wish.purpose,
            rootFingerprint: key.root, environment: key.environment.rawValue,
            bundleId: key.bundleID, productId: productID, transactionId: key.transactionID,
            unit: unit.number, redeemedDate: unit.redeemedAt)
    }

    /// Nil for a redemption that was never a reservation.
    func reservation(at now: Timestamp) -> LedgerReservation? {
        guard let reservation, let state = state(at: now) else { return nil }
        return LedgerReservation(
            account: wish.account, idempotencyKey: wish.idempotencyKey, purpose: wish.purpose,
            rootFingerprint: key.root, environment: key.environment.rawValue,
            bundleId: key.bundleID, productId: productID, transactionId: key.transactionID,
            state: state.rawValue, reservedDate: reservation.reservedAt,
            expiresDate: reservation.expiresAt, redemption: redemption)
    }

    var row: [SQLValue] {
        LedgerSchema.redemptions.row(
            key.columns,
            [
                "account": .text(wish.account), "idempotency_key": .text(wish.idempotencyKey),
                "purpose": .text(wish.purpose),
                "asked_transaction_id": .optional(wish.transactionID),
                "asked_product_id": .optional(wish.productID),
                "product_id": .text(productID),
                "reserved_at": .optional(reservation?.reservedAt.milliseconds),
                "expires_at": .optional(reservation?.expiresAt.milliseconds),
                "released_at": .optional(reservation?.releasedAt?.milliseconds),
                "unit": .optional(unit.map { Int64($0.number) }),
                "redeemed_at": .optional(unit?.redeemedAt.milliseconds),
            ])
    }
}
