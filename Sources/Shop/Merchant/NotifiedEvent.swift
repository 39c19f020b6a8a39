// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire

/// The event that a notification by hand reports. It adds to the signed payloads what
/// the event itself would have changed, so that they have the fields of a notification
/// that the event causes. Nothing is stored.
struct NotifiedEvent {
    let type: String
    let subtype: String?
    let now: Timestamp

    private let isInvented: Bool

    static let offerID = "com.example.offer"
    /// What an invented product for the next period has behind the id of the present one.
    static let nextSuffix = ".next"
    private static let graceDays: Int64 = 16

    init(_ request: SignNotificationRequest, at now: Timestamp) {
        (type, subtype, self.now) = (request.notificationType, request.subtype, now)
        isInvented = request.transactionId == nil
    }

    /// Whether the last period has ended.
    var hasEnded: Bool { isUnpaid || type == "EXPIRED" }

    /// Whether the renewal could not be charged. For that reason an invented extension
    /// fails.
    private var isUnpaid: Bool {
        ["DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED"].contains(type)
            || isInvented && type == NotificationKind.renewalExtension && subtype == "FAILURE"
    }
    private var hasGrace: Bool { type == "DID_FAIL_TO_RENEW" && subtype == "GRACE_PERIOD" }
    private var isRevocation: Bool { ["REFUND", NotificationKind.revoke].contains(type) }

    /// Whether the customer has chosen another product for the next period.
    var choosesNext: Bool {
        ["DID_CHANGE_RENEWAL_PREF", "OFFER_REDEEMED"].contains(type) && subtype == "DOWNGRADE"
    }

    /// Whether an offer applies to the next period. The other types that redeem one
    /// sell a period with it.
    private var redeemsLater: Bool {
        type == "OFFER_REDEEMED" && (subtype == nil || choosesNext)
    }

    /// Changes the payload of the transaction.
    func mark(_ payload: inout JWSTransactionDecodedPayload) {
        switch type {
        case "REFUND", NotificationKind.revoke: revoke(&payload)
        case "REFUND_REVERSED":
            (payload.revocationDate, payload.revocationReason) = (nil, nil)
            (payload.revocationType, payload.revocationPercentage) = (nil, nil)
        default: break
        }
        guard payload.type == ProductType.autoRenewable.name else { return }
        if hasEnded { payload.expiresDate = ended(payload.expiresDate, payload.purchaseDate) }
        if type == "OFFER_REDEEMED", !redeemsLater, payload.offerType == nil {
            payload.offerType = OfferKind.code.wireNumber
            payload.offerIdentifier = Self.offerID
            payload.offerDiscountType = Offer.PaymentMode.free.wireName
            payload.offerPeriod = Period(1, .month).description
            payload.price = 0
        }
    }

    private func revoke(_ payload: inout JWSTransactionDecodedPayload) {
        guard payload.revocationDate == nil else { return }
        payload.revocationDate = now
        payload.revocationReason = RevocationReason.other.rawValue
        if type == "REFUND" {
            payload.revocationType = RevocationType.refundFull.rawValue
        } else if payload.inAppOwnershipType == Ownership.familyShared.wireName {
            payload.revocationType = RevocationType.family.rawValue
        }
    }

    /// A period that still runs ends now, if the event follows its end.
    private func ended(_ end: Timestamp?, _ begin: Timestamp?) -> Timestamp? {
        guard let end, end > now else { return end }
        return max(now, begin ?? now)
    }

    /// Changes the payload of the renewal, and the status. `sale`: the transaction, with
    /// its marks.
    func mark(
        _ renewal: inout JWSRenewalInfoDecodedPayload, _ status: inout Int,
        sale: JWSTransactionDecodedPayload
    ) {
        if hasEnded { renewal.renewalDate = ended(renewal.renewalDate, sale.purchaseDate) }
        if isUnpaid {
            status = (hasGrace ? SubscriptionStatus.grace : .retry).rawValue
            renewal.isInBillingRetryPeriod = true
            renewal.expirationIntent = Expiration.billing.intent
            renewal.gracePeriodExpiresDate =
                hasGrace
                ? renewal.gracePeriodExpiresDate ?? now.adding(seconds: Self.graceDays * 86_400)
                : nil
            switchOn(&renewal, sale)
        }
        if type == "EXPIRED" { expire(&renewal, &status) }
        // The refund of an earlier period does not end the subscription.
        if isRevocation, sale.expiresDate == renewal.renewalDate {
            status = SubscriptionStatus.revoked.rawValue
            // The purchaser's renewal goes on when a member of the family loses it.
            if sale.inAppOwnershipType == Ownership.purchased.wireName { switchOff(&renewal) }
        } else if type == "REFUND_REVERSED", status == SubscriptionStatus.revoked.rawValue {
            let isOver = sale.expiresDate.map { $0 <= now } ?? true
            status = (isOver ? SubscriptionStatus.expired : .active).rawValue
        }
        if type == "PRICE_INCREASE" {
            renewal.priceIncreaseStatus = subtype == "ACCEPTED" ? 1 : 0
        }
        if isInvented { choose(&renewal) }
        if redeemsLater { redeem(&renewal, sale) }
    }

    private func expire(_ renewal: inout JWSRenewalInfoDecodedPayload, _ status: inout Int) {
        let reasons: [String: Expiration] = [
            "VOLUNTARY": .cancelled, "BILLING_RETRY": .billing, "PRICE_INCREASE": .priceIncrease,
            "PRODUCT_NOT_FOR_SALE": .unavailable,
        ]
        let reason = subtype.flatMap { reasons[$0] } ?? .other
        status = SubscriptionStatus.expired.rawValue
        renewal.isInBillingRetryPeriod = false
        renewal.expirationIntent = reason.intent
        renewal.gracePeriodExpiresDate = nil
        if reason == .priceIncrease { renewal.priceIncreaseStatus = 0 }
        switchOff(&renewal)
    }

    /// What the customer has chosen in an invented subscription.
    private func choose(_ renewal: inout JWSRenewalInfoDecodedPayload) {
        if (type, subtype) == ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED") {
            switchOff(&renewal)
        }
        if choosesNext {
            renewal.autoRenewProductId = renewal.productId.map { $0 + Self.nextSuffix }
        }
    }

    private func redeem(
        _ renewal: inout JWSRenewalInfoDecodedPayload, _ sale: JWSTransactionDecodedPayload
    ) {
        guard renewal.offerType == nil else { return }
        renewal.offerType = OfferKind.code.wireNumber
        renewal.offerIdentifier = Self.offerID
        renewal.offerDiscountType = Offer.PaymentMode.free.wireName
        renewal.offerPeriod = Period(1, .month).description
        switchOn(&renewal, sale)
        if renewal.renewalPrice != nil { renewal.renewalPrice = 0 }
    }

    /// A member of the family, who pays nothing, has no price.
    private func switchOn(
        _ renewal: inout JWSRenewalInfoDecodedPayload, _ sale: JWSTransactionDecodedPayload
    ) {
        renewal.autoRenewStatus = 1
        guard renewal.renewalPrice == nil,
            sale.inAppOwnershipType == Ownership.purchased.wireName
        else { return }
        (renewal.renewalPrice, renewal.currency) = (sale.price, sale.currency)
    }

    private func switchOff(_ renewal: inout JWSRenewalInfoDecodedPayload) {
        renewal.autoRenewStatus = 0
        (renewal.renewalPrice, renewal.currency) = (nil, nil)
        // A commitment ends with its subscription.
        guard type == "EXPIRED" || isRevocation else { return }
        renewal.commitmentInfo?.commitmentAutoRenewStatus = 0
        renewal.commitmentInfo?.commitmentRenewalDate = nil
    }
}
