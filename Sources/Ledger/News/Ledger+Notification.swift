// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension Ledger {
    /// Keeps a notification as it is, and books the purchase in it, in one commit.
    /// One that concerns no transaction is only kept. Once this returns, the store
    /// need not send it again.
    ///
    /// Refusals as for a signed transaction, then `notificationInvalid`,
    /// `appIdRefused`, `notificationContradicts`, and at last `certificateRevoked` and
    /// `statusUnknown`. A notification whose purchase contradicts the books is kept
    /// before it is refused.
    public func take(
        _ notification: ResponseBodyV2, requestID: String = ""
    ) async throws -> NotificationTaken {
        let (proven, booked) = try await hear(notification.signedPayload)
        if let booked { tell("took a notification", booked, requestID) }
        return NotificationTaken(
            notificationType: proven.said.notificationType ?? "",
            notificationUUID: proven.said.notificationUUID, purchase: booked?.wire)
    }

    /// What every notification goes through, whether the store sent it or has it in
    /// its history.
    func hear(
        _ payload: String, isFromHistory: Bool = false
    ) async throws -> (Prover.Notification, BookedPurchase?) {
        let now = ports.wall.now
        let proven = try prover.notification(payload, wall: now)
        try await ports.status?.admit(payload, "signedPayload")
        if proven.purchase != nil, let signed = proven.said.data?.signedTransactionInfo {
            try await ports.status?.admit(signed, "signedTransactionInfo")
        }
        let kept = try KeptNotification(
            proven, payload: payload, at: now, isFromHistory: isFromHistory)
        let renewal = try proven.purchase.flatMap { purchase in
            try proven.said.data?.signedRenewalInfo.map {
                try prover.renewal($0, of: purchase, wall: now)
            }
        }
        let booking = proven.purchase.map {
            Booking(
                proven: $0, account: $0.account, recordedAt: now, rules: configuration.grants,
                renewal: renewal, outbox: outbox)
        }
        if let known = try await known(kept, booking) { return (proven, known.purchase) }
        let urls = configuration.forwardsTo
        do {
            let (booked, isNew) = try await commit { writing -> (BookedPurchase?, Bool) in
                let booked = try booking?.write(writing)
                let isErased = booked?.account.map(ErasedAccount.isOne) ?? false
                let isNew = try kept.write(
                    writing, refusal: nil, forwardsTo: isErased ? [] : urls,
                    isErased: isErased)
                return (booked, isNew)
            }
            // One that was kept before was not missed.
            if isFromHistory, isNew { figures.countGap() }
            if let booked {
                figures.countTaken()
                if !grantsNothing { news.tell(booked.account, storage) }
            }
            return (proven, booked)
        } catch let refusal as LedgerRefusal {
            try await commit { writing in
                let isErased = try booking?.isErased(writing) ?? false
                try kept.write(
                    writing, refusal: refusal.error.code, forwardsTo: isErased ? [] : urls,
                    isErased: isErased)
            }
            throw refusal
        }
    }

    private struct Known: Sendable {
        let purchase: BookedPurchase?
    }

    /// A repeated notification without news costs no commit. Nil if there is
    /// something to write.
    private func known(
        _ kept: KeptNotification, _ booking: Booking?
    ) async throws -> Known? {
        try await storage.lookUp { reading -> Known? in
            guard let row = try reading.first(Statement.News.find, kept.key),
                try row.optionalText("refusal") == nil
            else { return nil }
            guard let booking else { return Known(purchase: nil) }
            return try booking.written(reading).map { Known(purchase: $0) }
        }
    }
}

extension Booking {
    /// Returns the purchase if the books have all that is proven of it and of the renewal
    /// of its subscription. Nil if there is something to write.
    fileprivate func written(_ reading: any Reading) throws -> BookedPurchase? {
        guard let known = try Self.find(proven.key, reading, at: recordedAt) else { return nil }
        // A period of nobody may go to the account of its subscription by now.
        let claim = try known.account == nil ? holder(reading) : nil
        guard try Taking.decide(known, proven, account: claim) == .nothing,
            try renewal?.isWritten(of: proven, reading) ?? true
        else { return nil }
        return known
    }
}
