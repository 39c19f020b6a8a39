// SPDX-License-Identifier: Apache-2.0

public import Storage

extension SQLiteStorage {
    public func find(_ statement: Statement, _ values: [SQLValue]) async throws -> [Row] {
        if let rows = try lookUps?.find(statement, values) { return rows }
        return try await read { try $0.query(statement, values) }
    }
}
