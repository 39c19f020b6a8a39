// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire

/// A transaction that never was, for a notification by hand.
struct InventedTransaction {
    static let productID = "com.example.product"
    static let appTransactionID = "4000999999999999"
    private static let original = "2000999999998000"
    private static let later = "2000999999999000"
    private static let month: Int64 = 30 * 86_400

    private let request: SignNotificationRequest
    private let now: Timestamp

    init(_ request: SignNotificationRequest, at now: Timestamp) {
        (self.request, self.now) = (request, now)
    }

    /// Types that are about any product have an invented consumable.
    private var isSubscription: Bool {
        let others = [
            NotificationKind.consumptionRequest, NotificationKind.oneTimeCharge, "REFUND",
            "REFUND_DECLINED", "REFUND_REVERSED", NotificationKind.revoke,
        ]
        return !others.contains(request.notificationType)
    }

    private var isFirst: Bool { request.notificationType == "SUBSCRIBED" || !isSubscription }

    /// Whether the period has ended.
    private var hasEnded: Bool {
        ["DID_FAIL_TO_RENEW", "EXPIRED", "GRACE_PERIOD_EXPIRED"].contains(request.notificationType)
    }

    private var end: Timestamp { now.adding(seconds: hasEnded ? -1 : Self.month) }

    var status: Int {
        switch (request.notificationType, request.subtype) {
        case ("EXPIRED", _): 2
        case ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"): 4
        case ("DID_FAIL_TO_RENEW", _), ("GRACE_PERIOD_EXPIRED", _): 3
        default: 1
        }
    }

    func payload(_ environment: Environment) -> JWSTransactionDecodedPayload {
        let begin = isSubscription ? end.adding(seconds: -Self.month) : now
        var payload = JWSTransactionDecodedPayload()
        payload.transactionId = isFirst ? Self.original : Self.later
        payload.originalTransactionId = Self.original
        payload.bundleId = request.bundleId
        payload.productId = request.productId ?? Self.productID
        payload.purchaseDate = begin
        payload.originalPurchaseDate = isFirst ? begin : begin.adding(seconds: -Self.month)
        payload.quantity = 1
        payload.type = (isSubscription ? ProductType.autoRenewable : .consumable).name
        payload.inAppOwnershipType = Ownership.purchased.wireName
        payload.signedDate = now
        payload.environment = environment.rawValue
        payload.storefront = "USA"
        payload.storefrontId = Storefront.named("USA")?.id
        payload.transactionReason =
            (isFirst ? TransactionReason.purchase : .renewal).wireName
        payload.price = 4990
        payload.currency = "USD"
        payload.appTransactionId = Self.appTransactionID
        if isSubscription {
            payload.expiresDate = end
            payload.subscriptionGroupIdentifier = "group"
            payload.webOrderLineItemId = "1000999999999000"
        }
        if ["REFUND", NotificationKind.revoke].contains(request.notificationType) {
            payload.revocationDate = now
            payload.revocationReason = RevocationReason.other.rawValue
            payload.revocationType =
                (request.notificationType == "REFUND"
                ? RevocationType.refundFull : .family).rawValue
        }
        return payload
    }

    /// Nil if it is no subscription.
    func renewal(_ environment: Environment) -> JWSRenewalInfoDecodedPayload? {
        guard isSubscription else { return nil }
        let isOn = ![
            "EXPIRED/VOLUNTARY", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED",
        ].contains(request.notificationType + "/" + (request.subtype ?? ""))
        var renewal = JWSRenewalInfoDecodedPayload()
        renewal.originalTransactionId = Self.original
        renewal.productId = request.productId ?? Self.productID
        renewal.autoRenewProductId = renewal.productId
        renewal.autoRenewStatus = isOn ? 1 : 0
        renewal.environment = environment.rawValue
        renewal.signedDate = now
        renewal.recentSubscriptionStartDate = end.adding(seconds: -2 * Self.month)
        renewal.renewalDate = end
        renewal.appTransactionId = Self.appTransactionID
        if isOn {
            renewal.renewalPrice = 4990
            renewal.currency = "USD"
        }
        if status == 3 || status == 4 { renewal.isInBillingRetryPeriod = true }
        if status == 4 { renewal.gracePeriodExpiresDate = now.adding(seconds: 16 * 86_400) }
        if request.notificationType == "EXPIRED" {
            renewal.expirationIntent =
                [
                    "VOLUNTARY": 1, "BILLING_RETRY": 2, "PRICE_INCREASE": 3,
                    "PRODUCT_NOT_FOR_SALE": 4,
                ][request.subtype ?? ""] ?? 5
        }
        if request.notificationType == "PRICE_INCREASE" {
            renewal.priceIncreaseStatus = request.subtype == "ACCEPTED" ? 1 : 0
        }
        return renewal
    }
}
