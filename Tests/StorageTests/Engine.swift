// SPDX-License-Identifier: Apache-2.0

import Storage
import StoragePostgres
import StorageSQLite
import Synchronization
import TestSupport

/// The storages that the conformance suite runs on. Another engine is one
/// more case here.
enum Engine: String, CaseIterable, Sendable {
    case sqliteFile, sqliteMemory, postgres

    /// A fresh storage with the shop of these tests, whose closures run twice.
    func open(migrations: [Migration] = Shelf.migrations) async throws -> Opened {
        let counter = CountingObserver()
        if self == .postgres { return try await openPostgres(migrations, counter) }
        let options = SQLiteOptions(observer: counter, runsWritesTwice: true)
        let folder = try temporaryFolder("storage")
        let file = self == .sqliteFile ? folder.file("a/b/shelf.sqlite") : nil
        let storage = try await SQLiteStorage.open(
            file: file, migrations: migrations, options: options)
        return Opened(storage: storage, counter: counter, folder: folder)
    }

    /// A schema of its own in the run's cluster.
    private func openPostgres(
        _ migrations: [Migration], _ counter: CountingObserver
    ) async throws -> Opened {
        let database = try await Self.database(
            PostgresOptions(
                connections: 4, waitMilliseconds: Patience.milliseconds,
                lockMilliseconds: Patience.milliseconds, observer: counter, runsWritesTwice: true))
        let storage = try await database.schema(Self.freshSchema(), migrations: migrations)
        counter.reset()
        return Opened(storage: storage, counter: counter, folder: try temporaryFolder("storage"))
    }

    static func database(_ options: PostgresOptions) async throws -> PostgresDatabase {
        PostgresDatabase(try await PostgresCluster.shared().conninfo, options: options)
    }

    static func freshSchema() -> String {
        "test_\(schemas.add(1, ordering: .relaxed).newValue)"
    }

    private static let schemas = Atomic<Int>(0)
}

/// A storage, with what counts it and the folder it needs for as long as it lives.
struct Opened: Storage {
    let storage: any Storage
    let counter: CountingObserver
    let folder: TemporaryFolder

    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer {
        try await storage.read(body)
    }

    func lookUp<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer {
        try await storage.lookUp(body)
    }

    func find(_ statement: Statement, _ values: [SQLValue]) async throws -> [Row] {
        try await storage.find(statement, values)
    }

    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        try await storage.write(body)
    }

    func wake(_ word: String) { storage.wake(word) }

    func wakes() -> AsyncStream<Wake> { storage.wakes() }

    func close() async throws { try await storage.close() }
}

final class CountingObserver: StorageObserver {
    struct Counts: Equatable {
        var statements: [String] = []
        var commits = 0
        var roundTrips = 0

        /// Statements and commits, which are alike on every engine.
        static func == (left: Self, right: Self) -> Bool {
            (left.statements, left.commits) == (right.statements, right.commits)
        }
    }

    private let state = Mutex(Counts())

    var counts: Counts { state.withLock { $0 } }

    func reset() { state.withLock { $0 = Counts() } }

    func didRun(_ statement: Statement) {
        state.withLock { $0.statements.append(statement.name) }
    }

    func didCommit() { state.withLock { $0.commits += 1 } }

    func didRoundTrip() { state.withLock { $0.roundTrips += 1 } }
}

/// Jars on a shelf, and what was taken from them.
enum Shelf {
    static let migrations = [
        Migration(
            1, "jars",
            [
                """
                CREATE TABLE jars (
                    id INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL UNIQUE,
                    label BLOB, sealed BOOLEAN NOT NULL,
                    coins INTEGER NOT NULL CHECK (coins >= 0)
                ) STRICT
                """
            ]),
        Migration(
            2, "takings",
            [
                """
                CREATE TABLE takings (
                    jar_id INTEGER NOT NULL REFERENCES jars (id), number INTEGER NOT NULL,
                    PRIMARY KEY (jar_id, number)
                ) STRICT
                """,
                "CREATE INDEX takings_by_number ON takings (number)",
            ]),
    ]

    static let insert = Statement(
        "jars.insert", [.integer, .text, .blob, .boolean, .integer],
        """
        INSERT INTO jars (id, name, label, sealed, coins) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (id) DO NOTHING RETURNING id
        """)
    static let insertPlainly = Statement(
        "jars.insertPlainly", [.integer, .text],
        "INSERT INTO jars (id, name, sealed, coins) VALUES ($1, $2, FALSE, 0)")
    static let all = Statement("jars.all", "SELECT * FROM jars ORDER BY id")
    static let count = Statement("jars.count", "SELECT count(*) AS n FROM jars")
    static let take = Statement(
        "jars.take", [.integer, .integer],
        "UPDATE jars SET coins = coins - $2 WHERE id = $1 RETURNING coins")
    static let add = Statement(
        "jars.add", [.integer], "UPDATE jars SET coins = coins + 1 WHERE id = $1 RETURNING coins")
    static let sealed = Statement(
        "jars.sealed", [.boolean], "SELECT id FROM jars WHERE sealed = $1 ORDER BY id")
    static let insertTaking = Statement(
        "takings.insert", [.integer, .integer],
        "INSERT INTO takings (jar_id, number) VALUES ($1, $2)")

    static func values(_ id: Int64, _ name: String, coins: Int64 = 0) -> [SQLValue] {
        [.integer(id), .text(name), .null, .boolean(false), .integer(coins)]
    }
}

extension Storage {
    func count() async throws -> Int64 {
        try await read { try $0.first(Shelf.count)?.integer("n") ?? -1 }
    }

    func putJar(_ id: Int64, _ name: String, coins: Int64 = 0) async throws {
        try await write { try $0.execute(Shelf.insert, Shelf.values(id, name, coins: coins)) }
    }
}

/// The fault that `work` throws; nil when it throws none.
func fault(_ work: () async throws -> some Sendable) async throws -> StorageFault? {
    do {
        _ = try await work()
        return nil
    } catch let fault as StorageFault {
        return fault
    }
}
