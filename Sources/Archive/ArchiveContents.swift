// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Foundation
public import Storage

/// An archive that was read to its end and is complete.
public struct ArchiveContents: Sendable {
    /// A database in the archive.
    public struct Database: Hashable, Sendable {
        public let name: String
        public let steps: [MigrationHistory.Step]
        public internal(set) var rows = 0
    }

    public let path: String
    public let header: ArchiveHeader
    public let databases: [Database]
    public let keys: [String: [UInt8]]
    /// The next free number of each kind.
    public let numbers: [Int64: Int64]
    /// The checksum of all lines before the last.
    let sha256: String

    /// Reads a file to its end. Throws ``ArchiveFault`` if the file is not an
    /// archive, is incomplete, was changed or is too new, if its `holds`
    /// differs, or if a value breaks the judge's rules.
    public init(path: String, holds: String, judge: ArchiveJudge) throws {
        try self.init(ArchiveReader(path: path), path: path, holds: holds, judge)
    }

    /// Reads an archive from memory, like ``init(path:holds:judge:)``, and
    /// throws the same errors. Its rows cannot be loaded afterwards.
    public init(bytes: [UInt8], name: String, holds: String, judge: ArchiveJudge) throws {
        try self.init(ArchiveReader(bytes: bytes, name: name), path: name, holds: holds, judge)
    }

    private init(
        _ reader: ArchiveReader, path: String, holds: String, _ judge: ArchiveJudge
    ) throws {
        var judge = judge
        let header = try reader.header()
        guard header.holds == holds else {
            throw ArchiveFault(
                .notAnArchive, "\(path) holds a \(header.holds), not a \(holds).",
                rule: "a backup of a \(holds)", remedy: "name another file")
        }
        var databases: [Database] = []
        var keys: [String: [UInt8]] = [:]
        var numbers: [Int64: Int64] = [:]
        var columns: Int?
        while let line = try reader.next() {
            switch line {
            case .database(let line):
                let steps = line.migrations.map {
                    MigrationHistory.Step(number: $0.number, name: $0.name, checksum: $0.checksum)
                }
                judge.begin(database: line.database)
                if databases.contains(where: { $0.name == line.database }) {
                    judge.report("`\(line.database)`", "each database once")
                }
                databases.append(Database(name: line.database, steps: steps))
                columns = nil
            case .table(let table):
                columns = table.columns.count
                judge.begin(table: table.table, columns: table.columns)
            case .row(let row):
                guard row.count == columns, !databases.isEmpty else { throw reader.damaged }
                databases[databases.count - 1].rows += 1
                judge.judge(row)
            case .key(let key):
                if keys.updateValue([UInt8](key.bytes), forKey: key.key) != nil {
                    judge.report("a key", "each key once")
                }
            case .number(let number):
                if numbers.updateValue(number.next, forKey: number.number) != nil {
                    judge.report("a number", "each kind of number once")
                }
            }
        }
        // The checksum is checked before this, so that an accidental change is
        // reported as such and not as a bad value.
        if let problem = judge.problem { throw Self.invalid(path, problem.place, problem.rule) }
        (self.path, self.header, self.databases) = (path, header, databases)
        (self.keys, self.numbers, sha256) = (keys, numbers, reader.sha256)
    }

    /// The fault for a value that breaks a rule.
    public static func invalid(_ path: String, _ place: String, _ rule: String) -> ArchiveFault {
        ArchiveFault(
            .invalid, "\(path) has a value that no backup has: \(place).", rule: rule,
            remedy: "use a backup that `database backup` or `ledger backup` wrote, and that "
                + "was not changed")
    }

    /// Reads the file again and writes its rows. `open` returns the empty
    /// database for a name. Throws ``ArchiveFault`` if the file has changed
    /// since.
    public func load(
        _ dialect: Dialect, open: (Database) async throws -> any Storage
    ) async throws {
        let reader = try ArchiveReader(path: path)
        _ = try reader.header()
        var loader: DatabaseLoader?
        var next = databases[...]
        while let line = try reader.next() {
            switch line {
            case .database(let line):
                try await loader?.flush()
                guard let database = next.popFirst(), database.name == line.database else {
                    throw reader.damaged
                }
                loader = try await DatabaseLoader(try await open(database), dialect)
            case .table(let line):
                guard let open = loader else { throw reader.damaged }
                try await open.begin(line.table, line.columns)
            case .row(let row):
                guard let open = loader else { throw reader.damaged }
                try await open.add(row)
            case .key, .number: break
            }
        }
        guard reader.sha256 == sha256 else { throw reader.damaged }
        try await loader?.flush()
    }

    /// Checks references between rows, which is possible only after all are
    /// loaded. Throws ``ArchiveFault``.
    public func check(
        _ references: [Table.Missing], in storage: any Storage, _ database: String
    ) async throws {
        for missing in references {
            guard try await storage.read({ try $0.first(missing.statement) }) != nil else {
                continue
            }
            throw Self.invalid(
                path, "`\(missing.column)` of `\(missing.table)`, database `\(database)`",
                "one that a row of `\(missing.reference.target)` has")
        }
    }

    /// Whether a database contains nothing but its migrations.
    public static func isEmpty(_ storage: any Storage, _ dialect: Dialect) async throws -> Bool {
        try await storage.read { reading in
            try TableShape.all(reading, dialect).allSatisfy {
                try reading.query($0.hasRows, []).isEmpty
            }
        }
    }

    /// Deletes every row. Rows that refer to others are deleted first.
    public static func clear(_ storage: any Storage, _ dialect: Dialect) async throws {
        try await storage.write { try clear($0, dialect) }
    }

    /// The same, inside a commit of the caller.
    public static func clear(_ writing: any Writing, _ dialect: Dialect) throws {
        for table in try TableShape.all(writing, dialect).reversed() {
            try writing.execute(table.clearing, [])
        }
    }

    /// Returns the migrations of a database with ``Table/restores``. If the
    /// database is new, the commit that creates its tables also writes the mark
    /// of an unfinished restore. So no process sees it without the mark.
    public func marked(_ migrations: [Migration], _ wall: Timestamp) -> [Migration] {
        var migrations = migrations
        guard !migrations.isEmpty else { return [] }
        let values = "1, \(header.madeAt.milliseconds), \(wall.milliseconds)"
        migrations[0].firstRows = [
            "INSERT INTO restores (singleton, made_at, begun_at) VALUES (\(values))"
        ]
        return migrations
    }
}

extension StorageFault.Code {
    /// An unfinished restore was found.
    public static let halfRestored = StorageFault.Code("halfRestored")
}

/// Writes rows to one database, a few hundred in each commit. A class, because
/// it buffers rows.
private final class DatabaseLoader {
    private let storage: any Storage
    private let tables: [TableShape]
    private var insertion: (statement: Statement, types: [SQLType])?
    private var rows: [[SQLValue]] = []

    init(_ storage: any Storage, _ dialect: Dialect) async throws {
        self.storage = storage
        tables = try await storage.read { try TableShape.all($0, dialect) }
    }

    func begin(_ name: String, _ columns: [String]) async throws {
        try await flush()
        guard let table = tables.first(where: { $0.name == name }) else {
            throw StorageFault(.unreadable, "the database has no table \(name)")
        }
        insertion = try table.insertion(of: columns)
    }

    func add(_ row: [SQLValue]) async throws {
        rows.append(row)
        if rows.count == Int(TableShape.rowsMax) { try await flush() }
    }

    func flush() async throws {
        guard let insertion, !rows.isEmpty else { return }
        let fitted = rows.map { row in
            zip(row, insertion.types).map { value, type in value.fitted(to: type) }
        }
        let statement = insertion.statement
        try await storage.write { try $0.insertMany(statement, fitted) }
        rows = []
    }
}
