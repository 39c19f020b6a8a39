// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

/// The tables by which a process sees whether what it knows of an account's entitlements is
/// still true. They follow from the other tables, so a backup does not contain them.
///
/// An *original* is what an original transaction stands for: a subscription with all its
/// periods, or a single purchase. A *holding* is an account's part in one.
extension LedgerSchema {
    static let holdingTables = [originals, holdings]

    /// How often an original has changed: its purchases, what was signed about them and their
    /// renewal, what they grant, and to whom. It is written in the same commit, and the row
    /// is never deleted.
    static let originals = Table(
        "originals", key: originalKey, as: .tree,
        store + ["original_transaction_id": .name, "revision": .count], isInBackup: false)

    /// The originals that grant, have granted or share an entitlement to an account. Too many
    /// rows do no harm.
    static let holdings = Table(
        "holdings",
        key: ["account", "environment", "root", "bundle_id", "original_transaction_id"],
        as: .tree, ["account": .name] + store + ["original_transaction_id": .name],
        isInBackup: false)

    /// In the order in which few steps find a row.
    private static let originalKey = [
        "original_transaction_id", "root", "environment", "bundle_id",
    ]
}

extension Statement {
    /// Statements about the changes of originals.
    enum Originals {
        /// Counts a change.
        static let touch = Statement(
            "originals.touch", [.text, .text, .text, .text],
            """
            INSERT INTO originals (root, environment, bundle_id, original_transaction_id, revision)
            VALUES ($1, $2, $3, $4, 1)
            ON CONFLICT (original_transaction_id, root, environment, bundle_id) DO UPDATE
            SET revision = originals.revision + 1
            """)

        static let all = [touch]
    }

    /// Statements about what accounts have of originals.
    enum Holdings {
        private static let table = LedgerSchema.holdings
        private static let once = "ON CONFLICT (\(table.key.joined(separator: ", "))) DO NOTHING"

        static let insert = Statement.insert("holdings.insert", into: table, once)

        /// Gives the account `$2` a part in what `$1` has a part in.
        static let copy = Statement(
            "holdings.copy", [.text, .text],
            """
            INSERT INTO holdings (account, root, environment, bundle_id, original_transaction_id)
            SELECT CAST($2 AS TEXT), h.root, h.environment, h.bundle_id, h.original_transaction_id
            FROM holdings h WHERE h.account = $1 \(once)
            """)

        static let removeAll = Statement(
            "holdings.removeAll", [.text], "DELETE FROM holdings WHERE account = $1")

        static let ofAccount = Statement(
            "holdings.ofAccount", [.text],
            """
            SELECT root, environment, bundle_id, original_transaction_id FROM holdings
            WHERE account = $1
            """)

        /// Gives an account a part in each original that grants it something, or of which
        /// something is shared with it. A server of a version without holdings may have
        /// written that.
        static let complete = Statement(
            "holdings.complete", [.text],
            """
            INSERT INTO holdings (account, root, environment, bundle_id, original_transaction_id)
            SELECT DISTINCT CAST($1 AS TEXT), p.root, p.environment, p.bundle_id,
                p.original_transaction_id
            FROM (
                SELECT root, environment, bundle_id, transaction_id FROM grants
                WHERE account = $1 AND kind = 'entitlement'
                UNION ALL
                SELECT root, environment, bundle_id, transaction_id FROM shares
                WHERE account = $1
            ) h
            JOIN purchases p ON p.root = h.root AND p.environment = h.environment
                AND p.bundle_id = h.bundle_id AND p.transaction_id = h.transaction_id
            WHERE 1 = 1 \(once)
            """)

        /// An original without a row has not changed since the table was made.
        private static let mark = """
            h.root || ' ' || h.bundle_id || ' ' || h.original_transaction_id AS original,
                COALESCE(o.revision, 0) AS revision
            """
        private static let withRevision = """
            LEFT JOIN originals o ON o.root = h.root AND o.environment = h.environment
                AND o.bundle_id = h.bundle_id
                AND o.original_transaction_id = h.original_transaction_id
            """

        /// The originals of an account in one environment, with their revisions.
        static let marks = Statement(
            "holdings.marks", [.text, .text],
            """
            SELECT \(mark) FROM holdings h \(withRevision)
            WHERE h.account = $1 AND h.environment = $2
            """)

        /// The key with the digest `$3`, once for each mark of the account: one look-up for a
        /// call. Without such a key nothing is looked up of the account.
        static let opened = Statement(
            "holdings.opened", [.text, .text, .text],
            """
            SELECT k.key_id, k.name, k.scope, \(mark)
            FROM api_keys k
            LEFT JOIN holdings h ON h.account = $1 AND h.environment = $2
            \(withRevision)
            WHERE k.digest = $3 AND k.revoked_at IS NULL
            """)

        static let all = [insert, copy, removeAll, ofAccount, complete, marks, opened]
    }
}

/// An original by its key.
struct Original: Sendable {
    let root: String
    let environment: Environment
    let bundleID: String
    let transactionID: String

    private init(_ row: Row) throws {
        let word = try row.text("environment")
        guard let environment = Environment(named: word) else {
            throw StorageFault(.malformedRow, "environment is \(word)")
        }
        self.environment = environment
        root = try row.text("root")
        bundleID = try row.text("bundle_id")
        transactionID = try row.text("original_transaction_id")
    }

    init(_ key: PurchaseKey, _ facts: BookedFacts) {
        root = key.root
        environment = key.environment
        bundleID = key.bundleID
        transactionID = facts.originalTransactionID
    }

    private var values: [SQLValue] {
        [.text(root), .text(environment.rawValue), .text(bundleID), .text(transactionID)]
    }

    /// Counts a change of it. The last lock of the commit that writes the change, so that no two
    /// commits wait for each other.
    func touch(_ writing: any Writing) throws {
        try writing.execute(Statement.Originals.touch, values)
    }

    /// Gives an account a part in it. ``touch(_:)`` follows in the same commit.
    func add(to account: String, _ writing: any Writing) throws {
        try writing.execute(
            Statement.Holdings.insert,
            LedgerSchema.holdings.row([
                "account": .text(account), "root": .text(root),
                "environment": .text(environment.rawValue), "bundle_id": .text(bundleID),
                "original_transaction_id": .text(transactionID),
            ]))
    }

    /// Counts a change of each, in one order for all commits.
    static func touch(_ originals: [Original], _ writing: any Writing) throws {
        let sorted = originals.sorted {
            ($0.root, $0.environment.rawValue, $0.bundleID, $0.transactionID)
                < ($1.root, $1.environment.rawValue, $1.bundleID, $1.transactionID)
        }
        for original in sorted { try original.touch(writing) }
    }

    /// Gives what an account has a part in to another one, and returns it. It comes before grants
    /// and shares are given to that one. ``touch(_:_:)`` follows in the same commit.
    static func move(
        from account: String, to other: String, _ writing: any Writing
    ) throws -> [Original] {
        try writing.execute(Statement.Holdings.complete, [.text(account)])
        let rows = try writing.query(Statement.Holdings.ofAccount, [.text(account)])
        try writing.execute(Statement.Holdings.copy, [.text(account), .text(other)])
        try writing.execute(Statement.Holdings.removeAll, [.text(account)])
        return try rows.map { try Original($0) }
    }
}
