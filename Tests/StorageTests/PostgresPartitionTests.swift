// SPDX-License-Identifier: Apache-2.0

import Storage
import TestSupport
import Testing

@testable import StoragePostgres

/// Tables split by a hash of the customer.
@Suite(.timeLimit(.minutes(5))) struct PostgresPartitionTests {
    private static let purses = Migration(
        1, "purses",
        [
            """
            CREATE TABLE purses (
                customer_id INTEGER NOT NULL, number INTEGER NOT NULL, coins INTEGER NOT NULL,
                PRIMARY KEY (customer_id, number)
            ) WITHOUT ROWID, STRICT
            """,
            "CREATE UNIQUE INDEX purses_coins ON purses (customer_id, coins)",
            "CREATE TABLE names (name TEXT NOT NULL PRIMARY KEY, customer_id INTEGER) STRICT",
        ])
    private static let later = Migration(
        2, "later",
        [
            "ALTER TABLE purses ADD COLUMN label TEXT",
            "CREATE TABLE owners (customer_id INTEGER NOT NULL PRIMARY KEY) STRICT",
        ])
    private static let put = Statement(
        "purses.put", [.integer, .integer, .integer],
        """
        INSERT INTO purses (customer_id, number, coins) VALUES ($1, $2, $3)
        ON CONFLICT (customer_id, number) DO UPDATE SET coins = purses.coins + 1
        RETURNING coins
        """)
    private static let parts = Statement(
        "parts", [.text],
        """
        SELECT count(*) AS n FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent
        JOIN pg_namespace s ON s.oid = c.relnamespace
        WHERE s.nspname = $1 AND c.relkind = 'p'
        """)

    @Test(
        arguments: [
            (
                "CREATE TABLE a (customer_id INTEGER NOT NULL, b TEXT, PRIMARY KEY (customer_id, b))",
                "a"
            ),
            ("create table a (b TEXT, customer_id INTEGER NOT NULL PRIMARY KEY) STRICT", "a"),
            ("CREATE TABLE a (b TEXT NOT NULL PRIMARY KEY, customer_id INTEGER NOT NULL)", nil),
            ("CREATE TABLE a (customer_id INTEGER, b TEXT, PRIMARY KEY (b, customer_id))", nil),
            ("CREATE INDEX a ON b (customer_id)", nil),
            ("ALTER TABLE a ADD COLUMN customer_id INTEGER", nil),
        ] as [(String, String?)])
    func `a table is split whose key begins with the customer`(
        statement: String, table: String?
    ) {
        #expect(PostgresPartitions.table(madeBy: statement) == table)
    }

    @Test func `a split schema stays as it was made, and takes later tables alike`()
        async throws
    {
        let schema = Engine.freshSchema()
        let made = try await Engine.database(PostgresOptions(connections: 1, partitions: 4))
        _ = try await made.schema(schema, migrations: [Self.purses])
        await made.close()

        let opened = try await Engine.database(PostgresOptions(connections: 1))
        let shelf = try await opened.schema(schema, migrations: [Self.purses, Self.later])

        for customer in 1...40 {
            let values: [SQLValue] = [.integer(Int64(customer)), .integer(1), .integer(7)]
            let first = try await shelf.write { try $0.first(Self.put, values)?.integer("coins") }
            let again = try await shelf.write { try $0.first(Self.put, values)?.integer("coins") }
            #expect((first, again) == (7, 8))
        }
        let counted = try await shelf.read {
            try $0.first(Self.parts, [.text(schema)])?.integer("n")
        }
        // Purses and owners, and not names.
        #expect(counted == 8)
        await opened.close()
    }

    @Test func `an older schema's tables stay whole`() async throws {
        let schema = Engine.freshSchema()
        let made = try await Engine.database(PostgresOptions(connections: 1))
        _ = try await made.schema(schema, migrations: [Self.purses])
        await made.close()

        let opened = try await Engine.database(PostgresOptions(connections: 1, partitions: 4))
        let shelf = try await opened.schema(schema, migrations: [Self.purses, Self.later])

        let counted = try await shelf.read {
            try $0.first(Self.parts, [.text(schema)])?.integer("n")
        }
        #expect(counted == 0)
        await opened.close()
    }
}
