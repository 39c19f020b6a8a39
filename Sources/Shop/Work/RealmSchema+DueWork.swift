// SPDX-License-Identifier: Apache-2.0

import Storage

/// Inner work that falls due, and the approvals that are its first kind.
extension RealmSchema {
    static let dueWorkTables = [
        dueWork, dueWorkByDate,
        "ALTER TABLE customers ADD COLUMN asks_to_buy BOOLEAN NOT NULL DEFAULT FALSE",
        "ALTER TABLE purchases ADD COLUMN simulates_ask_to_buy BOOLEAN NOT NULL DEFAULT FALSE",
        "ALTER TABLE purchases ADD COLUMN approval TEXT",
        "ALTER TABLE purchases ADD COLUMN voided_at INTEGER",
        "ALTER TABLE purchases ADD COLUMN captured_at INTEGER",
        "DROP INDEX purchases_unsettled", purchasesWaiting, purchasesWaitingByID,
        purchasesAnswered,
    ]

    /// Changes that happen to a customer at `due_at`, in commercial time.
    private static let dueWork = """
        CREATE TABLE due_work (
            customer_id INTEGER NOT NULL,
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            due_at INTEGER NOT NULL,
            PRIMARY KEY (customer_id, kind, subject)
        ) WITHOUT ROWID, STRICT
        """

    private static let dueWorkByDate = """
        CREATE INDEX due_work_by_date ON due_work (due_at, customer_id, kind, subject)
        """

    private static let purchasesWaiting = """
        CREATE INDEX purchases_waiting ON purchases (customer_id, bundle_id, purchase_id)
        WHERE state = 'waiting'
        """

    /// An answer identifies a purchase by the device's id alone. `waiting_for`
    /// keeps its value after the answer.
    private static let purchasesWaitingByID = """
        CREATE INDEX purchases_waiting_by_id ON purchases (purchase_id)
        WHERE waiting_for IS NOT NULL
        """

    private static let purchasesAnswered = """
        CREATE INDEX purchases_answered ON purchases (customer_id, bundle_id, revision)
        WHERE approval IS NOT NULL
        """
}
