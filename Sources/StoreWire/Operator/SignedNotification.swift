// SPDX-License-Identifier: Apache-2.0

/// Requests a notification of any type, signed and not sent.
public struct SignNotificationRequest: Hashable, Sendable, Codable {
    /// The app that it is about. It need not exist.
    public var bundleId: String
    /// `DID_RENEW`…
    public var notificationType: String
    public var subtype: String?
    /// A transaction of the app. Invented if missing.
    public var transactionId: String?
    /// The product of an invented transaction.
    public var productId: String?

    public init(
        bundleId: String, notificationType: String, subtype: String? = nil,
        transactionId: String? = nil, productId: String? = nil
    ) {
        self.bundleId = bundleId
        self.notificationType = notificationType
        self.subtype = subtype
        self.transactionId = transactionId
        self.productId = productId
    }
}

/// A signed notification. The history has it once an attempt is recorded.
public struct SignedNotification: Hashable, Sendable, Codable {
    public var notificationUUID: String
    public var signedPayload: String

    public init(notificationUUID: String, signedPayload: String) {
        self.notificationUUID = notificationUUID
        self.signedPayload = signedPayload
    }
}
