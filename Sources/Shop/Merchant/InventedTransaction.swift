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
    private let event: NotifiedEvent

    init(_ request: SignNotificationRequest, at now: Timestamp) {
        (self.request, self.now) = (request, now)
        event = NotifiedEvent(request, at: now)
    }

    private var type: ProductType {
        switch request.notificationType {
        // Types that are about any product have a consumable.
        case NotificationKind.consumptionRequest, NotificationKind.oneTimeCharge, "REFUND",
            "REFUND_DECLINED", "REFUND_REVERSED":
            .consumable
        // A member of the family loses it, so it is one that can be shared.
        case NotificationKind.revoke: .nonConsumable
        default: .autoRenewable
        }
    }

    private var isSubscription: Bool { type == .autoRenewable }
    private var isShared: Bool { request.notificationType == NotificationKind.revoke }

    /// Whether it is the customer's first transaction of the product.
    private var isFirst: Bool {
        !isSubscription || request.subtype == "INITIAL_BUY"
    }

    /// Whether the customer bought it. Otherwise it is a renewal.
    private var isBought: Bool {
        isFirst || ["RESUBSCRIBE", "UPGRADE"].contains(request.subtype)
    }

    private var end: Timestamp { now.adding(seconds: event.hasEnded ? -1 : Self.month) }

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
        payload.type = type.name
        payload.inAppOwnershipType =
            (isShared ? Ownership.familyShared : .purchased).wireName
        payload.signedDate = now
        payload.environment = environment.rawValue
        payload.storefront = "USA"
        payload.storefrontId = Storefront.named("USA")?.id
        payload.transactionReason =
            (isBought ? TransactionReason.purchase : .renewal).wireName
        payload.price = isShared ? 0 : 4990
        payload.currency = "USD"
        payload.appTransactionId = Self.appTransactionID
        if isSubscription {
            payload.expiresDate = end
            payload.subscriptionGroupIdentifier = "group"
            payload.webOrderLineItemId = "1000999999999000"
        }
        event.mark(&payload)
        return payload
    }

    /// The renewal and the status. Nil if it is no subscription.
    func renewal(
        _ environment: Environment
    ) -> (payload: JWSRenewalInfoDecodedPayload, status: Int)? {
        guard isSubscription else { return nil }
        var renewal = JWSRenewalInfoDecodedPayload()
        renewal.originalTransactionId = Self.original
        renewal.productId = request.productId ?? Self.productID
        renewal.autoRenewProductId = renewal.productId
        renewal.autoRenewStatus = 1
        renewal.environment = environment.rawValue
        renewal.signedDate = now
        renewal.recentSubscriptionStartDate = end.adding(
            seconds: (isFirst ? -1 : -2) * Self.month)
        renewal.renewalDate = end
        renewal.appTransactionId = Self.appTransactionID
        renewal.renewalPrice = 4990
        renewal.currency = "USD"
        var status = SubscriptionStatus.active.rawValue
        event.mark(&renewal, &status, sale: payload(environment))
        return (renewal, status)
    }
}
