// SPDX-License-Identifier: Apache-2.0

public import Storage
public import StoragePostgres
import Synchronization

/// Connections to a server, as a test has them, with schemas of its own. When nobody has
/// them any more, the schemas are emptied, and a later test gets both: making a schema takes
/// longer than most of what a test does in it, and a connection that has been used in a schema
/// knows its tables and has its statements planned.
public final class LentDatabase: Sendable {
    private let kit: Kit
    private let isLent: Bool
    /// The schemas, by what the test calls them.
    private let schemas = Mutex<[String: (schema: String, migrations: [Migration])]>([:])

    /// Lends used connections, or opens new ones. `conninfo` and `purpose` name what has
    /// equal options, but for the observer. Nil for connections that no later test gets.
    public init(_ conninfo: String, for purpose: String?, _ options: PostgresOptions) {
        isLent = purpose != nil
        let key = Kit.Key(conninfo: conninfo, purpose: purpose ?? "")
        let used = isLent ? Kit.idle.withLock { $0[key]?.popLast() } : nil
        kit = used ?? Kit(key, options)
        kit.observer.follow(options.observer)
    }

    deinit {
        let (kit, isLent, schemas) = (kit, isLent, schemas.withLock { Array($0.values) })
        Task {
            if isLent { await kit.giveBack(schemas) } else { await kit.database.close() }
        }
    }

    /// A database of the test's, in an empty schema the first time.
    public func storage(_ name: String, _ migrations: [Migration]) async throws -> any Storage {
        let schema = schemas.withLock { schemas in
            let schema = schemas[name]?.schema ?? kit.schema(migrations)
            schemas[name] = (schema, migrations)
            return schema
        }
        return LentStorage(try await kit.database.schema(schema, migrations: migrations), self)
    }

    /// The schema of one of the test's databases. Nil if it has no such one.
    public func schema(of name: String) -> String? { schemas.withLock { $0[name]?.schema } }

    public func drop(_ name: String) async throws {
        guard let schema = schemas.withLock({ $0.removeValue(forKey: name) })?.schema else {
            return
        }
        try await kit.database.dropSchema(schema)
    }
}

/// Connections, and the emptied schemas in which they have been used.
private final class Kit: Sendable {
    struct Key: Hashable {
        let conninfo: String
        let purpose: String
    }

    static let idle = Mutex<[Key: [Kit]]>([:])
    private static let count = Atomic<Int>(0)

    let database: PostgresDatabase
    let observer = Relay()
    private let key: Key
    private let emptied = Mutex<[[Migration]: [String]]>([:])

    init(_ key: Key, _ options: PostgresOptions) {
        var options = options
        options.observer = observer
        self.key = key
        database = PostgresDatabase(key.conninfo, options: options)
    }

    /// The name of an empty schema, or of one that is not there yet.
    func schema(_ migrations: [Migration]) -> String {
        emptied.withLock { $0[migrations]?.popLast() }
            ?? "w\(Self.count.add(1, ordering: .relaxed).newValue)"
    }

    /// Connections whose schemas cannot be emptied are closed.
    func giveBack(_ schemas: [(schema: String, migrations: [Migration])]) async {
        observer.follow(nil)
        do {
            for (schema, migrations) in schemas {
                try await database.outsideTransactions(Self.clearing(schema))
                emptied.withLock { $0[migrations, default: []].append(schema) }
            }
        } catch {
            return await database.close()
        }
        Self.idle.withLock { $0[key, default: []].append(self) }
    }

    /// Deletes every row of a schema. References are not looked at meanwhile, so that the
    /// order of the tables does not matter.
    private static func clearing(_ schema: String) -> String {
        """
        DO $$ DECLARE one text; BEGIN
            SET LOCAL session_replication_role = replica;
            FOR one IN SELECT relname FROM pg_class WHERE relnamespace = '\(schema)'::regnamespace
                AND relkind IN ('r', 'p') AND relname <> 'schema_migrations'
            LOOP
                EXECUTE format('DELETE FROM \(schema).%I', one);
            END LOOP;
        END $$
        """
    }
}

/// Passes on what a database does to the observer of the test that has it.
private final class Relay: StorageObserver {
    private let target = Mutex<(any StorageObserver)?>(nil)

    func follow(_ observer: (any StorageObserver)?) { target.withLock { $0 = observer } }

    func didRun(_ statement: Statement) { target.withLock { $0 }?.didRun(statement) }
    func didCommit() { target.withLock { $0 }?.didCommit() }
    func didRoundTrip() { target.withLock { $0 }?.didRoundTrip() }
}

/// A database that keeps what lends it.
private final class LentStorage: Storage {
    private let base: any Storage
    private let lender: LentDatabase

    init(_ base: any Storage, _ lender: LentDatabase) {
        self.base = base
        self.lender = lender
    }

    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer { try await base.read(body) }

    func lookUp<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer { try await base.lookUp(body) }

    func find(_ statement: Statement, _ values: [SQLValue]) async throws -> [Row] {
        try await base.find(statement, values)
    }

    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer { try await base.write(body) }

    func wake(_ word: String) { base.wake(word) }

    func wakes() -> AsyncStream<Wake> { base.wakes() }

    func close() async throws { try await base.close() }
}
