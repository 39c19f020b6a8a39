// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// A book of credits: an account's balance in one currency and one environment.
struct CreditBook: Hashable, Sendable {
    let account: String
    let environment: Environment
    let currency: String

    var values: [SQLValue] {
        [.text(account), .text(environment.rawValue), .text(currency)]
    }

    var columns: Table.Values {
        [
            "account": .text(account), "environment": .text(environment.rawValue),
            "currency": .text(currency),
        ]
    }
}

/// What an entry adds to the four legs of its book. The sum is always zero.
struct CreditLegs: Hashable, Sendable {
    let wallet: Int64
    let issued: Int64
    let spent: Int64
    var writtenOff: Int64 { -(wallet + issued + spent) }

    private init(wallet: Int64, issued: Int64 = 0, spent: Int64 = 0) {
        (self.wallet, self.issued, self.spent) = (wallet, issued, spent)
    }

    static func grant(_ amount: Int64) -> CreditLegs {
        CreditLegs(wallet: amount, issued: -amount)
    }

    static func spending(_ amount: Int64) -> CreditLegs {
        CreditLegs(wallet: -amount, spent: amount)
    }

    /// The store has revoked a purchase, of whose `amount` the account had spent
    /// `consumed` at that time or spends them later.
    static func reversal(
        _ policy: Grant.Reversal, amount: Int64, consumed: Int64
    ) -> CreditLegs {
        switch policy {
        case .remove: CreditLegs(wallet: consumed - amount, issued: amount)
        case .keep: CreditLegs(wallet: 0, issued: amount)
        case .debt: CreditLegs(wallet: -amount, issued: amount)
        }
    }

    /// What a grant adds to its book as it stands.
    static func standing(
        _ policy: Grant.Reversal, amount: Int64, consumed: Int64, isReversed: Bool
    ) -> CreditLegs {
        let back =
            isReversed
            ? reversal(policy, amount: amount, consumed: consumed) : CreditLegs(wallet: 0)
        return CreditLegs(
            wallet: amount - consumed + back.wallet, issued: back.issued - amount,
            spent: consumed)
    }

    /// Undoes it.
    var negated: CreditLegs {
        CreditLegs(wallet: -wallet, issued: -issued, spent: -spent)
    }

    var columns: Table.Values {
        [
            "wallet": .integer(wallet), "issued": .integer(issued), "spent": .integer(spent),
            "written_off": .integer(writtenOff),
        ]
    }
}

/// An entry of a book of credits.
struct CreditEntry: Hashable, Sendable {
    enum Kind: String, Sendable, CaseIterable {
        case grant, spending, reversal, restoration
        /// Credits of a purchase that went to another account, or came from one.
        case transfer
    }

    /// The cause of an entry.
    enum Cause: Hashable, Sendable {
        case purchase(PurchaseKey)
        case spending(idempotencyKey: String, purpose: String)
    }

    let book: CreditBook
    let number: Int64
    let kind: Kind
    let legs: CreditLegs
    /// What the account can spend after it.
    let balance: Int64
    let recordedAt: Timestamp
    let cause: Cause

    var row: [SQLValue] {
        let columns: Table.Values = [
            "number": .integer(number), "kind": .text(kind.rawValue),
            "balance": .integer(balance), "recorded_at": .integer(recordedAt.milliseconds),
        ]
        let cause: Table.Values =
            switch cause {
            case .purchase(let key):
                [
                    "root": .text(key.root), "bundle_id": .text(key.bundleID),
                    "transaction_id": .text(key.transactionID),
                ]
            case .spending(let key, let purpose):
                ["idempotency_key": .text(key), "purpose": .text(purpose)]
            }
        return LedgerSchema.creditEntries.row(book.columns, legs.columns, columns, cause)
    }

    /// Adds to the book and writes the entry. Runs in a commit.
    static func post(
        _ kind: Kind, _ legs: CreditLegs, to book: CreditBook, for cause: Cause,
        at now: Timestamp, _ writing: any Writing
    ) throws {
        let row = LedgerSchema.creditBooks.row(
            book.columns, legs.columns, ["entries": .integer(1)])
        guard let after = try writing.first(Statement.Credits.post, row) else {
            throw StorageFault(.malformedRow, "a book of credits has no balance")
        }
        let entry = CreditEntry(
            book: book, number: try after.integer("entries"), kind: kind, legs: legs,
            balance: try after.integer("wallet"), recordedAt: now, cause: cause)
        try writing.execute(Statement.Credits.insertEntry, entry.row)
    }
}
