// SPDX-License-Identifier: Apache-2.0

/// An app as operators see it.
public struct AppSummary: Hashable, Sendable, Codable {
    public var bundleId: String
    /// The app's number; missing where it has none.
    public var appAppleId: Int64?
    public var name: String
    /// Where its notifications go; missing where nobody wants them.
    public var notificationUrl: String?

    public init(bundleId: String, appAppleId: Int64?, name: String, notificationUrl: String?) {
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.name = name
        self.notificationUrl = notificationUrl
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
