// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A notification of version 1, which Apple has deprecated. It is not signed: the shared
/// secret in `password` is what a server recognises it by.
/// [Apple's page](https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv1)
public struct ResponseBodyV1: Hashable, Sendable, Encodable {
    /// A type of version 1. See ``NotificationKind/versionOne(_:subtype:isSubscription:)``.
    public var notificationType: String
    public var isProduction: Bool
    public var bundleID: String
    /// The app's version on the customer's last device.
    public var appVersion: String?
    /// The app's shared secret. Nil if it has none.
    public var password: String?
    public var unifiedReceipt: UnifiedReceipt
    /// The following are of subscriptions only.
    public var originalTransactionID: Int64?
    public var autoRenewProductID: String?
    public var isRenewing: Bool?
    /// When the renewal was switched on or off.
    public var statusChangeDate: Timestamp?
    public var expirationIntent: Int?

    public init(
        notificationType: String, isProduction: Bool, bundleID: String,
        unifiedReceipt: UnifiedReceipt
    ) {
        self.notificationType = notificationType
        self.isProduction = isProduction
        self.bundleID = bundleID
        self.unifiedReceipt = unifiedReceipt
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: ReceiptKey.self)
        try fields.encode(notificationType, forKey: "notification_type")
        // The receipt in it has the other spelling.
        try fields.encode(isProduction ? "PROD" : "Sandbox", forKey: "environment")
        try fields.encode(bundleID, forKey: "bid")
        try fields.encodeIfPresent(appVersion, forKey: "bvrs")
        try fields.encodeIfPresent(password, forKey: "password")
        try fields.encodeIfPresent(originalTransactionID, forKey: "original_transaction_id")
        try fields.encodeIfPresent(autoRenewProductID, forKey: "auto_renew_product_id")
        try fields.encodeIfPresent(isRenewing.map { "\($0)" }, forKey: "auto_renew_status")
        try fields.encode(date: statusChangeDate, "auto_renew_status_change_date")
        try fields.encodeIfPresent(expirationIntent, forKey: "expiration_intent")
        try fields.encode(unifiedReceipt, forKey: "unified_receipt")
    }
}

/// What a customer has of an app, in a notification of version 1.
/// [Apple's page](https://developer.apple.com/documentation/appstoreservernotifications/unified_receipt)
public struct UnifiedReceipt: Hashable, Sendable, Encodable {
    /// The most transactions in one.
    public static let transactionsMax = 100

    /// `Sandbox` or `Production`.
    public var environment: String
    /// The newest receipt, in Base64.
    public var latestReceipt: String?
    /// The newest first.
    public var latestReceiptInfo: [ReceiptTransaction]
    public var pendingRenewalInfo: [PendingRenewal]

    public init(
        environment: String, latestReceipt: String?, latestReceiptInfo: [ReceiptTransaction],
        pendingRenewalInfo: [PendingRenewal]
    ) {
        self.environment = environment
        self.latestReceipt = latestReceipt
        self.latestReceiptInfo = latestReceiptInfo
        self.pendingRenewalInfo = pendingRenewalInfo
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: ReceiptKey.self)
        try fields.encode(environment, forKey: "environment")
        try fields.encode(0, forKey: "status")
        try fields.encodeIfPresent(latestReceipt, forKey: "latest_receipt")
        try fields.encode(latestReceiptInfo, forKey: "latest_receipt_info")
        try fields.encode(pendingRenewalInfo, forKey: "pending_renewal_info")
    }
}

extension NotificationKind {
    /// The types of version 1 for a type of version 2 and its subtype, in the order in which
    /// they are sent. Empty if version 1 has none. An upgrade has two: `CANCEL` for the
    /// subscription that it ends, and then the other one's begin.
    ///
    /// - Parameter isSubscription: Whether it is about an auto-renewable one.
    public static func versionOne(
        _ type: String, subtype: String?, isSubscription: Bool
    ) -> [String] {
        switch (type, subtype) {
        case ("SUBSCRIBED", "INITIAL_BUY"): ["INITIAL_BUY"]
        case ("SUBSCRIBED", _), ("OFFER_REDEEMED", nil): ["INTERACTIVE_RENEWAL"]
        case ("DID_RENEW", "BILLING_RECOVERY"): ["DID_RECOVER"]
        case ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"), ("OFFER_REDEEMED", "UPGRADE"):
            ["CANCEL", "INTERACTIVE_RENEWAL"]
        case ("OFFER_REDEEMED", "DOWNGRADE"): ["DID_CHANGE_RENEWAL_PREF"]
        case ("PRICE_INCREASE", "PENDING"): ["PRICE_INCREASE_CONSENT"]
        case ("REFUND", _): [isSubscription ? "CANCEL" : "REFUND"]
        default: sameInVersionOne.contains(type) ? [type] : []
        }
    }

    private static let sameInVersionOne: Set = [
        "DID_RENEW", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS",
        "DID_FAIL_TO_RENEW", consumptionRequest, revoke,
    ]
}
