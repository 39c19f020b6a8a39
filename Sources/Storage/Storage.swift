// SPDX-License-Identifier: Apache-2.0

/// A database of one realm, or a store's registry: the port behind which
/// SQLite and PostgreSQL stand.
///
/// Closures are synchronous, run off the cooperative threads and **may run
/// more than once** (a commit that did not hold is tried again), so they
/// touch nothing but the transaction and their own locals.
public protocol Storage: Sendable {
    /// Reads one consistent state.
    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer

    /// Runs one transaction. When this returns, what it wrote is durable;
    /// when it throws ``StorageFault``, nothing was written, unless the
    /// fault's code is ``StorageFault/Code/outcomeUnknown``.
    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer

    /// Says a word to every process on this database, this one too: after a
    /// commit, never inside one. Words said at about the same time go
    /// together; a word is at most 200 printable ASCII characters.
    func wake(_ word: String)

    /// What is said from now on. Words are hints: after `missed`, and now and
    /// then anyway, whoever waits reads again.
    func wakes() -> AsyncStream<Wake>

    /// Closes every connection. Later calls throw.
    func close() async throws
}

/// A statement as code names it. Parameters are `$1`, `$2`… and are bound by
/// number; the text is in the dialect that SQLite and PostgreSQL share.
public struct Statement: Hashable, Sendable {
    /// A word for counts and logs: `purchases.insert`.
    public let name: String
    public let sql: String
    /// Declared types of `$1`, `$2`… in order.
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
}

/// What a reading closure may do.
public protocol Reading {
    func query(_ statement: Statement, _ values: [SQLValue]) throws -> [Row]

    /// The database's own time, milliseconds since 1970: for leases, which
    /// several processes must reckon alike, and for nothing else.
    func databaseTime() throws -> Int64
}

extension Reading {
    /// The first row, or nil.
    public func first(_ statement: Statement, _ values: [SQLValue] = []) throws -> Row? {
        try query(statement, values).first
    }
}

/// What a writing closure may do. Writes that must tell whether they took
/// effect say `RETURNING`: an empty answer means "not done".
public protocol Writing: Reading {
    func execute(_ statement: Statement, _ values: [SQLValue]) throws

    /// Rows of a `SELECT … ORDER BY … LIMIT`, taken for this transaction
    /// alone: rows that another one has taken are passed over.
    func claim(_ statement: Statement, _ values: [SQLValue]) throws -> [Row]

    /// The same statement for each row, without waiting in between.
    func insertMany(_ statement: Statement, _ rows: [[SQLValue]]) throws
}

/// A row of an answer, by column name.
public struct Row: Hashable, Sendable {
    private let columns: [String: Int]
    private let values: [SQLValue]

    public init(columns: [String: Int], values: [SQLValue]) {
        self.columns = columns
        self.values = values
    }

    /// A column's value; a fault when the statement has no such column.
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

/// A database that could not do what it was asked.
public struct StorageFault: Error, Equatable, CustomStringConvertible {
    /// Open: engines may add theirs.
    public struct Code: Hashable, Sendable {
        public let rawValue: String
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// The database cannot be opened or reached.
        public static let unavailable = Code("unavailable")
        /// Waited too long for a turn; nothing was done.
        public static let busy = Code("busy")
        /// No room left on the disk; nothing was written.
        public static let full = Code("full")
        public static let readOnly = Code("readOnly")
        /// A constraint refused a write: a bug or a race that a statement should have met.
        public static let constraint = Code("constraint")
        /// The file is damaged or of a version that this program does not know.
        public static let unreadable = Code("unreadable")
        public static let malformedRow = Code("malformedRow")
        /// The commit may or may not hold: run the use case again under its key.
        public static let outcomeUnknown = Code("outcomeUnknown")
        /// Anything else the engine said.
        public static let engine = Code("engine")
    }

    public let code: Code
    /// What happened, without any value of a parameter.
    public let reason: String

    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    public var description: String { "storage \(code.rawValue): \(reason)" }
}

/// Hears what a storage does, so that tests can count it.
public protocol StorageObserver: Sendable {
    func didRun(_ statement: Statement)
    func didCommit()
    /// The server was waited for once; never where the database is in the process.
    func didRoundTrip()
}
