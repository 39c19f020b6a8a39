// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// The accounts that have the purchases of a receipt.
enum PurchaseOwners {
    private struct Owner: Hashable {
        let key: PurchaseKey
        let account: AccountName?
        let purchasedAt: Int64
    }

    /// Locks the lines of the accounts that have some purchases, and returns whether one of
    /// them was erased. What is written behind the lines is either found by an erasure, or
    /// comes after it. A purchase of no account is locked itself.
    static func includeErased(of keys: [PurchaseKey], _ writing: any Writing) throws -> Bool {
        var known = try owners(of: keys, writing)
        for _ in 0..<3 {
            let accounts = Set(known.compactMap(\.account))
            guard !accounts.contains(where: { ErasedAccount.isOne($0.value) }) else {
                return true
            }
            for account in accounts.inOrder {
                _ = try writing.first(
                    Statement.Accounts.takeKnownLine, [.text(account.value)])
            }
            for owner in known where owner.account == nil {
                try writing.execute(Statement.Booked.lockUnclaimed, owner.key.values)
            }
            let locked = try owners(of: keys, writing)
            guard locked != known else { return false }
            known = locked
        }
        throw StorageFault(.busy, "purchases changed hands while their notification was kept")
    }

    /// In the order in which a claim locks the periods of a subscription.
    private static func owners(of keys: [PurchaseKey], _ reading: any Reading) throws -> [Owner] {
        let rows = try reading.queryEach(Statement.Booked.owner, keys.map(\.values))
        return try zip(keys, rows).compactMap { key, rows in
            try rows.first.map { row in
                Owner(
                    key: key,
                    account: try row.optionalText("account").map { AccountName($0) },
                    purchasedAt: try row.integer("purchased_at"))
            }
        }.sorted {
            ($0.purchasedAt, $0.key.transactionID) < ($1.purchasedAt, $1.key.transactionID)
        }
    }
}
