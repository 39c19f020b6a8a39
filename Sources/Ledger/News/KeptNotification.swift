// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire

/// A verified notification, as it is kept.
struct KeptNotification: Hashable, Sendable {
    let root: String
    let id: String
    let payload: String
    let receivedAt: Timestamp
    let isFromHistory: Bool
    private let said: ResponseBodyV2DecodedPayload

    init(
        _ proven: Prover.Notification, payload: String, at now: Timestamp, isFromHistory: Bool
    ) throws(LedgerRefusal) {
        said = proven.said
        root = proven.root
        // A notification without its UUID is known by its bytes.
        id =
            try Edge.optional(Self.filled(said.notificationUUID), "notificationUUID")
            ?? CertificateAuthority.fingerprint(of: Array(payload.utf8))
        _ = try Edge.text(said.notificationType ?? "", "notificationType")
        _ = try Edge.optional(Self.filled(said.subtype), "subtype")
        self.payload = payload
        receivedAt = now
        self.isFromHistory = isFromHistory
    }

    var key: [SQLValue] { [.text(root), .text(id)] }

    /// Keeps the notification once, and owes its copies. `refusal`: why its purchase
    /// is not booked. `isErased`: its account was erased, so its contents are not kept.
    func write(
        _ writing: any Writing, refusal: String?, forwardsTo urls: [String],
        isErased: Bool = false
    ) throws {
        let row = row(refusal, payload: isErased ? ErasedAccount.payload : payload)
        let isNew = try writing.first(Statement.News.keep, row) != nil
        guard isNew else {
            return try writing.execute(Statement.News.judge, key + [.optional(refusal)])
        }
        guard !urls.isEmpty else { return }
        try writing.insertMany(Statement.Forwards.owe, urls.map(forward))
    }

    /// An empty text counts as none.
    private static func filled(_ text: String?) -> String? {
        text.flatMap { $0.isEmpty ? nil : $0 }
    }

    private func row(_ refusal: String?, payload: String) -> [SQLValue] {
        // Only data that was checked against the apps has them.
        let data = said.data
        return LedgerSchema.notifications.row([
            "root": .text(root), "notification_id": .text(id),
            "environment": .optional(data?.environment), "bundle_id": .optional(data?.bundleId),
            "notification_type": .text(said.notificationType ?? ""),
            "subtype": .optional(Self.filled(said.subtype)),
            "signed_at": .optional(said.signedDate?.milliseconds),
            "received_at": .integer(receivedAt.milliseconds),
            "from_history": .boolean(isFromHistory), "payload": .text(payload),
            "refusal": .optional(refusal),
        ])
    }

    private func forward(to url: String) -> [SQLValue] {
        LedgerSchema.forwards.row([
            "url": .text(url), "root": .text(root), "notification_id": .text(id),
            "received_at": .integer(receivedAt.milliseconds),
            "due_at": .integer(receivedAt.milliseconds), "attempt": .integer(0),
        ])
    }
}
