// SPDX-License-Identifier: Apache-2.0

/// The answer of `GET /inApps/v1/notifications/test/{testNotificationToken}`.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/checktestnotificationresponse)
public struct CheckTestNotificationResponse: Hashable, Sendable, Codable {
    /// As it was sent.
    public var signedPayload: String?
    /// The first attempt's result; older clients read it, newer ones `sendAttempts`.
    public var firstSendAttemptResult: SendAttemptResult?
    /// Oldest first, six at most.
    public var sendAttempts: [SendAttemptItem]?

    public init(signedPayload: String, sendAttempts: [SendAttemptItem]) {
        self.signedPayload = signedPayload
        self.sendAttempts = sendAttempts
        firstSendAttemptResult = sendAttempts.first?.sendAttemptResult
    }
}
