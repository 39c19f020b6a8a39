// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire

/// What the ledger reads of verifyReceipt's answer. Numbers are texts there.
struct VerifyReceiptReply: Hashable, Sendable, Decodable {
    struct Receipt: Hashable, Sendable, Decodable {
        let bundleID: String?
        let purchases: [Entry]?

        private enum CodingKeys: String, CodingKey {
            case bundleID = "bundle_id"
            case purchases = "in_app"
        }
    }

    struct Entry: Hashable, Sendable, Decodable {
        let transactionID: String?
        let cancellationDate: String?
        let cancellationReason: String?
        let accountToken: String?

        private enum CodingKeys: String, CodingKey {
            case transactionID = "transaction_id"
            case cancellationDate = "cancellation_date_ms"
            case cancellationReason = "cancellation_reason"
            case accountToken = "app_account_token"
        }
    }

    let status: Int
    let environment: String?
    let receipt: Receipt?
    let latestReceipt: String?
    let latestPurchases: [Entry]?

    private enum CodingKeys: String, CodingKey {
        case status, environment, receipt
        case latestReceipt = "latest_receipt"
        case latestPurchases = "latest_receipt_info"
    }

    /// What a status means for the question.
    enum Meaning: Hashable {
        case valid
        /// The receipt is of the other environment.
        case elsewhere
        case refused
        /// A later call may have another answer.
        case trouble(StoreTrouble.Kind)
    }

    var meaning: Meaning {
        switch ReceiptStatus(rawValue: status) {
        case .valid, .expired: .valid
        case .sandboxAtProduction, .productionAtSandbox: .elsewhere
        case .secretMismatch: .trouble(.keyRefused)
        case .unavailable, .internalError: .trouble(.unreachable)
        case .malformed: .trouble(.unclear)
        case let status where status.isRetryable: .trouble(.unreachable)
        default: .refused
        }
    }
}

/// A purchase that a store's answer vouches for, with the account that it names.
struct VouchedPurchase: Sendable {
    let transactionID: String
    let proof: Result<ProvenPurchase, LedgerRefusal>
}

extension VerifyReceiptReply {
    /// Returns what the answer proves. The store has vouched for the receipt's bytes,
    /// which contain each product's type; the answer adds what was cancelled since.
    func purchases(
        sent receipt: AppReceipt, root: String, environment: Environment, bundleID: String
    ) -> [VouchedPurchase] {
        var newest = receipt
        if let text = latestReceipt, let bytes = try? Edge.receipt(text),
            let latest = try? AppReceipt(vouchedFor: bytes),
            latest.bundleID?.value.isSame(as: bundleID) == true
        {
            newest = latest
        }
        let known = Set(newest.purchases.map(\.transactionID))
        let all =
            newest.purchases.map { ($0, newest.creationDate) }
            + receipt.purchases.filter { !known.contains($0.transactionID) }
            .map { ($0, receipt.creationDate) }
        let entries = self.entries
        return all.map { purchase, createdAt in
            var purchase = purchase
            let entry = entries[purchase.transactionID]
            purchase.cancellationDate = entry?.cancelledAt ?? purchase.cancellationDate
            purchase.cancellationReason =
                entry?.cancellationReason.flatMap { Int64($0) } ?? purchase.cancellationReason
            let signedAt = max(createdAt, purchase.cancellationDate ?? createdAt)
            let found = purchase
            return VouchedPurchase(
                transactionID: purchase.transactionID,
                proof: Result { () throws(LedgerRefusal) in
                    try ProvenPurchase(
                        found, root: root, environment: environment, bundleID: bundleID,
                        createdAt: signedAt, account: entry?.accountToken)
                })
        }
    }

    private var entries: [String: Entry] {
        var found: [String: Entry] = [:]
        for entry in (receipt?.purchases ?? []) + (latestPurchases ?? []) {
            guard let id = entry.transactionID else { continue }
            // A cancellation in either list counts.
            if let known = found[id], known.cancelledAt != nil, entry.cancelledAt == nil {
                continue
            }
            found[id] = entry
        }
        return found
    }
}

extension VerifyReceiptReply.Entry {
    fileprivate var cancelledAt: Timestamp? {
        cancellationDate.flatMap { Int64($0) }.flatMap {
            $0.magnitude <= Timestamp.magnitudeMax ? Timestamp(milliseconds: $0) : nil
        }
    }
}
