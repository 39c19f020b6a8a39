// SPDX-License-Identifier: Apache-2.0

/// The answer of `POST /inApps/v1/notifications/test`.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/sendtestnotificationresponse)
public struct SendTestNotificationResponse: Hashable, Sendable, Codable {
    /// The token with which its status is requested.
    public let testNotificationToken: String

    public init(testNotificationToken: String) {
        self.testNotificationToken = testNotificationToken
    }
}
