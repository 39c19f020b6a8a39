// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// Statements about proofs that wait for a store.
    enum Waiting {
        private static let table = LedgerSchema.proofsWaiting

        /// Keeps a proof, or makes one due that was refused before.
        static let keep = Statement.insert(
            "waiting.keep", into: table,
            """
            ON CONFLICT (account, digest) DO UPDATE
            SET refusal = NULL, due_at = excluded.due_at
            RETURNING kept_at
            """)

        static let count = Statement(
            "waiting.count", [.text],
            """
            SELECT COUNT(*) AS waiting FROM proofs_waiting WHERE account = $1
                AND refusal IS NULL
            """)

        static let one = Statement.one("waiting.one", of: table)

        /// Returns no row if a proof is not kept any more.
        static let isKept = Statement(
            "waiting.isKept", [.text, .text],
            "SELECT attempt FROM proofs_waiting WHERE account = $1 AND digest = $2")

        static let due = Statement(
            "waiting.due", [.integer, .integer],
            """
            SELECT \(table.list()) FROM proofs_waiting
            WHERE refusal IS NULL AND due_at <= $1 ORDER BY due_at LIMIT $2
            """)

        static let nextDue = Statement(
            "waiting.nextDue", [],
            "SELECT MIN(due_at) AS due_at FROM proofs_waiting WHERE refusal IS NULL")

        static let ofAccount = Statement(
            "waiting.ofAccount", [.text, .integer],
            """
            SELECT \(table.list(without: ["proof"])) FROM proofs_waiting
            WHERE account = $1 ORDER BY kept_at, digest LIMIT $2
            """)

        /// A page of the receipts that wait without an account: those of notifications.
        static let receipts = Statement(
            "waiting.receipts", [.text, .integer],
            """
            SELECT digest, proof FROM proofs_waiting
            WHERE account = '' AND kind = 'receipt' AND digest > $1 ORDER BY digest LIMIT $2
            """)

        /// Leases a proof until `$4`. Returns no row if another process has it.
        static let lease = Statement(
            "waiting.lease", [.text, .text, .integer, .integer],
            """
            UPDATE proofs_waiting SET attempt = attempt + 1, due_at = $4
            WHERE account = $1 AND digest = $2 AND attempt = $3 AND refusal IS NULL
            RETURNING attempt
            """)

        /// Postpones a leased proof.
        static let postpone = Statement(
            "waiting.postpone", [.text, .text, .integer, .integer, .text],
            """
            UPDATE proofs_waiting SET due_at = $4, trouble = $5
            WHERE account = $1 AND digest = $2 AND attempt = $3 AND refusal IS NULL
            """)

        static let refuse = Statement(
            "waiting.refuse", [.text, .text, .integer, .text],
            """
            UPDATE proofs_waiting SET refusal = $4
            WHERE account = $1 AND digest = $2 AND attempt = $3
            """)

        static let settle = Statement(
            "waiting.settle", [.text, .text, .integer],
            "DELETE FROM proofs_waiting WHERE account = $1 AND digest = $2 AND attempt = $3")

        static let remove = Statement.remove("waiting.remove", from: table)

        /// Deletes what was refused before a date.
        static let forget = Statement(
            "waiting.forget", [.integer],
            "DELETE FROM proofs_waiting WHERE refusal IS NOT NULL AND kept_at < $1")

        static let all = [
            keep, count, one, isKept, receipts, due, nextDue, ofAccount, lease, postpone, refuse,
            settle, remove, forget,
        ]
    }
}
