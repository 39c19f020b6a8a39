// SPDX-License-Identifier: Apache-2.0

import Storage

extension SQLiteTransaction {
    private static let time = PortStatement(
        "database.time",
        "SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AS now")

    /// The machine's time, which is also the database's, because SQLite runs in
    /// this process.
    func databaseTime() throws -> Int64 {
        guard let row = try first(Self.time) else {
            throw StorageFault(.malformedRow, "the database did not return its time")
        }
        return try row.integer("now")
    }
}
