// SPDX-License-Identifier: Apache-2.0

/// A notification with the results of its attempts.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryresponseitem)
public struct NotificationHistoryResponseItem: Hashable, Sendable, Codable {
    /// The payload exactly as it was sent.
    public var signedPayload: String?
    /// Oldest first, the last six.
    public var sendAttempts: [SendAttemptItem]?

    public init(signedPayload: String, sendAttempts: [SendAttemptItem]) {
        self.signedPayload = signedPayload
        self.sendAttempts = sendAttempts.suffix(SendAttemptItem.shownMax)
    }
}
