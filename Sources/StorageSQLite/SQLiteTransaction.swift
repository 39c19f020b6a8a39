// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Storage

/// What a closure sees of an open transaction. Used on the connection's own
/// queue, and not after the closure has returned.
///
/// After a fault every further statement fails with the same one, and the
/// transaction cannot commit: so does PostgreSQL, and nobody may rely on
/// SQLite's being more forgiving.
final class SQLiteTransaction: Writing {
    private let connection: Database
    private let observer: (any StorageObserver)?
    private var failure: StorageFault?

    init(_ connection: Database, _ observer: (any StorageObserver)?) {
        self.connection = connection
        self.observer = observer
    }

    func query(_ statement: PortStatement, _ values: [SQLValue]) throws -> [PortRow] {
        try running(statement, values) { prepared in
            let names = prepared.columnNames
            let columns = Dictionary(
                zip(names, names.indices), uniquingKeysWith: { first, _ in first })
            var rows: [PortRow] = []
            let cursor = try GRDB.Row.fetchCursor(prepared)
            while let row = try cursor.next() {
                let values = try names.indices.map { index in
                    try value(row[index] as DatabaseValue, names[index], statement)
                }
                rows.append(PortRow(columns: columns, values: values))
            }
            return rows
        }
    }

    func execute(_ statement: PortStatement, _ values: [SQLValue]) throws {
        try running(statement, values) { try $0.execute() }
    }

    /// Throws what a statement threw earlier, also where the closure caught it.
    func checkSound() throws {
        if let failure { throw failure }
    }

    /// Nothing may be asked from here on.
    func end() {
        failure = failure ?? StorageFault(.unavailable, "this transaction has ended")
    }

    private func running<Answer>(
        _ statement: PortStatement, _ values: [SQLValue],
        _ work: (GRDB.Statement) throws -> Answer
    ) throws -> Answer {
        try checkSound()
        do {
            try statement.check(values)
            observer?.didRun(statement)
            let prepared = try connection.cachedStatement(sql: statement.sql)
            try prepared.setArguments(arguments(values))
            return try work(prepared)
        } catch {
            let fault = StorageFault(error, in: statement.name)
            failure = fault
            throw fault
        }
    }

    /// `$1` is a name to SQLite, numbered by first appearance: so values are
    /// bound by name, and the name is the number.
    private func arguments(_ values: [SQLValue]) -> StatementArguments {
        var named: [String: (any DatabaseValueConvertible)?] = [:]
        for (index, value) in values.enumerated() {
            named[String(index + 1)] = databaseValue(value)
        }
        return StatementArguments(named)
    }

    private func databaseValue(_ value: SQLValue) -> DatabaseValue {
        switch value {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .text(let text): text.databaseValue
        case .blob(let bytes): Data(bytes).databaseValue
        case .boolean(let flag): flag.databaseValue
        }
    }

    private func value(
        _ value: DatabaseValue, _ column: String, _ statement: PortStatement
    ) throws -> SQLValue {
        switch value.storage {
        case .null: return .null
        case .int64(let number): return .integer(number)
        case .string(let text): return .text(text)
        case .blob(let data): return .blob([UInt8](data))
        case .double:
            throw StorageFault(
                .malformedRow, "\(statement.name): column \(column) is a floating-point number")
        }
    }
}
