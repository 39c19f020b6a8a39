// SPDX-License-Identifier: Apache-2.0

/// What an attempt to send a notification by hand came to.
public struct NotificationAttemptReport: Hashable, Sendable, Codable {
    public var sendAttemptResult: SendAttemptResult
    /// The HTTP status of the answer, if there was one.
    public var status: Int?
    /// Where it was sent, if that was not the app's notification URL.
    public var url: String?

    public init(sendAttemptResult: SendAttemptResult, status: Int? = nil, url: String? = nil) {
        self.sendAttemptResult = sendAttemptResult
        self.status = status
        self.url = url
    }
}
