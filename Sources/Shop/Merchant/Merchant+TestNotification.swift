// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension Merchant {
    /// How long the status of a test notification can be requested: half a
    /// year.
    static let testTokenMilliseconds: Int64 = 183 * 86_400_000

    /// Owes the merchant's server a test notification: `POST
    /// /inApps/v1/notifications/test`. Throws ``AppleRefusal`` 4040007.
    public func requestTestNotification(
        _ context: RequestContext
    ) async throws -> SendTestNotificationResponse {
        try await realm.merchant.oweTest(bundleID, context)
    }

    /// Returns the status of a test notification: `GET
    /// /inApps/v1/notifications/test/{testNotificationToken}`. Throws
    /// ``AppleRefusal``, in order: 4000020, 4040008 (also before the first
    /// attempt has ended, and for another app's).
    public func testNotification(
        _ token: String
    ) async throws -> CheckTestNotificationResponse {
        guard let asked = MerchantRoom.askedDate(ofToken: token) else {
            throw AppleRefusal(.invalidTestNotificationToken)
        }
        let values: [SQLValue] = [
            .integer(OwedNotification.nobody.value), .text(MerchantRoom.testCause(token)),
            .text(bundleID.value),
        ]
        let rows = try await realm.readHouse { try $0.query(Statement.Notifications.one, values) }
        guard let sent = try SentNotification.read(rows).first,
            now.milliseconds(since: asked) <= Self.testTokenMilliseconds
        else { throw AppleRefusal(.testNotificationNotFound) }
        return CheckTestNotificationResponse(
            signedPayload: sent.signedPayload, sendAttempts: sent.attempts)
    }
}
