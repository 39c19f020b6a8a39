// SPDX-License-Identifier: Apache-2.0

public import Storage
import StoragePostgres
import Synchronization

/// Schemas of tests that are over, emptied for later tests: making one takes longer
/// than most of what a test does in it, and thousands of them slow a server down.
public enum UsedSchemas {
    /// What two schemas have in common if one can take the other's place.
    public struct Kind: Hashable, Sendable {
        var migrations: [Migration]
        /// Where the server is, for libpq.
        var conninfo: String

        public init(migrations: [Migration], conninfo: String) {
            self.migrations = migrations
            self.conninfo = conninfo
        }
    }

    /// A schema as a test has it.
    public struct Lent: Sendable {
        public let name: String
        fileprivate let kind: Kind
    }

    private static let count = Atomic<Int>(0)
    private static let emptied = Mutex<[Kind: [String]]>([:])
    /// The connections that empty schemas, of each server.
    private static let cleaners = Mutex<[String: PostgresDatabase]>([:])

    /// The name of an empty schema, or of one that is not there yet.
    public static func lend(_ kind: Kind) -> Lent {
        let used = emptied.withLock { $0[kind]?.popLast() }
        return Lent(name: used ?? "w\(count.add(1, ordering: .relaxed).newValue)", kind: kind)
    }

    /// Empties what a test had, when nobody uses it any more. What cannot be emptied is left.
    public static func giveBack(_ lent: [Lent]) async {
        for schema in lent {
            do {
                try await cleaner(schema.kind.conninfo).outsideTransactions(clearing(schema.name))
                emptied.withLock { $0[schema.kind, default: []].append(schema.name) }
            } catch {}
        }
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

    private static func cleaner(_ conninfo: String) -> PostgresDatabase {
        cleaners.withLock { cleaners in
            let cleaner =
                cleaners[conninfo]
                ?? PostgresDatabase(
                    conninfo,
                    options: PostgresOptions(
                        connections: 2, waitingMax: 10_000,
                        waitMilliseconds: Patience.milliseconds,
                        lockMilliseconds: Patience.milliseconds))
            cleaners[conninfo] = cleaner
            return cleaner
        }
    }
}

/// A database in a schema that is given back when nobody has the database any more.
public final class LentStorage: Storage {
    /// What several of them have in common.
    public final class Loan: Sendable {
        public let schema: UsedSchemas.Lent

        public init(_ schema: UsedSchemas.Lent) { self.schema = schema }

        deinit {
            let schema = schema
            Task { await UsedSchemas.giveBack([schema]) }
        }
    }

    private let base: any Storage
    private let loan: Loan

    public init(_ base: any Storage, _ loan: Loan) {
        self.base = base
        self.loan = loan
    }

    public func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer { try await base.read(body) }

    public func lookUp<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer { try await base.lookUp(body) }

    public func find(_ statement: Statement, _ values: [SQLValue]) async throws -> [Row] {
        try await base.find(statement, values)
    }

    public func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer { try await base.write(body) }

    public func wake(_ word: String) { base.wake(word) }

    public func wakes() -> AsyncStream<Wake> { base.wakes() }

    public func close() async throws { try await base.close() }
}
