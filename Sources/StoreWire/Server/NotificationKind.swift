// SPDX-License-Identifier: Apache-2.0

/// The types of notifications and the subtypes that each may have.
/// [Apple's page](https://developer.apple.com/documentation/appstoreservernotifications/notificationtype)
public enum NotificationKind {
    public static let test = "TEST"
    public static let oneTimeCharge = "ONE_TIME_CHARGE"
    public static let consumptionRequest = "CONSUMPTION_REQUEST"
    public static let renewalExtension = "RENEWAL_EXTENSION"
    public static let revoke = "REVOKE"

    /// Whether the type exists and, if a subtype is given, whether the type has
    /// it.
    public static func isKnown(_ type: String, subtype: String?) -> Bool {
        guard let subtypes = subtypes[type] else { return false }
        return subtype.map(subtypes.contains) ?? true
    }

    /// Whether a notification of the type always has a subtype.
    public static func needsSubtype(_ type: String) -> Bool { alwaysWithSubtype.contains(type) }

    /// Whether a notification of the type is about a product of this kind. The types that
    /// are about a subscription have its renewal.
    public static func isAbout(_ type: String, isAutoRenewable: Bool) -> Bool {
        switch type {
        case oneTimeCharge: !isAutoRenewable
        case consumptionRequest, "REFUND", "REFUND_DECLINED", "REFUND_REVERSED", revoke: true
        default: isAutoRenewable
        }
    }

    /// All types, in alphabetical order.
    public static let types = subtypes.keys.sorted()

    /// The subtypes of a type, in alphabetical order.
    public static func subtypes(of type: String) -> [String] { subtypes[type]?.sorted() ?? [] }

    private static let alwaysWithSubtype: Set = [
        "DID_CHANGE_RENEWAL_STATUS", "EXTERNAL_PURCHASE_TOKEN", "PRICE_INCREASE",
        renewalExtension, "SUBSCRIBED",
    ]

    private static let subtypes: [String: Set<String>] = [
        consumptionRequest: [],
        "DID_CHANGE_RENEWAL_PREF": ["DOWNGRADE", "UPGRADE"],
        "DID_CHANGE_RENEWAL_STATUS": ["AUTO_RENEW_DISABLED", "AUTO_RENEW_ENABLED"],
        "DID_FAIL_TO_RENEW": ["GRACE_PERIOD"],
        "DID_RENEW": ["BILLING_RECOVERY"],
        "EXPIRED": ["BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE", "VOLUNTARY"],
        "EXTERNAL_PURCHASE_TOKEN": ["UNREPORTED"],
        "GRACE_PERIOD_EXPIRED": [],
        "METADATA_UPDATE": [],
        "MIGRATION": [],
        "OFFER_REDEEMED": ["DOWNGRADE", "INITIAL_BUY", "RESUBSCRIBE", "UPGRADE"],
        "ONE_TIME_CHARGE": [],
        "PRICE_CHANGE": [],
        "PRICE_INCREASE": ["ACCEPTED", "PENDING"],
        "REFUND": [],
        "REFUND_DECLINED": [],
        "REFUND_REVERSED": [],
        "RENEWAL_EXTENDED": [],
        renewalExtension: ["FAILURE", "SUMMARY"],
        "RESCIND_CONSENT": [],
        revoke: [],
        "SUBSCRIBED": ["INITIAL_BUY", "RESUBSCRIBE"],
        "TEST": [],
    ]
}
