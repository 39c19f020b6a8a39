// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension Ledger {
    /// The most rows of a table in an export.
    static let exportedMax: Int64 = 100_000
    /// The most kept notifications in one, each of which has some kilobytes.
    static let exportedNotificationsMax = 10_000

    /// Returns everything that the books have about an account, and about the accounts
    /// that became part of it: the rows of each table, as they are, with the messages to
    /// the merchant's servers and the kept notifications about its purchases. It reads
    /// all kept notifications. Refusals: `textInvalid`, `accountUnknown`,
    /// `exportTooLarge`.
    public func export(account: String) async throws -> AccountExport {
        let account = try Edge.account(account)
        let note = note(.exported, account: account)
        let (rows, keys) = try await storage.read {
            reading -> ([String: [[String: AccountExport.Value]]], Set<PurchaseKey>) in
            var tables: [String: [[String: AccountExport.Value]]] = [:]
            let parts = try reading.query(Statement.Merges.parts, [.text(account)])
            let keys = try reading.query(PersonalData.purchases, [.text(account)])
                .map { try PurchaseKey($0) }
            for account in [account] + (try parts.map { try $0.text("account") }) {
                for (table, statement) in PersonalData.exported {
                    let values: [SQLValue] = [.text(account), .integer(Self.exportedMax + 1)]
                    let rows = try reading.query(statement, values)
                    tables[table.name, default: []] += try rows.map { try Self.values($0, table) }
                }
            }
            return (tables, Set(keys))
        }
        var tables = rows
        guard tables["accounts"]?.isEmpty == false else { throw Self.accountUnknown }
        guard tables.values.allSatisfy({ $0.count <= Self.exportedMax }) else {
            throw Self.exportTooLarge
        }
        tables[LedgerSchema.notifications.name] = try await exportedNotifications(about: keys)
        if let note { try await storage.write { try note.write($0) } }
        return AccountExport(
            account: account, exportedDate: ports.wall.now,
            tables: tables.filter { !$0.value.isEmpty })
    }

    private func exportedNotifications(
        about keys: Set<PurchaseKey>
    ) async throws -> [[String: AccountExport.Value]] {
        var found: [[String: AccountExport.Value]] = []
        try await keptNotifications(about: keys) { rows in
            found += try rows.map { try Self.values($0, LedgerSchema.notifications) }
            guard found.count <= Self.exportedNotificationsMax else { throw Self.exportTooLarge }
        }
        return found
    }

    private static var exportTooLarge: LedgerRefusal {
        LedgerRefusal(
            .conflict, code: "exportTooLarge", "This account has too much for one answer.",
            field: "account",
            rule: "at most \(exportedMax) rows of a table, and \(exportedNotificationsMax) "
                + "notifications",
            remedy: "read `ledger backup` instead")
    }

    private static func values(
        _ row: Row, _ table: Table
    ) throws -> [String: AccountExport.Value] {
        var values: [String: AccountExport.Value] = [:]
        for column in table.columns {
            switch try column.value(in: row) {
            case .text(let text): values[column.name] = .text(text)
            case .integer(let number): values[column.name] = .number(number)
            case .boolean(let flag): values[column.name] = .flag(flag)
            case .null, .blob: break
            }
        }
        return values
    }
}

/// The tables with rows of an account.
enum PersonalData {
    /// Each has a column `account`.
    static let tables = [
        LedgerSchema.accounts, LedgerSchema.purchases, LedgerSchema.redemptions,
        LedgerSchema.grants, LedgerSchema.creditBooks, LedgerSchema.creditEntries,
        LedgerSchema.shares, LedgerSchema.proofsWaiting, LedgerSchema.audit,
        LedgerSchema.webhooks,
    ]

    /// Each returns the rows of `$1`, at most `$2`.
    static let exported: [(table: Table, statement: Statement)] =
        tables.map { ($0, ofAccount($0, by: "account")) } + [
            (LedgerSchema.merges, ofAccount(LedgerSchema.merges, by: "into_account")),
            (LedgerSchema.terms, ofPurchases(LedgerSchema.terms, by: "transaction_id")),
            (
                LedgerSchema.refundReversals,
                ofPurchases(LedgerSchema.refundReversals, by: "transaction_id")
            ),
            (
                LedgerSchema.renewals,
                ofPurchases(LedgerSchema.renewals, by: "original_transaction_id")
            ),
        ]

    static let exports = exported.map(\.statement)

    private static func ofAccount(_ table: Table, by column: String) -> Statement {
        Statement(
            "export.\(table.name)", [.text, .integer],
            """
            SELECT \(table.list()) FROM \(table.name) WHERE \(column) = $1
            ORDER BY \(table.key.joined(separator: ", ")) LIMIT $2
            """)
    }

    /// The rows about the purchases of an account.
    private static func ofPurchases(_ table: Table, by column: String) -> Statement {
        Statement(
            "export.\(table.name)", [.text, .integer],
            """
            SELECT DISTINCT \(table.list("t")) FROM \(table.name) t
            JOIN purchases p ON p.root = t.root AND p.environment = t.environment
                AND p.bundle_id = t.bundle_id AND p.\(column) = t.\(column)
            WHERE p.account = $1
            ORDER BY \(table.key.map { "t.\($0)" }.joined(separator: ", ")) LIMIT $2
            """)
    }

    /// Give the rows of `$1` that books need to the opaque account `$2`.
    static let renames = [
        Statement(
            "erase.purchases", [.text, .text],
            "UPDATE purchases SET account = $2 WHERE account = $1"),
        Statement(
            "erase.grants", [.text, .text],
            "UPDATE grants SET account = $2 WHERE account = $1"),
        Statement(
            "erase.credit_books", [.text, .text],
            "UPDATE credit_books SET account = $2 WHERE account = $1"),
        // What the merchant has written about the person is deleted too.
        Statement(
            "erase.redemptions", [.text, .text],
            "UPDATE redemptions SET account = $2, purpose = 'erased' WHERE account = $1"),
        Statement(
            "erase.credit_entries", [.text, .text],
            """
            UPDATE credit_entries SET account = $2,
                purpose = CASE WHEN purpose IS NULL THEN NULL ELSE 'erased' END
            WHERE account = $1
            """),
        Statement(
            "erase.audit", [.text, .text],
            "UPDATE audit SET account = $2, subject = NULL WHERE account = $1"),
    ]

    static let insertAccount = Statement.insert("erase.insertAccount", into: LedgerSchema.accounts)
    static let removeAccount = Statement.remove("erase.removeAccount", from: LedgerSchema.accounts)

    static let beginErasure = Statement.insert("erase.begin", into: LedgerSchema.erasures)
    static let endErasure = Statement.remove("erase.end", from: LedgerSchema.erasures)
    static let erasures = Statement.list("erase.left", of: LedgerSchema.erasures)

    /// The keys of an account's purchases.
    static let purchases = Statement(
        "erase.keys", [.text],
        """
        SELECT root, environment, bundle_id, transaction_id FROM purchases WHERE account = $1
        """)

    /// A page of kept notifications that have their contents.
    static let notifications = Statement(
        "erase.notifications", [.text, .text, .text, .integer],
        """
        SELECT \(LedgerSchema.notifications.list()) FROM notifications_in
        WHERE (root, notification_id) > ($1, $2) AND payload <> $3
        ORDER BY root, notification_id LIMIT $4
        """)

    static let redact = Statement(
        "erase.redact", [.text, .text, .text],
        "UPDATE notifications_in SET payload = $3 WHERE root = $1 AND notification_id = $2")

    static let removeForwards = Statement(
        "erase.removeForwards", [.text, .text],
        "DELETE FROM forwards WHERE root = $1 AND notification_id = $2")

    static let all =
        exports + renames + [
            insertAccount, removeAccount, beginErasure, endErasure, erasures, purchases,
            notifications, redact, removeForwards,
        ]
}
