// SPDX-License-Identifier: Apache-2.0

/// The port to a database of one realm or to a store's registry. SQLite and
/// PostgreSQL implement it.
///
/// Closures are synchronous and, except those of ``lookUp(_:)``, do not run on
/// Swift's cooperative threads. They **may run more than once**, because a failed
/// commit is retried. So they change nothing but the transaction and their own
/// local variables.
public protocol Storage: Sendable {
    /// Reads one consistent state of the database.
    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer

    /// Reads a few rows by their keys, as ``read(_:)`` does. An engine in this process may do
    /// that on the calling thread, so the closure must never look through a table or an
    /// index, and makes few rows.
    func lookUp<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer

    /// Looks up the rows of one statement, as ``lookUp(_:)`` does. An engine on a server waits
    /// for it once.
    func find(_ statement: Statement, _ values: [SQLValue]) async throws -> [Row]

    /// Runs one transaction. When this returns, the write is durable. When this
    /// throws ``StorageFault``, nothing was written, unless the fault's code is
    /// ``StorageFault/Code/outcomeUnknown``.
    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer

    /// Sends a word to every process that uses this database, including this
    /// one. Call it after a commit, never inside one. Words that are sent at
    /// about the same time travel together. A word has at most 200 printable
    /// ASCII characters.
    func wake(_ word: String)

    /// The words that are sent from now on. They are hints: after `missed`, and
    /// from time to time in any case, a waiting caller must read the database
    /// again.
    func wakes() -> AsyncStream<Wake>

    /// Closes every connection. Later calls throw.
    func close() async throws
}

extension Storage {
    public func lookUp<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer { try await read(body) }

    public func find(_ statement: Statement, _ values: [SQLValue]) async throws -> [Row] {
        try await lookUp { try $0.query(statement, values) }
    }
}

/// A statement with a name. Its parameters `$1`, `$2`… are bound by number. The
/// text is in the dialect that SQLite and PostgreSQL share.
public struct Statement: Hashable, Sendable {
    /// A name for counters and logs: `purchases.insert`.
    public let name: String
    public let sql: String
    /// The declared types of `$1`, `$2`…, in order.
    public let parameters: [SQLType]

    public init(_ name: String, _ parameters: [SQLType], _ sql: String) {
        self.name = name
        self.parameters = parameters
        self.sql = sql
    }

    /// A statement without parameters.
    public init(_ name: String, _ sql: String) {
        self.init(name, [], sql)
    }
}

public enum SQLType: String, Sendable {
    case integer, text, blob, boolean
}

public enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    case boolean(Bool)

    /// The text, or null for nil.
    public static func optional(_ text: String?) -> SQLValue { text.map(SQLValue.text) ?? .null }

    /// The number, or null for nil.
    public static func optional(_ number: Int64?) -> SQLValue {
        number.map(SQLValue.integer) ?? .null
    }
}

/// What a reading closure can do.
public protocol Reading {
    func query(_ statement: Statement, _ values: [SQLValue]) throws -> [Row]

    /// Runs several statements, in order, and returns the rows of each. An engine on a
    /// server waits once for all of them.
    func queryAll(_ queries: [(statement: Statement, values: [SQLValue])]) throws -> [[Row]]

    /// The database's own time, in milliseconds since 1970. It is used only for
    /// leases, which several processes must measure by the same clock.
    func databaseTime() throws -> Int64
}

extension Reading {
    /// The first row, or nil.
    public func first(_ statement: Statement, _ values: [SQLValue] = []) throws -> Row? {
        try query(statement, values).first
    }

    /// Runs the same statement for several rows of values, as ``queryAll(_:)`` does.
    public func queryEach(_ statement: Statement, _ rows: [[SQLValue]]) throws -> [[Row]] {
        try queryAll(rows.map { (statement, $0) })
    }

    public func queryAll(
        _ queries: [(statement: Statement, values: [SQLValue])]
    ) throws -> [[Row]] { try queries.map { try query($0.statement, $0.values) } }
}

/// What a writing closure can do. A write that must know whether it took effect
/// uses `RETURNING`: an empty result means that it did not.
public protocol Writing: Reading {
    func execute(_ statement: Statement, _ values: [SQLValue]) throws

    /// Locks and returns the rows of a `SELECT … ORDER BY … LIMIT` for this
    /// transaction. Rows that another transaction has locked are skipped.
    func claim(_ statement: Statement, _ values: [SQLValue]) throws -> [Row]

    /// Runs the same statement for each row, without waiting in between.
    func insertMany(_ statement: Statement, _ rows: [[SQLValue]]) throws
}

/// A row of a result, by column name.
public struct Row: Hashable, Sendable {
    private let columns: [String: Int]
    private let values: [SQLValue]

    public init(columns: [String: Int], values: [SQLValue]) {
        self.columns = columns
        self.values = values
    }

    /// A column's value. Throws a fault if the result has no such column.
    public func value(_ column: String) throws -> SQLValue {
        guard let index = columns[column] else {
            throw StorageFault(.malformedRow, "no column \(column) in this answer")
        }
        return values[index]
    }

    public func integer(_ column: String) throws -> Int64 {
        guard let value = try optionalInteger(column) else { throw isNull(column) }
        return value
    }

    public func text(_ column: String) throws -> String {
        guard let value = try optionalText(column) else { throw isNull(column) }
        return value
    }

    public func blob(_ column: String) throws -> [UInt8] {
        guard let value = try optionalBlob(column) else { throw isNull(column) }
        return value
    }

    public func boolean(_ column: String) throws -> Bool {
        switch try value(column) {
        case .boolean(let flag): return flag
        case .integer(0): return false
        case .integer(1): return true
        default: throw isOther(column, .boolean)
        }
    }

    public func optionalInteger(_ column: String) throws -> Int64? {
        switch try value(column) {
        case .null: return nil
        case .integer(let number): return number
        default: throw isOther(column, .integer)
        }
    }

    public func optionalText(_ column: String) throws -> String? {
        switch try value(column) {
        case .null: return nil
        case .text(let text): return text
        default: throw isOther(column, .text)
        }
    }

    public func optionalBlob(_ column: String) throws -> [UInt8]? {
        switch try value(column) {
        case .null: return nil
        case .blob(let bytes): return bytes
        default: throw isOther(column, .blob)
        }
    }

    private func isNull(_ column: String) -> StorageFault {
        StorageFault(.malformedRow, "column \(column) is null")
    }

    private func isOther(_ column: String, _ type: SQLType) -> StorageFault {
        StorageFault(.malformedRow, "column \(column) is not \(type.rawValue)")
    }
}

/// The database could not do what it was asked to do.
public struct StorageFault: Error, Equatable, CustomStringConvertible {
    /// An open set: engines may add codes of their own.
    public struct Code: Hashable, Sendable {
        public let rawValue: String
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// The database cannot be opened or reached.
        public static let unavailable = Code("unavailable")
        /// The caller waited too long for its turn. Nothing was done.
        public static let busy = Code("busy")
        /// The disk is full. Nothing was written.
        public static let full = Code("full")
        public static let readOnly = Code("readOnly")
        /// A constraint rejected a write. This is a bug, or a race that a
        /// conditional statement should have handled.
        public static let constraint = Code("constraint")
        /// The file is damaged, or has a version that this program does not
        /// know.
        public static let unreadable = Code("unreadable")
        public static let malformedRow = Code("malformedRow")
        /// The commit may or may not have succeeded. Run the use case again
        /// under its key.
        public static let outcomeUnknown = Code("outcomeUnknown")
        /// Any other error of the engine.
        public static let engine = Code("engine")
    }

    public let code: Code
    /// What happened. Contains no parameter values.
    public let reason: String

    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    public var description: String { "storage \(code.rawValue): \(reason)" }
}

/// Is notified of what a storage does, so that tests can count it.
public protocol StorageObserver: Sendable {
    func didRun(_ statement: Statement)
    func didCommit()
    /// Called after each wait for the server. Never called by an engine that
    /// runs inside the process.
    func didRoundTrip()
}
