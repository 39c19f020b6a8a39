// SPDX-License-Identifier: Apache-2.0

/// The answer of `POST /inApps/v1/notifications/test`.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/sendtestnotificationresponse)
public struct SendTestNotificationResponse: Hashable, Sendable, Codable {
    /// With which to ask what became of it.
    public let testNotificationToken: String

    public init(testNotificationToken: String) {
        self.testNotificationToken = testNotificationToken
    }
}
