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
            // One that was recorded as unsent has no attempt.
            let attempt = try row.optionalInteger("attempted_at").map { date in
                SendAttemptItem(
                    attemptDate: Timestamp(milliseconds: date),
                    sendAttemptResult: SendAttemptResult(try row.text("result")))
            }
            let uuid = try row.text("notification_uuid")
            let before = found.last?.uuid == uuid ? found.popLast()?.attempts ?? [] : []
            found.append(
                SentNotification(
                    uuid: uuid, signedAt: Timestamp(milliseconds: try row.integer("signed_at")),
                    signedPayload: try row.text("signed_payload"),
                    attempts: before + [attempt].compactMap { $0 }))
        }
        return found
    }
}
