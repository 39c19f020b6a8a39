// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
public import StoreWire
import StrictJSON

extension Ledger {
    /// The most bytes of a notification's body.
    public static let notificationBytesMax = OldNotification.bytesMax

    /// Accepts the body of a notification of either version, as a store sends it.
    ///
    /// Version 2 is signed (``take(_:requestID:)``). Version 1 is not: the ledger reads
    /// nothing from it but its receipt, which verifyReceipt confirms, or a trusted root
    /// has signed. If the store does not answer, the receipt is kept and settled later.
    /// Every purchase of the receipt is booked once, like one that an app presents; then
    /// the notification is kept. A repeat asks no store and changes nothing. The answer
    /// has no purchase, because a receipt may prove many.
    ///
    /// Refusals of version 1, in order: `textInvalid`, `notificationInvalid`,
    /// `passwordRefused`, `receiptInvalid`, `proofInvalid`, `bundleIdRefused`,
    /// `notificationContradicts`, then as for a receipt; and `storeUnavailable`.
    public func take(
        notificationBody body: [UInt8], requestID: String = ""
    ) async throws -> NotificationTaken {
        guard let old = try OldNotification(body) else {
            return try await take(
                try StrictJSON.decode(ResponseBodyV2.self, from: body), requestID: requestID)
        }
        let isAdmitted = try admit(old)
        if try await !isKnown(old) {
            try await keep(old, isAdmitted: isAdmitted)
            ports.log("took a notification of version 1", ["requestId": requestID])
        }
        return NotificationTaken(
            notificationType: old.type, notificationUUID: nil, purchase: nil)
    }

    /// Returns whether the password is a configured shared secret. If one is configured,
    /// it has to be.
    private func admit(_ old: OldNotification) throws(LedgerRefusal) -> Bool {
        let secrets = configuration.stores.compactMap(\.sharedSecret)
        let isAdmitted = secrets.reduce(false) { found, secret in
            Self.isSame(old.password ?? "", secret) || found
        }
        guard isAdmitted || secrets.isEmpty else {
            throw LedgerRefusal(
                .unproven, code: "passwordRefused",
                "The password of this notification is not the app's shared secret.",
                field: "password", rule: "the shared secret of `--shared-secret`",
                remedy: "give the ledger the shared secret that the store sends")
        }
        return isAdmitted
    }

    /// Whether it was kept before, and all of its purchases were booked.
    private func isKnown(_ old: OldNotification) async throws -> Bool {
        let keys = prover.roots.map { [SQLValue.text($0), .text(KeptNotification.id(old))] }
        return try await storage.read { reading in
            try keys.contains { key in
                guard let row = try reading.first(Statement.News.find, key) else { return false }
                return try row.optionalText("refusal") == nil
            }
        }
    }

    private func keep(_ old: OldNotification, isAdmitted: Bool) async throws {
        let receipt = try AppReceipt.vouched(old.receipt)
        let app = try prover.app(of: receipt)
        guard old.bundleID.map({ $0.isSame(as: app.bundleID.value) }) != false else {
            throw LedgerRefusal(
                .badRequest, code: "notificationContradicts",
                "The notification and the receipt in it disagree.", field: "bid",
                rule: "one app for both", remedy: "submit the notification as the store sent it")
        }
        let heard = try await hear(old, of: app, isAdmitted: isAdmitted)
        let kept = KeptNotification(
            old, root: heard.root, environment: heard.taken?.environment,
            bundleID: app.bundleID.value, at: ports.wall.now)
        let keys = keys(of: receipt, bundleID: app.bundleID.value, heard)
        let (urls, now) = (configuration.forwardsTo, kept.receivedAt)
        try await commit { writing in
            let isErased = try PurchaseOwners.includeErased(of: keys, writing)
            if let (proof, trouble) = heard.waiting {
                // It could only wait with its contents.
                guard !isErased else { throw Self.erased }
                _ = try proof.keep(because: trouble, at: now, writing)
            }
            try kept.write(
                writing, refusal: heard.taken?.refused.first?.error.code,
                forwardsTo: isErased ? [] : urls, isErased: isErased)
        }
        if heard.waiting != nil { errands.ring() }
    }

    /// The purchases that a notification is about, as far as it is known: those of its
    /// receipt and of the store's answer.
    private func keys(
        of receipt: AppReceipt, bundleID: String, _ heard: Heard
    ) -> [PurchaseKey] {
        var found = Set(receipt.purchases.map(\.transactionID))
        let places: [(root: String, environment: Environment)]
        if let taken = heard.taken, let environment = Environment(named: taken.environment) {
            found.formUnion(taken.purchases.map(\.transactionId))
            found.formUnion(taken.refused.map(\.transactionId))
            places = [(heard.root, environment)]
        } else {
            places = (client?.places(of: bundleID, receipt.namedEnvironment) ?? [])
                .map { ($0.root, $0.environment) }
        }
        // Others are never booked, and no database could look for them.
        let ids = found.sorted().filter { (try? Edge.text($0, "transactionId")) != nil }
        return places.flatMap { place in
            ids.map {
                PurchaseKey(
                    root: place.root, environment: place.environment, bundleID: bundleID,
                    transactionID: $0)
            }
        }
    }

    /// What came of the receipt in a notification.
    private struct Heard: Sendable {
        let root: String
        /// Nil if nothing but the store can prove it.
        let taken: ReceiptTaken?
        /// What the store is asked about later.
        var waiting: (proof: WaitingProof, trouble: StoreTrouble)?
    }

    private func hear(
        _ old: OldNotification, of app: LedgerApp, isAdmitted: Bool
    ) async throws -> Heard {
        let bundleID = app.bundleID.value
        guard let client, let first = client.places(of: bundleID, nil).first else {
            return try await hear(local: old.receipt)
        }
        let proof = WaitingProof(
            .receipt, old.receipt, bundleID: bundleID, environment: nil, account: nil)
        do {
            let taken = try await verify(proof, rule: .prompt)
            let place = client.places(of: bundleID, Environment(named: taken.environment)).first
            return Heard(root: (place ?? first).root, taken: taken)
        } catch let trouble as StoreTrouble {
            // Until the store answers, what a trusted root has signed counts.
            let local: Heard?
            do { local = try await hear(local: old.receipt) } catch let refusal as LedgerRefusal {
                guard isAdmitted else { throw Self.unavailable(refusal) }
                local = nil
            }
            var heard = local ?? Heard(root: first.root, taken: nil)
            heard.waiting = (proof, trouble)
            return heard
        }
    }

    private func hear(local receipt: String) async throws -> Heard {
        let proven = try await prove(local: receipt)
        return Heard(root: proven.root, taken: try await book(proven, account: nil))
    }

    /// Anyone could have sent it, so the store has to send it again.
    private static func unavailable(_ refusal: LedgerRefusal) -> LedgerRefusal {
        LedgerRefusal(
            .unavailable, code: "storeUnavailable",
            "The store does not answer, and nothing else proves this notification.",
            field: "unified_receipt.latest_receipt",
            rule: "a receipt of a trusted root, or the shared secret: \(refusal.error.code)",
            remedy: "send it again; give the ledger --trust-receipts or --shared-secret")
    }

    /// The books have what the store has said until now, and the store sends the rest again.
    private static var erased: LedgerRefusal {
        LedgerRefusal(
            .unavailable, code: "storeUnavailable",
            "The store does not answer, and this notification is about an erased account.",
            field: "unified_receipt.latest_receipt",
            rule: "the contents of such a notification are not kept until the store answers",
            remedy: "send it again once the store answers")
    }
}
