// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import Storage
public import StoreWire

extension MerchantRoom {
    /// Returns a page of an app's notifications that were attempted or recorded as
    /// unsent, oldest first. `onlyFailures`: those that have not arrived. Refusals, in
    /// order: `textInvalid`, `bundleIdUnknown`, `cursorInvalid`.
    public func notifications(
        ofApp bundleID: String, onlyFailures: Bool = false, after: String? = nil,
        limit: Int = ListPage.max
    ) async throws -> NotificationRecords {
        try await checkApp(bundleID)
        let place = try Self.place(after)
        let count = Int(ListPage.limit(limit))
        let values: [SQLValue] = [
            .text(bundleID), .integer(.min), .integer(.max), .integer(place.signedAt),
            .text(place.uuid), .null, .null, .null, .boolean(onlyFailures),
            .integer(Int64(count)), .integer(.max),
        ]
        let found = try await realm.page(count, by: { $0.isBefore($1) }) {
            try SentNotification.read(try $0.query(Statement.Notifications.history, values))
        }
        let last = found.count == count ? found.last : nil
        return NotificationRecords(
            notifications: found.map(\.record),
            next: last.map { "\($0.signedAt.milliseconds)_\($0.uuid)" })
    }

    /// Returns one of them. Refusals, in order: `textInvalid`, `bundleIdUnknown`,
    /// `notificationUnknown`.
    public func notification(
        _ uuid: String, ofApp bundleID: String
    ) async throws -> NotificationRecord {
        try await sent(uuid, ofApp: bundleID).record
    }

    private func sent(_ uuid: String, ofApp bundleID: String) async throws -> SentNotification {
        guard let found = try SentNotification.read(try await rows(uuid, ofApp: bundleID)).first
        else { throw Self.notificationUnknown }
        return found
    }

    /// Returns where the rows of a notification are. Refusals: see
    /// ``notification(_:ofApp:)``.
    func place(
        of uuid: String, ofApp bundleID: String
    ) async throws -> (customer: CustomerID, cause: String, uuid: String) {
        guard let row = try await rows(uuid, ofApp: bundleID).first else {
            throw Self.notificationUnknown
        }
        return (
            CustomerID(try row.integer("customer_id")), try row.text("cause"),
            try row.text("notification_uuid")
        )
    }

    /// Returns the rows of a notification, one for each attempt.
    private func rows(_ uuid: String, ofApp bundleID: String) async throws -> [Row] {
        try await checkApp(bundleID)
        try Edge.text(uuid, "notificationUUID")
        let values: [SQLValue] = [.text(bundleID), .text(uuid.lowercased())]
        return Array(
            try await realm.readAll {
                try $0.query(Statement.Notifications.byUUID, values)
            }.joined())
    }

    private static let notificationUnknown = Refusal(
        .notFound, code: "notificationUnknown", "There is no such notification.",
        field: "notificationUUID", rule: "one of the app's that was signed",
        remedy: "list the notifications")

    private func checkApp(_ bundleID: String) async throws {
        try Edge.text(bundleID, "bundleId")
        guard try await realm.loadShelf().apps[BundleID(bundleID)] != nil else {
            throw CatalogueRoom.unknownApp
        }
    }

    private static func place(_ after: String?) throws -> (signedAt: Int64, uuid: String) {
        guard let after else { return (.min, "") }
        let parts = after.split(separator: "_", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let signedAt = Edge.number(parts[0]), UUIDText(parts[1]) != nil
        else { throw ListPage.cursorInvalid("after") }
        return (signedAt, parts[1])
    }
}

extension SentNotification {
    /// The notification for operators. Its type is read from the payload.
    fileprivate var record: NotificationRecord {
        let parts = signedPayload.split(separator: ".", omittingEmptySubsequences: false)
        var payload = ResponseBodyV2DecodedPayload()
        if parts.count == 3, let bytes = Base64.decodeURL(Array(parts[1].utf8)[...]) {
            payload =
                (try? JSONDecoder().decode(
                    ResponseBodyV2DecodedPayload.self, from: Data(bytes))) ?? payload
        }
        return NotificationRecord(
            notificationUUID: uuid, notificationType: payload.notificationType ?? "",
            subtype: payload.subtype, signedDate: signedAt, sendAttempts: attempts,
            signedPayload: signedPayload)
    }
}
