// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Testing

@testable import Ledger

extension Book {
    static let root = String(repeating: "f", count: 64)

    /// Books facts as if a root had signed them, without the cost of a signature.
    @discardableResult
    func prove(
        _ id: Int, product: String = "coins", account: String?, signed: Int64 = 1,
        revoked: Int64? = nil, type: String = "ONE_TIME_CHARGE",
        _ change: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) async throws -> BookedPurchase {
        let payload = Self.payload(id) {
            $0.productId = product
            $0.signedDate = Self.now.adding(seconds: signed)
            $0.revocationDate = revoked.map { Self.now.adding(seconds: $0) }
            change(&$0)
        }
        return try await ledger.book(
            try ProvenPurchase(
                payload, root: Self.root, environment: .sandbox, bundleID: Self.bundleID.value
            ).reported(by: type), account: account)
    }

    @discardableResult
    func spend(
        _ key: String, _ amount: Int64, currency: String = "coins", account: String = "blob",
        purpose: String = "a hat"
    ) async throws -> LedgerSpending {
        try await ledger.spend(
            SpendRequest(
                idempotencyKey: key, currency: currency, amount: amount, purpose: purpose),
            account: account)
    }

    func balance(_ account: String = "blob", _ currency: String = "coins") async throws -> Int64? {
        try await ledger.balances(account: account).balances
            .first { $0.currency == currency }?.balance
    }

    /// The names of the entitlements that are active.
    func active(_ account: String = "blob") async throws -> [String] {
        let told = try await ledger.entitlements(account: account)
        let place = try #require(Environment(named: told.environment))
        // What was remembered is what the books say.
        let read = try await ledger.read(of: account, in: place).known
        #expect(told == read.answer(at: ledger.ports.wall.now).entitlements)
        return told.entitlements.filter(\.isActive).map(\.name)
    }

    /// Sentences about books that differ from their entries or their grants.
    func imbalances() async throws -> [String] {
        let legs = ["wallet", "issued", "spent", "written_off"]
        let sums = legs.map { "CAST(SUM(e.\($0)) AS BIGINT) AS \($0)" }.joined(separator: ", ")
        let entries = Statement(
            "test.entries",
            """
            SELECT e.account, e.currency, COUNT(*) AS entries, MAX(e.number) AS number, \(sums)
            FROM credit_entries e GROUP BY e.account, e.currency
            ORDER BY e.account, e.currency
            """)
        let books = Statement(
            "test.books",
            """
            SELECT b.account, b.currency, b.entries, b.entries AS number,
                \(legs.map { "b.\($0)" }.joined(separator: ", "))
            FROM credit_books b ORDER BY b.account, b.currency
            """)
        let lots = Statement(
            "test.lots",
            """
            SELECT g.account, g.name AS currency, CAST(SUM(CASE
                    WHEN NOT g.is_reversed OR g.on_reversal = 'keep' THEN g.amount - g.consumed
                    WHEN g.on_reversal = 'debt' THEN - g.consumed ELSE 0 END) AS BIGINT)
                AS wallet, CAST(SUM(g.consumed) AS BIGINT) AS spent
            FROM grants g WHERE g.kind = 'credits' GROUP BY g.account, g.name
            ORDER BY g.account, g.name
            """)
        let (rows, booked, granted) = try await storage.read { reading in
            (
                try reading.query(entries, []), try reading.query(books, []),
                try reading.query(lots, [])
            )
        }
        func words(_ rows: [Row], _ numbers: [String]) throws -> [String] {
            try rows.map { row in
                let name = "\(try row.text("account")) \(try row.text("currency"))"
                return try numbers.reduce(name) { "\($0) \($1) \(try row.integer($1))" }
            }
        }
        let all = ["entries", "number"] + legs
        let byEntries = Set(try words(rows, all)).symmetricDifference(try words(booked, all))
        let byLots = Set(try words(granted, ["wallet", "spent"]))
            .symmetricDifference(try words(booked, ["wallet", "spent"]))
            // Of a book whose grants have all gone to another account.
            .filter { !$0.hasSuffix(" wallet 0 spent 0") }
        return byEntries.sorted() + byLots.sorted()
    }
}
