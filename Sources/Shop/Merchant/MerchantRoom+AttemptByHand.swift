// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension MerchantRoom {
    /// Records an attempt that an operator made by hand, with `notify` or `notification
    /// resend`. The history has it behind the store's own attempts, of which it uses up
    /// none. An attempt that succeeded delivers the notification, so the store does not
    /// try again. One that went to another address than the app's is audited only.
    /// Refusals, in order: `textInvalid`, `textTooLong`, `bundleIdUnknown`,
    /// `notificationUnknown`, `attemptInvalid`, `notificationUrlInvalid`.
    public func recordAttempt(
        _ report: NotificationAttemptReport, of uuid: String, ofApp bundleID: String,
        _ context: RequestContext
    ) async throws -> NotificationRecord {
        let place = try await place(of: uuid, ofApp: bundleID)
        try Self.check(report)
        let (wall, customer) = (realm.ports.wall.now, place.customer)
        let key: [SQLValue] = [.integer(customer.value), .text(place.cause)]
        let entry = AuditEntry(
            who: context.actor, wall: wall, deed: "notification.attempt",
            subject: "\(bundleID)/\(place.uuid)", before: nil,
            after: [
                "result": report.sendAttemptResult.rawValue,
                "status": report.status.map(String.init),
                "url": report.url,
            ])
        let isNobody = customer == OwedNotification.nobody
        try await realm.bookkeeping(of: customer) { writing in
            try entry.write(writing)
            guard report.url == nil else { return }
            let own = isNobody ? nil : try Realm.now(of: customer, wall: wall, writing)
            let now = try own ?? Realm.now(writing, wall: wall)
            let next = try writing.first(Statement.Notifications.nextByHand, key)?
                .integer("attempt")
            try writing.execute(
                Statement.Notifications.insertAttempt,
                RealmSchema.notificationAttempts.row([
                    "customer_id": key[0], "cause": key[1], "attempt": .optional(next),
                    "attempted_at": .integer(now.milliseconds),
                    "result": .text(report.sendAttemptResult.rawValue),
                    "status": .optional(report.status.map(Int64.init)),
                ]))
            guard report.sendAttemptResult == .success else { return }
            try writing.execute(
                Statement.Notifications.setDelivered, key + [.integer(now.milliseconds)])
        }
        realm.ports.log(
            .info, "notification attempted by hand", context,
            ["notification": place.uuid, "result": report.sendAttemptResult.rawValue])
        return try await notification(uuid, ofApp: bundleID)
    }

    private static func check(_ report: NotificationAttemptReport) throws {
        let isKnown = SendAttemptResult.known.contains(report.sendAttemptResult)
        guard isKnown, report.status.map({ (100...999).contains($0) }) ?? true else {
            throw Refusal(
                .badRequest, code: "attemptInvalid", "This is not the result of an attempt.",
                field: isKnown ? "status" : "sendAttemptResult",
                rule: isKnown
                    ? "an HTTP status, 100 to 999"
                    : SendAttemptResult.known.map(\.rawValue).sorted().joined(separator: ", "),
                remedy: isKnown ? "leave it out if there was no answer" : "send one of them")
        }
        if let url = report.url { try NotificationURL.check(url, isProduction: false) }
    }
}
