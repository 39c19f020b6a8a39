// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// A notification with its attempts.
struct SentNotification: Sendable {
    let uuid: String
    let signedAt: Timestamp
    let signedPayload: String
    let attempts: [SendAttemptItem]

    /// Whether it comes before another in the history.
    func isBefore(_ other: SentNotification) -> Bool {
        signedAt == other.signedAt ? uuid.isBefore(other.uuid) : signedAt < other.signedAt
    }

    /// Reads rows of one attempt each. Those of a notification are adjacent.
    static func read(_ rows: [Row]) throws -> [SentNotification] {
        var found: [SentNotification] = []
        for row in rows {
            let attempt = SendAttemptItem(
                attemptDate: Timestamp(milliseconds: try row.integer("attempted_at")),
                sendAttemptResult: SendAttemptResult(try row.text("result")))
            let uuid = try row.text("notification_uuid")
            let before = found.last?.uuid == uuid ? found.popLast()?.attempts ?? [] : []
            found.append(
                SentNotification(
                    uuid: uuid, signedAt: Timestamp(milliseconds: try row.integer("signed_at")),
                    signedPayload: try row.text("signed_payload"), attempts: before + [attempt]))
        }
        return found
    }
}
