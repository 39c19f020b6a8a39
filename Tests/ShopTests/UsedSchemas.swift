// SPDX-License-Identifier: Apache-2.0

import Storage
import StoragePostgres
import Synchronization
import TestSupport

/// Schemas of tests that are over, emptied for later tests: making one takes longer
/// than most of what a test does in it, and thousands of them slow a server down.
enum UsedSchemas {
    /// What two schemas have in common if one can take the other's place.
    struct Kind: Hashable {
        var migrations: [Migration]
        var isFar: Bool
    }

    /// A schema as a test has it.
    struct Lent {
        var name: String
        var kind: Kind
    }

    private static let count = Atomic<Int>(0)
    private static let emptied = Mutex<[Kind: [String]]>([:])

    /// The name of an empty schema, or of one that is not there yet.
    static func lend(_ kind: Kind) -> Lent {
        let used = emptied.withLock { $0[kind]?.popLast() }
        return Lent(name: used ?? "w\(count.add(1, ordering: .relaxed).newValue)", kind: kind)
    }

    /// Empties what a test had, when nobody uses it any more. What cannot be emptied is left.
    static func giveBack(_ lent: [Lent]) async {
        for schema in lent {
            do {
                let database = try await (schema.kind.isFar ? far : near).value
                try await database.outsideTransactions(clearing(schema.name))
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

    private static let near = Task { cleaner(try await PostgresCluster.shared()) }
    private static let far = Task { cleaner(try await TestClusters.second()) }

    private static func cleaner(_ cluster: PostgresCluster) -> PostgresDatabase {
        PostgresDatabase(
            cluster.conninfo,
            options: PostgresOptions(
                connections: 2, waitingMax: 10_000, waitMilliseconds: Patience.milliseconds,
                lockMilliseconds: Patience.milliseconds))
    }
}
