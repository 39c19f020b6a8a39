// SPDX-License-Identifier: Apache-2.0

/// An app as operators see it.
public struct AppSummary: Hashable, Sendable, Codable {
    public var bundleId: String
    /// The app's number; missing where it has none.
    public var appAppleId: Int64?
    public var name: String
    /// Where its notifications go; missing where nobody wants them.
    public var notificationUrl: String?
    /// The storefront of customers who have none of their own, alpha-3.
    public var storefront: String
    /// The locale in which words are chosen.
    public var locale: String
    public var purchasesEnabled: Bool
    /// How many products it has that are neither withdrawn nor removed.
    public var products: Int

    public init(
        bundleId: String, appAppleId: Int64?, name: String, notificationUrl: String?,
        storefront: String, locale: String, purchasesEnabled: Bool, products: Int
    ) {
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.name = name
        self.notificationUrl = notificationUrl
        self.storefront = storefront
        self.locale = locale
        self.purchasesEnabled = purchasesEnabled
        self.products = products
    }
}

/// What an operator says of an app; what is missing stays as it is.
public struct AppChange: Hashable, Sendable, Codable {
    public var appAppleId: Int64?
    public var name: String?
    /// Alpha-3 country code.
    public var storefront: String?
    public var locale: String?
    public var purchasesEnabled: Bool?

    public init(
        appAppleId: Int64? = nil, name: String? = nil, storefront: String? = nil,
        locale: String? = nil, purchasesEnabled: Bool? = nil
    ) {
        self.appAppleId = appAppleId
        self.name = name
        self.storefront = storefront
        self.locale = locale
        self.purchasesEnabled = purchasesEnabled
    }
}

/// Asks for a new app.
public struct CreateAppRequest: Hashable, Sendable, Codable {
    public var bundleId: String
    public var details: AppChange?

    public init(bundleId: String, details: AppChange? = nil) {
        self.bundleId = bundleId
        self.details = details
    }
}

/// The word that an app and its server share with the store.
public struct SharedSecret: Hashable, Sendable, Codable {
    public var bundleId: String
    /// Missing before the first one was made.
    public var sharedSecret: String?

    public init(bundleId: String, sharedSecret: String?) {
        self.bundleId = bundleId
        self.sharedSecret = sharedSecret
    }
}

/// The apps of a realm, by bundle id.
public struct AppList: Hashable, Sendable, Codable {
    public var apps: [AppSummary]

    public init(apps: [AppSummary]) {
        self.apps = apps
    }
}

/// Says where an app's notifications go from now on.
public struct SetNotificationURLRequest: Hashable, Sendable, Codable {
    /// When missing, nowhere.
    public var notificationUrl: String?

    public init(notificationUrl: String?) {
        self.notificationUrl = notificationUrl
    }
}

/// Asks for a notification by hand.
public struct SendNotificationRequest: Hashable, Sendable, Codable {
    public var bundleId: String
    /// `TEST`; every other type comes with what causes it.
    public var notificationType: String

    public init(bundleId: String, notificationType: String) {
        self.bundleId = bundleId
        self.notificationType = notificationType
    }
}

/// What became of a notification that an operator sent.
public struct NotificationStatus: Hashable, Sendable, Codable {
    /// As it was sent; missing before the first attempt.
    public var signedPayload: String?
    /// Oldest first; none before the first attempt has ended.
    public var sendAttempts: [SendAttemptItem]

    public init(signedPayload: String?, sendAttempts: [SendAttemptItem]) {
        self.signedPayload = signedPayload
        self.sendAttempts = sendAttempts
    }
}
