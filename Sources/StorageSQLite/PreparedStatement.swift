// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite
import Storage

/// A prepared SQLite statement. SQLite treats `$1` as a name and numbers names
/// by first appearance, so the position of each parameter is looked up once,
/// here.
final class PreparedStatement {
    let sql: String
    let isReading: Bool
    private let name: String
    private let database: OpaquePointer
    private let handle: OpaquePointer
    /// SQLite's number of `$n`, at index n - 1. 0 if the text does not use it.
    private let places: [Int32]
    private var names: [String] = []
    private var columns: [String: Int] = [:]

    init(_ statement: PortStatement, _ database: OpaquePointer) throws(StorageFault) {
        var handle: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        var isWhole = true
        let code = statement.sql.withCString { text in
            var rest: UnsafePointer<CChar>?
            let code = sqlite3_prepare_v3(database, text, -1, flags, &handle, &rest)
            isWhole = rest.map { $0.pointee == 0 } ?? true
            return code
        }
        guard code == SQLITE_OK, let handle else {
            throw StorageFault(sqlite: database, code, in: statement.name)
        }
        guard isWhole else {
            sqlite3_finalize(handle)
            throw StorageFault(.engine, "\(statement.name) holds more than one statement")
        }
        sql = statement.sql
        name = statement.name
        // Explaining a write only reads, although SQLite reports that it
        // writes.
        isReading = sqlite3_stmt_readonly(handle) != 0 || sqlite3_stmt_isexplain(handle) != 0
        self.database = database
        self.handle = handle
        places = (0..<statement.parameters.count).map {
            sqlite3_bind_parameter_index(handle, "$\($0 + 1)")
        }
        let isDeclared = Int(sqlite3_bind_parameter_count(handle)) == places.count { $0 > 0 }
        guard isDeclared else {
            throw StorageFault(
                .engine,
                "\(name) uses a parameter that it does not declare; declare each of $1, $2…")
        }
    }

    deinit { sqlite3_finalize(handle) }

    /// Runs to the end and discards the rows.
    func run(_ values: [SQLValue] = [], isCommitting: Bool = false) throws(StorageFault) {
        defer { rewind() }
        try bind(values)
        while try step(isCommitting) {}
    }

    /// Returns all rows.
    func rows(_ values: [SQLValue]) throws(StorageFault) -> [PortRow] {
        defer { rewind() }
        try bind(values)
        var rows: [PortRow] = []
        while try step(false) {
            if rows.isEmpty { learnColumns() }
            var fields: [SQLValue] = []
            fields.reserveCapacity(names.count)
            for index in names.indices { fields.append(try field(index)) }
            rows.append(PortRow(columns: columns, values: fields))
        }
        return rows
    }

    private func step(_ isCommitting: Bool) throws(StorageFault) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        guard code == SQLITE_DONE else {
            throw StorageFault(sqlite: database, code, in: name, isCommitting: isCommitting)
        }
        return false
    }

    private func rewind() {
        sqlite3_reset(handle)
        if !places.isEmpty { sqlite3_clear_bindings(handle) }
    }

    /// Reads the names of the columns. They stay valid until a change of the
    /// schema gives `SELECT *` another width.
    private func learnColumns() {
        let count = Int(sqlite3_column_count(handle))
        guard names.count != count else { return }
        names = (0..<count).map { index in
            sqlite3_column_name(handle, Int32(index)).map { String(cString: $0) } ?? ""
        }
        columns = Dictionary(
            zip(names, names.indices), uniquingKeysWith: { first, _ in first })
    }

    private func bind(_ values: [SQLValue]) throws(StorageFault) {
        for (place, value) in zip(places, values) where place > 0 {
            let code = bind(value, at: place)
            guard code == SQLITE_OK else {
                throw StorageFault(sqlite: database, code, in: name)
            }
        }
    }

    private func bind(_ value: SQLValue, at place: Int32) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(handle, place)
        case .integer(let number): return sqlite3_bind_int64(handle, place, number)
        case .boolean(let flag): return sqlite3_bind_int64(handle, place, flag ? 1 : 0)
        case .text(var text):
            return text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    // An empty text may have no address, and SQLite would store
                    // NULL for it.
                    sqlite3_bind_text(
                        handle, place, $0.baseAddress ?? emptyText, Int32($0.count), copied)
                }
            }
        case .blob(let bytes):
            guard !bytes.isEmpty else { return sqlite3_bind_zeroblob(handle, place, 0) }
            return sqlite3_bind_blob(handle, place, bytes, Int32(bytes.count), copied)
        }
    }

    private func field(_ index: Int) throws(StorageFault) -> SQLValue {
        let column = Int32(index)
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, column))
        case SQLITE_NULL: return .null
        case SQLITE_TEXT:
            let start = sqlite3_column_text(handle, column)
            let count = Int(sqlite3_column_bytes(handle, column))
            return .text(
                String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
        case SQLITE_BLOB:
            let start = sqlite3_column_blob(handle, column)
            let count = Int(sqlite3_column_bytes(handle, column))
            return .blob([UInt8](UnsafeRawBufferPointer(start: start, count: count)))
        default:
            throw StorageFault(
                .malformedRow, "\(name): column \(names[index]) is a floating-point number")
        }
    }
}

/// An arbitrary address that is not null.
nonisolated(unsafe) private let emptyText: UnsafePointer<CChar> = {
    let text = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    text.initialize(to: 0)
    return UnsafePointer(text)
}()

/// Makes SQLite copy the bytes that it is given (`SQLITE_TRANSIENT`, a macro
/// that Swift cannot import).
private var copied: sqlite3_destructor_type {
    unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
