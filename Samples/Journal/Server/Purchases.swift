// SPDX-License-Identifier: Apache-2.0

import Commerce
import Ledger
import Storage
import StoreWire

/// Everything that the server does about purchases.
struct Purchases: Sendable {
    static let year = "com.example.journal.comments12"
    let ledger: Ledger
    let storage: any Storage
    let clock: WallClock

    /// Books what the writer's receipt proves, and returns the years that are
    /// paid and not used. The app may finish a transaction that is booked and used.
    func verify(_ receipt: String, of writer: String) async throws -> Verified {
        let taken = try await ledger.take(TakeReceiptRequest(receipt: receipt, account: writer))
        let unspent = try await ledger.unspent(account: writer).purchases
        return Verified(
            unusedPurchase: unspent.filter { $0.productId == Self.year }.map(UnusedPurchase.init),
            booked: taken.purchases.map(\.transactionId))
    }

    /// Uses one paid year for a journal's comments. Both are one transaction, so
    /// neither happens without the other. The year's own id is the key: two taps,
    /// two devices and a repeated request use it once.
    func enableComments(
        on journal: String, with purchase: String, of writer: String
    ) async throws -> Journal {
        let paid = try ledger.prepare(
            RedeemRequest(
                idempotencyKey: purchase, transactionId: UnusedPurchase.transaction(of: purchase),
                productId: Self.year, purpose: "comments on journal \(journal)"),
            account: writer)
        let now = clock.now
        return try await storage.write { writing in
            guard try paid.redeem(in: writing).isNew else {
                return try Journals.lock(journal, writing)
            }
            let present = try Journals.lock(journal, writing).commentsUntil
            let end = max(now, present).adding(Period(1, .year))
            return try Journals.setEnd(journal, end, writing)
        }
    }
}

/// The answer to a receipt.
struct Verified: Codable, Equatable, Sendable {
    let unusedPurchase: [UnusedPurchase]
    let booked: [String]
}

/// One year that is paid and not used.
struct UnusedPurchase: Codable, Equatable, Sendable {
    /// The transaction, and which of its years.
    let id: String
    let transactionId: String

    init(_ purchase: LedgerPurchase) {
        transactionId = purchase.transactionId
        id = "\(transactionId)/\(purchase.quantity - purchase.unspent + 1)"
    }

    static func transaction(of id: String) -> String { String(id.prefix { $0 != "/" }) }
}
