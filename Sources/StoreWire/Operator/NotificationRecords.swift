// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A notification that was signed, with its attempts.
public struct NotificationRecord: Hashable, Sendable, Codable {
    public var notificationUUID: String
    public var notificationType: String
    public var subtype: String?
    /// Commercial time.
    public var signedDate: Timestamp
    /// Oldest first. Empty if it was not sent.
    public var sendAttempts: [SendAttemptItem]
    public var signedPayload: String

    public init(
        notificationUUID: String, notificationType: String, subtype: String?,
        signedDate: Timestamp, sendAttempts: [SendAttemptItem], signedPayload: String
    ) {
        self.notificationUUID = notificationUUID
        self.notificationType = notificationType
        self.subtype = subtype
        self.signedDate = signedDate
        self.sendAttempts = sendAttempts
        self.signedPayload = signedPayload
    }
}

/// A page of an app's notifications, oldest first.
public struct NotificationRecords: Hashable, Sendable, Codable {
    public var notifications: [NotificationRecord]
    /// The `after` of the next request. Missing on the last page.
    public var next: String?

    public init(notifications: [NotificationRecord], next: String?) {
        self.notifications = notifications
        self.next = next
    }
}
