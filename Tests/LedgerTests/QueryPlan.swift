// SPDX-License-Identifier: Apache-2.0

import Ledger
import Storage
import StorageSQLite

/// The steps by which SQLite finds the rows of a statement of the ledger.
func queryPlan(of statement: Statement) async throws -> [String] {
    let storage = try await SQLiteStorage.open(file: nil, migrations: Ledger.migrations)
    let plan = Statement(
        statement.name, statement.parameters, "EXPLAIN QUERY PLAN " + statement.sql)
    let nulls = statement.parameters.map { _ in SQLValue.null }
    return try await storage.write { writing in
        try writing.query(plan, nulls).map { try $0.text("detail") }
    }
}
