// SPDX-License-Identifier: Apache-2.0

public import Storage

/// A PostgreSQL database: its connections, shared by all the schemas in it.
///
/// A class, because a store's registry and realms, a schema each, share the
/// connections and one that listens.
public final class PostgresDatabase: Sendable {
    let pool: PostgresPool
    let listener: PostgresListener
    let options: PostgresOptions

    /// `conninfo`: a URL (`postgres://…`) or keywords and values, as libpq
    /// takes them; what is missing comes from libpq's environment and its
    /// service and password files. Nothing is connected yet.
    public init(_ conninfo: String, options: PostgresOptions = PostgresOptions()) {
        pool = PostgresPool(conninfo: conninfo, options: options)
        listener = PostgresListener(conninfo: conninfo, options: options)
        self.options = options
    }

    /// Opens a schema, made where there is none, and brings it up to date.
    /// Many processes may do so at once: one migrates, the others wait.
    ///
    /// Throws ``StorageFault``: `unavailable` when the server cannot be
    /// reached, `unreadable` when the schema is newer than `migrations`.
    ///
    /// `isSplit`: whether the option `partitions` is meant for it.
    public func schema(
        _ name: String, migrations: [Migration], isSplit: Bool = true
    ) async throws -> PostgresStorage {
        precondition(Self.isName(name), "a schema is named by letters, digits and _")
        let partitions = isSplit ? options.partitions : nil
        try await run(schema: "", isLimited: false) { runner in
            try PostgresMigrator(runner.connection, schema: name, partitions: partitions)
                .migrate(to: migrations)
        }
        return PostgresStorage(self, schema: name)
    }

    /// Removes a schema with all it holds; removing again changes nothing.
    public func dropSchema(_ name: String) async throws {
        precondition(Self.isName(name), "a schema is named by letters, digits and _")
        try await run(schema: "", isLimited: false) {
            try $0.connection.grip.beginCommit()
            _ = try $0.connection.command("DROP SCHEMA IF EXISTS \"\(name)\" CASCADE")
        }
    }

    /// Throws a fault where the server may lose what it has acknowledged:
    /// with `fsync`, `full_page_writes` or `synchronous_commit` switched off
    /// for this database, this role or in the connection's own words, or
    /// with standbys that no commit waits for. From then on no new
    /// connection is used whose server says so.
    public func proveDurable() async throws {
        try await run(schema: "") { try $0.connection.proveDurable() }
        pool.demandDurability()
    }

    /// Runs what cannot run in a transaction, or is the administrator's.
    package func outsideTransactions(_ sql: String) async throws {
        try await run(schema: "", isLimited: false) { _ = try $0.connection.command(sql) }
    }

    /// How many callers wait for a connection.
    package var waiting: Int { pool.waiting }

    /// Closes every connection. Later calls throw.
    public func close() async {
        listener.close()
        await withCheckedContinuation { continuation in
            PlainThread.start("postgres.close") {
                self.pool.close()
                continuation.resume()
            }
        }
    }

    /// Runs a body on some connection's thread. A caller that is cancelled
    /// while it waits, or while its statement runs, gets `CancellationError`
    /// and nothing was written; once COMMIT is sent it gets the answer. What a
    /// caller begins that was cancelled before is done: it is tidying up.
    func run<Answer: Sendable>(
        schema: String, isLimited: Bool = true,
        _ body: @escaping @Sendable (PostgresRunner) throws -> Answer
    ) async throws -> Answer {
        let ticket = PostgresTicket()
        let mayCancel = !Task.isCancelled
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                pool.submit(
                    PostgresPool.Job(schema: schema, isLimited: isLimited, ticket: ticket) {
                        let answer = try body($0)
                        return { continuation.resume(returning: answer) }
                    } refuse: {
                        continuation.resume(throwing: $0)
                    })
            }
        } onCancel: {
            if mayCancel { pool.cancel(ticket) }
        }
    }

    static func isName(_ text: String) -> Bool {
        (1...63).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (97...122).contains($0) || (48...57).contains($0) || $0 == 95
            }
    }
}

/// One schema of a PostgreSQL database, as the port sees it: a realm, or a
/// store's registry.
public final class PostgresStorage: Storage {
    private let database: PostgresDatabase
    private let schema: String
    /// False for one that is copied as a whole, which takes as long as it takes.
    private let limitsReads: Bool
    private let state = ClosedFlag()

    init(_ database: PostgresDatabase, schema: String, limitsReads: Bool = true) {
        self.database = database
        self.limitsReads = limitsReads
        self.schema = schema
    }

    public func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer {
        try state.check()
        return try await database.run(schema: schema, isLimited: limitsReads) {
            try $0.read(body)
        }
    }

    public func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        try state.check()
        return try await database.run(schema: schema) { try $0.write(body) }
    }

    public func wake(_ word: String) { database.listener.tell(word, schema: schema) }

    public func wakes() -> AsyncStream<Wake> { database.listener.wakes(schema: schema) }

    /// The connections are the database's: they stay open for its other schemas.
    public func close() async throws { state.close() }
}
