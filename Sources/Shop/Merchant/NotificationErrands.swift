// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Work

/// Sends the notifications of the outbox: handles the errands of kind
/// `notification`. Each app's endpoint has its own lane.
struct NotificationErrands: ErrandHandler {
    static let kind = WorkKind.notification

    let courier: any Courier

    var kind: String { Self.kind }

    func retries(in realm: Realm) -> RetryTimetable { realm.merchant.notificationRetries }

    func perform(_ errand: Errand, in realm: Realm) async throws -> RealmReport {
        let fault = try await realm.merchant.notificationFault()
        if let later = try await realm.merchant.hold(errand, by: fault) { return later }
        if fault?.loses == true { return try await skip(errand, in: realm) }
        let attempt = try await realm.merchant.attemptNotification(
            errand.subject, of: errand.customer, in: errand.lane, by: courier,
            twice: fault?.duplicates == true)
        return ErrandReport(attempt.outcome) { try attempt.record($0) }
    }

    /// Signs and keeps it as at a first attempt, so that the history shows it.
    func skip(_ errand: Errand, in realm: Realm) async throws -> RealmReport {
        let ready = try await realm.merchant.readyNotification(
            errand.subject, of: errand.customer)
        if let ready {
            realm.ports.log(
                .warning, "notification not sent", nil, ["notification": ready.uuid])
        }
        return ErrandReport(.givenUp) { try ready?.recordUnsent($0) }
    }
}
