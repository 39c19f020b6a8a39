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
        (one.purchasedAt, one.length, one.transactionID)
            < (other.purchasedAt, other.length, other.transactionID)
    }

    /// As SQL counts it.
    private var length: Int { transactionID.unicodeScalars.count }

    /// The same order in SQL, of a table by its short name.
    static func columns(_ table: String) -> String {
        "\(table).purchased_at, length(\(table).transaction_id), \(table).transaction_id"
    }

    /// Its opposite, in a query of one table.
    static let newestFirst =
        "purchased_at DESC, length(transaction_id) DESC, transaction_id DESC"
}
