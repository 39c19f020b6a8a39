// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Foundation
import SignedData
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
            asking: FakeStore(), environments: [.sandbox],
            storage: try await SQLiteStorage.open(file: file, migrations: Ledger.migrations),
            grants: try GrantRules([
                "coins": [
                    Grant(name: "coins", kind: .credits(perUnit: 100), onReversal: .debt),
                    Grant(name: "pro", kind: .entitlement(.period(Period(1, .year)))),
                ]
            ]),
            forwardsTo: ["https://merchant.example/hook"])
        _ = try await book.ledger.take(try Book.notification(try Book.signed(9)))
        _ = try await book.present(8)
        _ = try await book.ledger.fillGaps()
        try await book.take(1) { $0.quantity = 3 }
        _ = try await book.redeem()
        _ = try await book.ledger.reserve(
            ReserveRequest(idempotencyKey: "reserved", productId: "credits.5", purpose: "feed"),
            account: "blob")
        try await book.prove(20, account: "blob") {
            $0.expiresDate = Book.now
        }
        try await book.spend("spent", 30)
        _ = try await book.ledger.take(
            try Book.notification(try Book.signed(30)) {
                var renewal = JWSRenewalInfoDecodedPayload()
                renewal.originalTransactionId = "\(2_000_000_000_000_030)"
                renewal.signedDate = Book.now
                $0.signedRenewalInfo = try? Book.sandbox().transactions.sign(renewal)
            })
        try await LedgerActor.$current.withValue(LedgerActor("command")) {
            _ = try await book.ledger.createKey(
                CreateLedgerKeyRequest(name: "shop", scope: "server"))
            try await book.take(40)
        }
        _ = try await book.ledger.merge(
            MergeAccountRequest(into: "blob"), account: "part of it")
        var configuration = book.ledger.configuration
        configuration.accounts = AccountRules(restore: .share)
        configuration.webhooks = [
            try WebhookEndpoint(url: "https://merchant.example", secret: WebhookTests.secret)
        ]
        let sharing = try await Ledger.open(
            storage: book.storage, configuration: configuration, ports: book.ledger.ports)
        try await book.take(41) {
            $0.productId = "coins"
        }
        _ = try await sharing.restore(
            RestoreRequest(
                signedTransaction: try Book.signed(41) { $0.productId = "coins" }),
            account: "friend")
        _ = try await book.ledger.take(
            try Book.notification(
                try Book.signed(42), type: "REFUND_REVERSED",
                id: "6b1f0b9e-2f5c-4d0e-9a57-0d6f3c1e8a42"))
        // As a process leaves it that ends while it deletes.
        try await book.storage.write {
            try $0.execute(PersonalData.beginErasure, [.text("blob")])
        }
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
            SpoiltValue("grants.kind", "\"other\""), SpoiltValue("grants.name", "\"a b\""),
            SpoiltValue("grants.lasting", "\"forever\"", "\"other\""),
            SpoiltValue("grants.period", "\"P1H\"", "\"P2D\""),
            SpoiltValue("grants.amount", "-1", "29", huge),
            SpoiltValue("grants.consumed", "-1", "101", huge),
            SpoiltValue("grants.on_reversal", "\"other\""),
            SpoiltValue("credit_books.wallet", "71", huge),
            SpoiltValue("credit_books.entries", "-1"),
            SpoiltValue("credit_entries.kind", "\"other\"", "\"spending\""),
            SpoiltValue("credit_entries.wallet", "99"),
            SpoiltValue("credit_entries.number", "0"),
            SpoiltValue("terms.expires_at", huge), SpoiltValue("renewals.signed_at", "null"),
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
            "terms.bundle_id", "terms.transaction_id", "renewals.bundle_id",
            "renewals.original_transaction_id", "grants.bundle_id", "grants.transaction_id",
            "grants.account", "credit_books.account", "credit_entries.account",
            "credit_entries.bundle_id", "credit_entries.transaction_id",
            "proofs_waiting.account", "proofs_waiting.bundle_id", "proofs_waiting.proof",
            "proofs_waiting.trouble", "proofs_waiting.refusal",
            "notifications_in.notification_id", "notifications_in.bundle_id",
            "notifications_in.notification_type", "notifications_in.subtype",
            "notifications_in.payload", "notifications_in.refusal", "news_cursors.bundle_id",
            "news_cursors.page_token", "forwards.url", "forwards.notification_id",
            "forwards.trouble", "api_keys.name", "audit.actor", "audit.account",
            "audit.subject", "shares.account", "shares.bundle_id", "shares.transaction_id",
            "webhooks_out.url", "webhooks_out.message_id", "webhooks_out.account",
            "webhooks_out.body", "webhooks_out.trouble", "account_merges.account",
            "account_merges.into_account", "refund_reversals.bundle_id",
            "refund_reversals.transaction_id", "erasures.account",
        ]
        // A store's own texts, which are as long as they are.
        let texts: Set = ["proofs_waiting.proof", "notifications_in.payload"]
        let numbers: Set = ["purchases.price", "purchases.revocation_reason"]
        let dates: Set = [
            "purchases.purchased_at", "purchases.signed_at", "purchases.revoked_at",
            "terms.expires_at", "renewals.signed_at", "renewals.grace_until",
            "refund_reversals.signed_at",
            "grants.purchased_at", "credit_entries.balance",
            "notifications_in.signed_at", "news_cursors.read_through",
            "news_cursors.sweep_from", "news_cursors.sweep_seen",
        ]
        let expected = [
            "path": names, "escape": names, "bidirectional": names, "long": texts,
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

    /// Each book is the sum of its entries and of its grants: else credits could be
    /// spent that no purchase has brought in.
    @Test(
        arguments: [
            ("credit_books", "entries", "7"), ("credit_books", "currency", "\"gems\""),
            ("credit_books", "account", "\"other\""),
            ("credit_entries", "number", "3"), ("credit_entries", "currency", "\"gems\""),
            ("grants", "consumed", "29"), ("grants", "amount", "101"),
            ("grants", "is_reversed", "1"), ("grants", "account", "\"other\""),
            ("grants", "environment", "\"Production\""),
        ])
    func `books of credits that do not balance are refused`(
        table: String, column: String, value: String
    ) async throws {
        var strange = try await Self.filled.value
        try strange.put(value, column, of: table)

        let fault = fault(strange, "\(table).\(column)")

        #expect(fault?.message.contains("`credit_books`") == true, "\(fault as Any)")
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
