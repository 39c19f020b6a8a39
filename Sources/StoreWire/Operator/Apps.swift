// SPDX-License-Identifier: Apache-2.0

/// An app, as operators see it.
public struct AppSummary: Hashable, Sendable, Codable {
    public var bundleId: String
    /// The app's number. Missing if it has none.
    public var appAppleId: Int64?
    public var name: String
    /// The URL for its notifications. Missing if it receives none.
    public var notificationUrl: String?
    /// The version of its notifications, 1 or 2. Missing if it receives none.
    public var notificationVersion: Int?
    /// The storefront of customers without one of their own, alpha-3.
    public var storefront: String
    /// The locale in which texts are chosen.
    public var locale: String
    public var purchasesEnabled: Bool
    /// How long an unpaid renewal can be used. Missing if the catalogue file decides.
    public var gracePeriodDays: Int?
    /// How often a sandbox's subscriptions renew at most. Missing without a limit.
    public var renewalsMax: Int?
    /// The number of products that are neither withdrawn nor removed.
    public var products: Int

    public init(
        bundleId: String, appAppleId: Int64?, name: String, notificationUrl: String?,
        storefront: String, locale: String, purchasesEnabled: Bool, gracePeriodDays: Int? = nil,
        renewalsMax: Int? = nil, products: Int
    ) {
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.name = name
        self.notificationUrl = notificationUrl
        self.storefront = storefront
        self.locale = locale
        self.purchasesEnabled = purchasesEnabled
        self.gracePeriodDays = gracePeriodDays
        self.renewalsMax = renewalsMax
        self.products = products
    }
}

/// An operator's change of an app. A missing field stays unchanged.
public struct AppChange: Hashable, Sendable, Codable {
    public var appAppleId: Int64?
    public var name: String?
    /// Alpha-3 country code.
    public var storefront: String?
    public var locale: String?
    public var purchasesEnabled: Bool?
    /// How long an unpaid renewal can be used: 0, 3, 16 or 28 days.
    public var gracePeriodDays: Int?
    /// How often a sandbox's subscriptions renew at most after the customer has
    /// subscribed; Apple's sandbox stops after 12. 0 is no limit.
    public var renewalsMax: Int?

    public init(
        appAppleId: Int64? = nil, name: String? = nil, storefront: String? = nil,
        locale: String? = nil, purchasesEnabled: Bool? = nil, gracePeriodDays: Int? = nil,
        renewalsMax: Int? = nil
    ) {
        self.appAppleId = appAppleId
        self.name = name
        self.storefront = storefront
        self.locale = locale
        self.purchasesEnabled = purchasesEnabled
        self.gracePeriodDays = gracePeriodDays
        self.renewalsMax = renewalsMax
    }
}

/// Requests a new app.
public struct CreateAppRequest: Hashable, Sendable, Codable {
    public var bundleId: String
    public var details: AppChange?

    public init(bundleId: String, details: AppChange? = nil) {
        self.bundleId = bundleId
        self.details = details
    }
}

/// The secret that an app and its server share with the store.
public struct SharedSecret: Hashable, Sendable, Codable {
    public var bundleId: String
    /// Missing until the first one is generated.
    public var sharedSecret: String?

    public init(bundleId: String, sharedSecret: String?) {
        self.bundleId = bundleId
        self.sharedSecret = sharedSecret
    }
}

/// Replaces the secret that an app and its server share with the store.
public struct SharedSecretRequest: Hashable, Sendable, Codable {
    /// 32 digits of 0–9 and a–f. One is generated if it is missing.
    public var sharedSecret: String?

    public init(sharedSecret: String? = nil) { self.sharedSecret = sharedSecret }
}

/// The apps of a realm, by bundle id.
public struct AppList: Hashable, Sendable, Codable {
    public var apps: [AppSummary]

    public init(apps: [AppSummary]) {
        self.apps = apps
    }
}

/// Sets the URL for an app's notifications.
public struct SetNotificationURLRequest: Hashable, Sendable, Codable {
    /// If missing, the app receives no notifications.
    public var notificationUrl: String?
    /// The version of the notifications: 2 if missing, or 1, which Apple has deprecated.
    public var notificationVersion: Int?

    public init(notificationUrl: String?, notificationVersion: Int? = nil) {
        self.notificationUrl = notificationUrl
        self.notificationVersion = notificationVersion
    }
}

/// Requests a notification manually.
public struct SendNotificationRequest: Hashable, Sendable, Codable {
    public var bundleId: String
    /// `TEST`. All other types are sent only with their causes.
    public var notificationType: String

    public init(bundleId: String, notificationType: String) {
        self.bundleId = bundleId
        self.notificationType = notificationType
    }
}

/// The status of a notification that an operator sent.
public struct NotificationStatus: Hashable, Sendable, Codable {
    /// The payload as it was sent. Missing before the first attempt.
    public var signedPayload: String?
    /// Oldest first. Empty until the first attempt has ended.
    public var sendAttempts: [SendAttemptItem]

    public init(signedPayload: String?, sendAttempts: [SendAttemptItem]) {
        self.signedPayload = signedPayload
        self.sendAttempts = sendAttempts
    }
}
