// SPDX-License-Identifier: Apache-2.0

/// A notification, and how its attempts ended.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryresponseitem)
public struct NotificationHistoryResponseItem: Hashable, Sendable, Codable {
    /// As it was sent, letter for letter.
    public var signedPayload: String?
    /// Oldest first, six at most.
    public var sendAttempts: [SendAttemptItem]?

    public init(signedPayload: String, sendAttempts: [SendAttemptItem]) {
        self.signedPayload = signedPayload
        self.sendAttempts = sendAttempts
    }
}
