// SPDX-License-Identifier: Apache-2.0

import Commerce

/// The place of a purchase among those of its subscription: by the purchase date, and of
/// two with one date, as where a store's clock stands, by the transaction's number.
///
/// Numbers are text, and a store that counts from one gives them different lengths: 9 comes
/// before 10. So the shorter of two is the earlier.
struct PeriodOrder: Comparable {
    let purchasedAt: Timestamp
    let transactionID: String

    init(_ purchasedAt: Timestamp, _ transactionID: String) {
        self.purchasedAt = purchasedAt
        self.transactionID = transactionID
    }

    static func < (one: PeriodOrder, other: PeriodOrder) -> Bool {
        one.purchasedAt == other.purchasedAt
            ? isSmaller(one.transactionID, than: other.transactionID)
            : one.purchasedAt < other.purchasedAt
    }

    /// Of two transactions' numbers. Their lengths are as SQL counts them.
    static func isSmaller(_ one: String, than other: String) -> Bool {
        (one.unicodeScalars.count, one) < (other.unicodeScalars.count, other)
    }

    /// The opposite order in SQL.
    static let newestFirst =
        "purchased_at DESC, length(transaction_id) DESC, transaction_id DESC"
}
