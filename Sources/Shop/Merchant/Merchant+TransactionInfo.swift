// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
public import StoreWire

extension Merchant {
    /// Returns one transaction, finished or not: `GET
    /// /inApps/v1/transactions/{transactionId}`.
    ///
    /// Throws ``AppleRefusal``, in order: 4000006, 4000048, 4040010 (also for
    /// another app's transaction).
    public func transactionInfo(_ id: String) async throws -> TransactionInfoResponse {
        let number = try Self.number(id)
        if NumberLayout(number: number)?.kind == .appTransaction {
            throw AppleRefusal(.appTransactionIdNotSupported)
        }
        let row = try await realm.find(
            ofNumber: number, Statement.Transactions.byID, [.integer(number)])
        guard let row, try row.text("bundle_id") == bundleID.value else {
            throw AppleRefusal(.transactionIdNotFound)
        }
        let facts = try TransactionFacts(row: row)
        let now = try ClockRow(row).now(wall: realm.ports.wall.now)
        return TransactionInfoResponse(
            signedTransactionInfo: try realm.sign(facts, at: now))
    }
}
