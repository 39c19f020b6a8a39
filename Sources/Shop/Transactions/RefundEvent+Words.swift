// SPDX-License-Identifier: Apache-2.0

import Commerce

extension RefundEvent.Change {
    /// The name of the kind of event, and a sentence for people about a
    /// transaction.
    func words(_ transaction: TransactionID) -> (kind: String, message: String) {
        switch self {
        case .requested(let wish):
            (
                "refundRequested",
                "The customer asked for the money of transaction \(transaction) back: \(wish.words)."
            )
        case .informed:
            (
                "refundReported",
                "The merchant reported about the use of transaction \(transaction)."
            )
        case .declined:
            ("refundDeclined", "The refund of transaction \(transaction) was declined.")
        case .granted(let grant): grant.words(transaction)
        case .reversed:
            (
                "refundTakenBack",
                "The refund of transaction \(transaction) was taken back, and it is valid again."
            )
        }
    }
}

extension RefundGrant {
    fileprivate func words(_ transaction: TransactionID) -> (kind: String, message: String) {
        switch kind {
        case .full:
            (
                "refundGranted",
                "\(sum) of transaction \(transaction) was given back, and it is revoked."
            )
        case .prorated:
            (
                "refundGranted",
                "\(sum) of transaction \(transaction) was given back for its unused part, and it "
                    + "is revoked."
            )
        case .upgrade:
            (
                "upgradeRefunded",
                "\(sum) of transaction \(transaction) was given back for the time that the "
                    + "upgrade replaced."
            )
        case .nothing:
            ("transactionRevoked", "Transaction \(transaction) was revoked without a refund.")
        }
    }
}

extension RefundWish {
    fileprivate var words: String {
        switch self {
        case .unintended: "the purchase was not intended"
        case .unfulfilled: "it was not delivered or does not work"
        case .unsatisfied: "the customer is not satisfied"
        case .legal: "a legal reason"
        case .other: "another reason"
        }
    }
}
