// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// Redemption in two steps, for an effect outside the ledger's database: reserve a
/// unit, bring about the effect, then confirm or release. A reservation that is
/// neither ends by itself at its expiry.
extension Ledger {
    /// The longest that a unit is held, in seconds: a month.
    static let reservationSecondsMax = 31 * 86_400
    /// How long a unit is held if the request does not say.
    static let reservationSeconds = 900

    /// Reserves exactly one unit of an account's purchase. Until the reservation
    /// ends, the unit is neither listed as unspent nor spent under another key. A
    /// repeated request with the same key gets the state of the same reservation.
    ///
    /// Refusals, in order: those of a redemption up to `purchaseUnnamed`,
    /// `secondsInvalid`, `redemptionContradicts`, `keyRedeemed`, then as for a
    /// redemption from `purchaseUnknown` on.
    public func reserve(
        _ request: ReserveRequest, account: String, requestID: String = ""
    ) async throws -> LedgerReservation {
        let wish = try RedemptionWish(
            account: account, idempotencyKey: request.idempotencyKey,
            purpose: request.purpose, transactionID: request.transactionId,
            productID: request.productId, environment: environment(request.environment),
            bundleID: bundleID(request.bundleId))
        let seconds = request.seconds ?? Self.reservationSeconds
        guard (1...Self.reservationSecondsMax).contains(seconds) else {
            throw LedgerRefusal(
                .badRequest, code: "secondsInvalid", "A unit cannot be held that long.",
                field: "seconds", rule: "1 to \(Self.reservationSecondsMax)",
                remedy: "leave it out for \(Self.reservationSeconds)")
        }
        let now = ports.wall.now
        if let told = try await storage.lookUp({ try wish.reserved($0, at: now) }) { return told }
        let reservation = BookedRedemption.Reservation(
            reservedAt: now, expiresAt: now.adding(seconds: Int64(seconds)), releasedAt: nil)
        let note = note(.reserved, account: wish.account, wish.idempotencyKey)
        let held = try await storage.write { writing in
            let held = try wish.reserve(writing, reservation)
            try note?.write(writing)
            return held
        }
        tell("reserved", held, requestID)
        return held
    }

    /// Spends the unit of a reservation. A repeat returns the same redemption.
    ///
    /// A unit that is held is spent even if the store has revoked the purchase since,
    /// because its effect may have happened. After the expiry, one is spent if the
    /// purchase still has one and has granted nothing. Refusals, in order: `textInvalid`,
    /// `reservationUnknown`, `reservationReleased`, `reservationExpired`.
    public func confirm(
        reservation idempotencyKey: String, account: String, requestID: String = ""
    ) async throws -> LedgerRedemption {
        let end = try ReservationEnd(account, idempotencyKey)
        let now = ports.wall.now
        if let done = try await storage.lookUp({ try end.find($0) }).redemption { return done }
        let outbox = outbox
        let note = note(.confirmed, account: end.account, end.idempotencyKey)
        let (redemption, isNew) = try await commit { writing in
            let confirmed = try end.confirm(writing, at: now)
            if confirmed.isNew {
                try note?.write(writing)
                try outbox.post(
                    .unitRedeemed, account: end.account, confirmed.redemption, at: now, writing)
            }
            return confirmed
        }
        if isNew { figures.countRedeemed() }
        tell(redemption, requestID)
        return redemption
    }

    /// Gives the unit of a reservation back. A repeat changes nothing. Refusals, in
    /// order: `textInvalid`, `reservationUnknown`, `reservationConfirmed`.
    public func release(
        reservation idempotencyKey: String, account: String, requestID: String = ""
    ) async throws -> LedgerReservation {
        let end = try ReservationEnd(account, idempotencyKey)
        let now = ports.wall.now
        let note = note(.released, account: end.account, end.idempotencyKey)
        let released = try await storage.write { writing in
            let released = try end.release(writing, at: now)
            try note?.write(writing)
            return released
        }
        tell("released", released, requestID)
        return released
    }

    private func tell(_ message: String, _ reservation: LedgerReservation, _ requestID: String) {
        ports.log(
            message,
            [
                "requestId": requestID, "transactionId": reservation.transactionId,
                "environment": reservation.environment,
            ])
    }
}

extension RedemptionWish {
    /// Returns the reservation that was made with this key, if there is one.
    /// Refusals: `redemptionContradicts`, `keyRedeemed`.
    fileprivate func reserved(
        _ reading: any Reading, at now: Timestamp
    ) throws -> LedgerReservation? {
        guard let told = try told(reading) else { return nil }
        guard let reservation = told.reservation(at: now) else {
            throw LedgerRefusal(
                .conflict, code: "keyRedeemed", "This key has spent a unit already.",
                field: "idempotencyKey", rule: "one idempotency key is one redemption",
                remedy: "reserve under a new key, if another unit is meant")
        }
        return reservation
    }

    /// Runs in a commit, possibly twice, like a redemption.
    fileprivate func reserve(
        _ writing: any Writing, _ reservation: BookedRedemption.Reservation
    ) throws -> LedgerReservation {
        let now = reservation.reservedAt
        let revision = try lockLine(writing)
        if let told = try reserved(writing, at: now) { return told }
        let purchase = try candidate(writing, at: now)
        let holding =
            purchase.key.values + [
                .text(account), .integer(revision), .integer(now.milliseconds),
            ]
        guard try writing.first(Statement.Booked.hold, holding) != nil else {
            throw refusal(.reserved)
        }
        let held = BookedRedemption(self, of: purchase, reservation: reservation)
        try writing.execute(Statement.Redemptions.insert, held.row)
        return try held.told(at: now)
    }
}

extension BookedRedemption {
    fileprivate func told(at now: Timestamp) throws -> LedgerReservation {
        guard let wire = reservation(at: now) else {
            throw StorageFault(.malformedRow, "a reservation has no end")
        }
        return wire
    }
}

/// The end of a reservation: confirmed or released.
private struct ReservationEnd: Sendable {
    let account: String
    let idempotencyKey: String

    init(_ account: String, _ idempotencyKey: String) throws(LedgerRefusal) {
        self.account = try Edge.account(account)
        self.idempotencyKey = try Edge.text(idempotencyKey, "idempotencyKey")
    }

    func find(_ reading: any Reading) throws -> BookedRedemption {
        let found = try BookedRedemption.find(account, idempotencyKey, reading)
        guard let found, found.reservation != nil else {
            throw LedgerRefusal(
                .notFound, code: "reservationUnknown",
                "This account has no reservation with this key.", field: "idempotencyKey",
                rule: "the key of a reservation", remedy: "reserve first")
        }
        return found
    }

    func confirm(
        _ writing: any Writing, at now: Timestamp
    ) throws -> (redemption: LedgerRedemption, isNew: Bool) {
        let revision = try lock(writing)
        let found = try find(writing)
        if let done = found.redemption { return (done, isNew: false) }
        let spending = found.key.values + [.text(account), .integer(revision)]
        let spent: Row?
        switch found.state(at: now) {
        case .released:
            throw ended("reservationReleased", "This reservation was released.")
        case .held:
            let end = found.reservation?.expiresAt ?? now
            spent = try writing.first(
                Statement.Booked.spendHeld,
                spending + [.integer(now.milliseconds), .integer(end.milliseconds)])
        default:
            spent = try writing.first(
                Statement.Booked.spend, spending + [.integer(now.milliseconds)])
        }
        guard let spent else {
            throw ended("reservationExpired", "This reservation has expired.")
        }
        let unit = try spent.integer("spent")
        let values: [SQLValue] = [
            .text(account), .text(idempotencyKey), .integer(unit), .integer(now.milliseconds),
        ]
        guard try writing.first(Statement.Redemptions.confirm, values) != nil else {
            throw StorageFault(.busy, "a reservation ended while it was confirmed")
        }
        let confirmed = BookedRedemption(
            found, reservation: found.reservation,
            unit: BookedRedemption.Unit(number: Int(unit), redeemedAt: now))
        guard let redemption = confirmed.redemption else {
            throw StorageFault(.malformedRow, "a redemption has no unit")
        }
        return (redemption, isNew: true)
    }

    func release(_ writing: any Writing, at now: Timestamp) throws -> LedgerReservation {
        let revision = try lock(writing)
        let found = try find(writing)
        guard found.unit == nil, let reservation = found.reservation else {
            throw ended("reservationConfirmed", "The unit of this reservation is spent.")
        }
        guard reservation.releasedAt == nil else { return try found.told(at: now) }
        let values: [SQLValue] = [
            .text(account), .text(idempotencyKey), .integer(now.milliseconds),
        ]
        guard try writing.first(Statement.Redemptions.release, values) != nil else {
            throw StorageFault(.busy, "a reservation ended while it was released")
        }
        try writing.execute(
            Statement.Booked.giveBack, found.key.values + [.text(account), .integer(revision)])
        let released = BookedRedemption(
            found,
            reservation: BookedRedemption.Reservation(
                reservedAt: reservation.reservedAt, expiresAt: reservation.expiresAt,
                releasedAt: now), unit: nil)
        return try released.told(at: now)
    }

    private func lock(_ writing: any Writing) throws -> Int64 {
        let line = try writing.first(Statement.Accounts.takeKnownLine, [.text(account)])
        // An account without a line has no reservation either.
        return try line?.integer("revision") ?? 0
    }

    private func ended(_ code: String, _ message: String) -> LedgerRefusal {
        LedgerRefusal(
            .conflict, code: code, message, field: "idempotencyKey",
            rule: "a reservation ends once: confirmed, released, or by its expiry when no "
                + "unit is left",
            remedy: "reserve again under a new key")
    }
}
