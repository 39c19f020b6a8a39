// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension MerchantRoom {
    /// Owes an app a notification that an operator requests. This is audited.
    /// Refusals, in order: `textInvalid`, `textTooLong`,
    /// `notificationTypeUnknown`, `notificationTypeNotByHand`,
    /// `bundleIdUnknown`, `notificationVersionOne`, `notificationUrlMissing`.
    public func sendNotification(
        _ request: SendNotificationRequest, _ context: RequestContext
    ) async throws -> SendTestNotificationResponse {
        try Edge.text(request.bundleId, "bundleId")
        try Self.checkByHand(request.notificationType)
        let app = BundleID(request.bundleId)
        guard let known = try await realm.loadShelf().apps[app] else {
            throw CatalogueRoom.unknownApp
        }
        guard known.notificationVersion != 1 else {
            throw Refusal(
                .conflict, code: "notificationVersionOne",
                "This app's notifications are of version 1, which has no TEST.",
                field: "notificationType", rule: "an app with version 2",
                remedy: "cause an event, such as a purchase, or set the URL again without --v1")
        }
        do { return try await oweTest(app, context, isAudited: true) } catch let refusal
            as AppleRefusal where refusal.response == .serverNotificationURLNotFound
        {
            throw Refusal(
                .conflict, code: "notificationUrlMissing",
                "This app's notifications go nowhere.", field: "bundleId",
                rule: "an app that has a notification URL",
                remedy: "set one with `shopkeeper app notification-url URL`")
        }
    }

    /// Returns the status of a test notification of any of the realm's apps. One
    /// that was not attempted yet is returned without attempts. Refusals, in order:
    /// `textInvalid`, `textTooLong`, `notificationUnknown`.
    public func notificationStatus(
        _ token: String, bundleID: String
    ) async throws -> NotificationStatus {
        try Edge.text(token, "token")
        try Edge.text(bundleID, "bundleId")
        let key: [SQLValue] = [
            .integer(OwedNotification.nobody.value), .text(Self.testCause(token)),
        ]
        let (owed, rows) = try await realm.readHouse { reading in
            (
                try reading.first(Statement.Notifications.facts, key),
                try reading.query(Statement.Notifications.one, key + [.text(bundleID)])
            )
        }
        guard let owed, try owed.text("bundle_id") == bundleID else {
            throw Refusal(
                .notFound, code: "notificationUnknown", "There is no such notification.",
                field: "token", rule: "the token that asking for it answered, and its app",
                remedy: "ask for another")
        }
        let sent = try SentNotification.read(rows).first
        return NotificationStatus(
            signedPayload: sent?.signedPayload, sendAttempts: sent?.attempts ?? [])
    }

    /// Owes an app a test notification.
    func oweTest(
        _ bundleID: BundleID, _ context: RequestContext, isAudited: Bool = false
    ) async throws -> SendTestNotificationResponse {
        let name = realm.ports.randomness.uuid()
        let uuid = realm.uuid(for: "notification/TEST/\(name)")
        let token = try await realm.house(.rows, context) { house -> Ending<String?> in
            let writing = house.writing
            let app = try writing.first(Statement.Notifications.url, [.text(bundleID.value)])
            // Version 1 has no test.
            guard let app, try app.optionalText("notification_url") != nil,
                try app.optionalInteger("notification_version") != 1
            else { return .leave(nil) }
            let now = try Realm.now(writing, wall: house.wall)
            let token = "\(name)_\(now.milliseconds)"
            let owed = OwedNotification(
                customer: OwedNotification.nobody, cause: Self.testCause(token), uuid: uuid,
                type: NotificationKind.test, bundleID: bundleID, transaction: nil, revision: 0,
                owedAt: now)
            try owed.write(writing)
            if isAudited {
                try house.audit(
                    "notification.send", bundleID.value, before: nil,
                    after: ["type": "\(NotificationKind.test)", "testNotificationToken": token])
            }
            return .commit(token)
        }
        guard let token else { throw AppleRefusal(.serverNotificationURLNotFound) }
        realm.wakeWorkers()
        realm.ports.log(.info, "test notification owed", context, ["app": bundleID.value])
        return SendTestNotificationResponse(testNotificationToken: token)
    }

    static func testCause(_ token: String) -> String {
        "\(NotificationKind.test)/\(token)"
    }

    /// When a token was issued. Nil if the text is not a token.
    static func askedDate(ofToken token: String) -> Timestamp? {
        let parts = token.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2, UUIDText(String(parts[0]))?.text == String(parts[0]),
            let milliseconds = Edge.number(String(parts[1])),
            milliseconds.magnitude <= Timestamp.magnitudeMax
        else { return nil }
        return Timestamp(milliseconds: milliseconds)
    }

    private static func checkByHand(_ type: String) throws {
        if type == NotificationKind.test { return }
        guard NotificationKind.isKnown(type, subtype: nil) else {
            throw Refusal(
                .badRequest, code: "notificationTypeUnknown",
                "There is no such type of notification.", field: "notificationType",
                rule: NotificationKind.types.joined(separator: ", "),
                remedy: "send `\(NotificationKind.test)`")
        }
        throw Refusal(
            .notImplemented, code: "notificationTypeNotByHand",
            "A notification of this type is sent only when its event happens, not manually.",
            field: "notificationType", rule: "by hand, `\(NotificationKind.test)` alone",
            remedy: type == NotificationKind.oneTimeCharge
                ? "buy something: the sale owes it" : "send `\(NotificationKind.test)`")
    }
}
