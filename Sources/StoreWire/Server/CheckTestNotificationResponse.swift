// SPDX-License-Identifier: Apache-2.0

/// The answer of `GET /inApps/v1/notifications/test/{testNotificationToken}`.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/checktestnotificationresponse)
public struct CheckTestNotificationResponse: Hashable, Sendable, Codable {
    /// The payload as it was sent.
    public var signedPayload: String?
    /// The result of the first attempt, for older clients. Newer ones read
    /// `sendAttempts`.
    public var firstSendAttemptResult: SendAttemptResult?
    /// Oldest first, the last six.
    public var sendAttempts: [SendAttemptItem]?

    public init(signedPayload: String, sendAttempts: [SendAttemptItem]) {
        self.signedPayload = signedPayload
        self.sendAttempts = sendAttempts.suffix(SendAttemptItem.shownMax)
        firstSendAttemptResult = sendAttempts.first?.sendAttemptResult
    }
}
