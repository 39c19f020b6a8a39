// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Foundation
import Storage
import StorageSQLite
import StoreWire
import TestSupport
import Testing

@testable import Ledger

/// A ledger's backup that a stranger has changed, with a right SHA-256.
@Suite(.timeLimit(.minutes(5))) struct StrangeBackupTests {
    private static let huge = "9223372036854775807"

    private static let filled = Task { () -> ArchiveText in
        let folder = try temporaryFolder()
        let file = folder.file("ledger.sqlite")
        let book = try await Book.open(
            storage: try await SQLiteStorage.open(file: file, migrations: Ledger.migrations))
        try await book.take(1) { $0.quantity = 3 }
        _ = try await book.redeem()
        _ = try await book.ledger.reserve(
            ReserveRequest(idempotencyKey: "reserved", productId: "credits.5", purpose: "feed"),
            account: "blob")
        await book.ledger.close()
        let source = try SQLiteReader(file: file)
        _ = try await LedgerBackup.write(
            source, SQLiteStorage.dialect, to: folder.file("copy"), madeAt: Book.now)
        try await source.close()
        return try ArchiveText(file: folder.file("copy"))
    }

    private func fault(_ text: ArchiveText, _ comment: String) -> ArchiveFault? {
        let fault = #expect(throws: ArchiveFault.self, "\(comment)") {
            try LedgerRestore.check(text.bytes, name: "strange")
        }
        #expect(fault?.code == .invalid, "\(comment)")
        return fault
    }

    @Test func `a backup as it was written passes, and has every table and column`() async throws {
        let text = try await Self.filled.value

        try LedgerRestore.check(text.bytes, name: "own")

        for rules in LedgerSchema.tables.filter(\.isInBackup) {
            let (_, table) = try text.table(rules.name)
            #expect(Set(table.columns) == Set(rules.columns.map(\.name)))
        }
        #expect(
            Set(text.tables.map(\.table.table))
                == Set(LedgerSchema.tables.filter(\.isInBackup).map(\.name)))
    }

    @Test(
        arguments: [
            SpoiltValue("accounts.account", "\"\""), SpoiltValue("accounts.revision", "-1", huge),
            SpoiltValue("purchases.root", "\"../x\""),
            SpoiltValue("purchases.environment", "\"Moon\""),
            SpoiltValue("purchases.quantity", "0", huge),
            SpoiltValue("purchases.spent", "-1", "4"),
            SpoiltValue("purchases.purchased_at", huge),
            SpoiltValue("purchases.signed_at", "null"), SpoiltValue("purchases.revision", huge),
            SpoiltValue("purchases.currency", "7"), SpoiltValue("redemptions.unit", "0", huge),
            SpoiltValue("redemptions.purpose", "\"\""),
            SpoiltValue("redemptions.redeemed_at", huge),
            SpoiltValue("redemptions.environment", "\"\""),
            SpoiltValue("ledger_keys.door", "\"other\""),
            SpoiltValue("ledger_keys.secret", "\"\"", "\"sixteen letters \\u001b\""),
        ])
    func `a value that no ledger writes is refused`(spoilt: SpoiltValue) async throws {
        for value in spoilt.values {
            var strange = try await Self.filled.value
            try strange.put(value, spoilt.column, of: spoilt.table)

            _ = fault(strange, "\(spoilt) = \(value)")
        }
    }

    /// Every column, tried with what none should hold. A column that may hold one
    /// of these is named here, with the reason; a new one fails until it has a rule.
    @Test func `no column of any table holds what is strange, but those named`() async throws {
        let text = try await Self.filled.value
        // As the merchant calls them, and as another store has signed them.
        let names: Set = [
            "accounts.account", "purchases.account", "redemptions.account",
            "redemptions.idempotency_key", "redemptions.purpose",
            "redemptions.asked_transaction_id", "redemptions.asked_product_id",
            "purchases.bundle_id", "purchases.transaction_id",
            "purchases.original_transaction_id", "purchases.product_id",
            "purchases.product_type", "purchases.currency", "redemptions.bundle_id",
            "redemptions.transaction_id", "redemptions.product_id",
        ]
        let numbers: Set = ["purchases.price", "purchases.revocation_reason"]
        let dates: Set = [
            "purchases.purchased_at", "purchases.signed_at", "purchases.revoked_at",
        ]
        let expected = [
            "path": names, "escape": names, "bidirectional": names, "long": [],
            "huge": numbers, "negative": numbers.union(dates),
        ]
        for (name, value) in StrangeValue.all {
            var admitting: Set<String> = []
            for (_, table) in text.tables {
                for column in table.columns {
                    var strange = try text.only(table.table)
                    try strange.put(value, column, of: table.table)
                    let judged = Result {
                        try ArchiveContents(
                            bytes: strange.bytes, name: "strange", holds: LedgerBackup.holds,
                            judge: LedgerSchema.judge)
                    }
                    if case .success = judged { admitting.insert("\(table.table).\(column)") }
                }
            }
            #expect(admitting == expected[name], "\(name)")
        }
    }

    /// What is spent is what was redeemed: else the next unit would be one that is spent.
    @Test(
        arguments: [
            ("purchases", "spent", "0"), ("redemptions", "unit", "2"),
            ("redemptions", "transaction_id", "\"999\""),
            ("redemptions", "bundle_id", "\"com.example.other\""),
            ("redemptions", "environment", "\"Production\""),
            ("redemptions", "root", "\"\(String(repeating: "0", count: 64))\""),
        ])
    func `a purchase whose redemptions are others is refused`(
        table: String, column: String, value: String
    ) async throws {
        var strange = try await Self.filled.value
        try strange.put(value, column, of: table)

        let fault = fault(strange, "\(table).\(column)")

        #expect(fault?.message.contains("`spent` of `purchases`") == true, "\(fault as Any)")
    }

    @Test func `tables and databases that no ledger has are refused`() async throws {
        let text = try await Self.filled.value
        let extra: [Substring] = [
            #"{"table":"restores","columns":["singleton"]}"#,
            #"{"table":"sqlite_master","columns":["sql"]}"#,
            #"{"database":"other","migrations":[]}"#,
        ]
        for line in extra {
            var strange = text
            strange.lines.insert(line, at: 2)
            _ = fault(strange, "\(line)")
        }
    }
}
