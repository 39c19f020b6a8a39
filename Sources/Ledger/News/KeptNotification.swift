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
    private let type: String
    private let subtype: String?
    private let environment: String?
    private let bundleID: String?
    private let signedAt: Timestamp?

    init(
        _ proven: Prover.Notification, payload: String, at now: Timestamp, isFromHistory: Bool
    ) throws(LedgerRefusal) {
        let said = proven.said
        root = proven.root
        // A notification without its UUID is known by its bytes.
        id =
            try Edge.optional(Self.filled(said.notificationUUID), "notificationUUID")
            ?? CertificateAuthority.fingerprint(of: Array(payload.utf8))
        type = try Edge.text(said.notificationType ?? "", "notificationType")
        subtype = try Edge.optional(Self.filled(said.subtype), "subtype")
        // Only data that was checked against the apps has them.
        environment = said.data?.environment
        bundleID = said.data?.bundleId
        signedAt = said.signedDate
        self.payload = payload
        receivedAt = now
        self.isFromHistory = isFromHistory
    }

    /// One of version 1, whose receipt was verified with `root`, or waits for its store.
    init(
        _ old: OldNotification, root: String, environment: String?, bundleID: String,
        at now: Timestamp
    ) {
        self.root = root
        id = Self.id(old)
        payload = old.payload
        receivedAt = now
        isFromHistory = false
        type = old.type
        subtype = nil
        self.environment = environment
        self.bundleID = bundleID
        signedAt = nil
    }

    /// Version 1 has no UUID.
    static func id(_ old: OldNotification) -> String {
        CertificateAuthority.fingerprint(of: Array(old.payload.utf8))
    }

    var key: [SQLValue] { [.text(root), .text(id)] }

    /// Keeps the notification once, and owes its copies. Returns whether it was not known.
    /// `refusal`: why its purchase is not booked. `isErased`: its account was erased, so its
    /// contents are not kept.
    @discardableResult
    func write(
        _ writing: any Writing, refusal: String?, forwardsTo urls: [String],
        isErased: Bool = false
    ) throws -> Bool {
        let row = row(refusal, payload: isErased ? ErasedAccount.payload : payload)
        let isNew = try writing.first(Statement.News.keep, row) != nil
        if !isNew {
            try writing.execute(Statement.News.judge, key + [.optional(refusal)])
        } else if !urls.isEmpty {
            try writing.insertMany(Statement.Forwards.owe, urls.map(forward))
        }
        return isNew
    }

    /// An empty text counts as none.
    private static func filled(_ text: String?) -> String? {
        text.flatMap { $0.isEmpty ? nil : $0 }
    }

    private func row(_ refusal: String?, payload: String) -> [SQLValue] {
        LedgerSchema.notifications.row([
            "root": .text(root), "notification_id": .text(id),
            "environment": .optional(environment), "bundle_id": .optional(bundleID),
            "notification_type": .text(type), "subtype": .optional(subtype),
            "signed_at": .optional(signedAt?.milliseconds),
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
