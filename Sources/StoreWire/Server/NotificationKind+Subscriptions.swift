// SPDX-License-Identifier: Apache-2.0

public import Commerce

extension NotificationKind {
    /// Returns the type and the subtype of the notification that an event of a
    /// subscription causes. Nil if merchants do not hear of it.
    public static func announcing(
        _ change: SubscriptionEvent.Change
    ) -> (type: String, subtype: String?)? {
        switch change {
        case .subscribed(_, _, _, let isFirst, _):
            ("SUBSCRIBED", isFirst ? "INITIAL_BUY" : "RESUBSCRIBE")
        case .renewed: ("DID_RENEW", nil)
        case .recovered: ("DID_RENEW", "BILLING_RECOVERY")
        case .upgraded(let period, _, _, _):
            (isRedeemed(period.offer) ? "OFFER_REDEEMED" : "DID_CHANGE_RENEWAL_PREF", "UPGRADE")
        case .choseNext(_, _, let isReversal, let offer, _):
            (
                offer == nil ? "DID_CHANGE_RENEWAL_PREF" : "OFFER_REDEEMED",
                isReversal ? nil : "DOWNGRADE"
            )
        case .redeemed: ("OFFER_REDEEMED", nil)
        case .switchedOn: ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED")
        case .switchedOff, .stopped: ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED")
        case .failedAhead, .failedAgain: nil
        case .failed(let graceUntil):
            ("DID_FAIL_TO_RENEW", graceUntil == nil ? nil : "GRACE_PERIOD")
        case .graceEnded: ("GRACE_PERIOD_EXPIRED", nil)
        case .expired(let reason): ("EXPIRED", subtype(of: reason))
        case .extended: ("RENEWAL_EXTENDED", nil)
        // The refund itself is announced, also of a period that has ended.
        case .refunded, .revoked, .refundReversed, .runningRevoked, .runningReinstated,
            .aheadRevoked, .aheadReinstated:
            nil
        case .increaseAnnounced(let increase):
            ("PRICE_INCREASE", increase.isAgreed ? "ACCEPTED" : "PENDING")
        case .increaseAgreed: ("PRICE_INCREASE", "ACCEPTED")
        }
    }

    /// Returns the type of the notification that an event of a refund causes. Nil
    /// if merchants do not hear of it.
    public static func announcing(_ change: RefundEvent.Change) -> String? {
        switch change {
        case .requested: consumptionRequest
        case .informed: nil
        case .declined: "REFUND_DECLINED"
        case .granted(let grant):
            switch grant.kind {
            case .full, .prorated: "REFUND"
            case .nothing: "REVOKE"
            case .upgrade: nil
            }
        case .reversed: "REFUND_REVERSED"
        }
    }

    /// Whether the customer has redeemed the offer, which an introductory one needs
    /// not.
    private static func isRedeemed(_ offer: AppliedOffer?) -> Bool {
        offer.map { $0.kind != .introductory } ?? false
    }

    private static func subtype(of reason: Expiration) -> String? {
        switch reason {
        case .cancelled: "VOLUNTARY"
        case .billing: "BILLING_RETRY"
        case .priceIncrease: "PRICE_INCREASE"
        case .unavailable: "PRODUCT_NOT_FOR_SALE"
        case .other: nil
        }
    }
}
