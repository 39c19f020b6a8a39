// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// One attempt to send a notification.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/sendattemptitem)
public struct SendAttemptItem: Hashable, Sendable, Codable {
    /// Commercial time.
    public var attemptDate: Timestamp?
    public var sendAttemptResult: SendAttemptResult?

    public init(attemptDate: Timestamp, sendAttemptResult: SendAttemptResult) {
        self.attemptDate = attemptDate
        self.sendAttemptResult = sendAttemptResult
    }
}

extension SendAttemptItem {
    /// The most that Apple's answers have of one notification.
    static let shownMax = 6
}
