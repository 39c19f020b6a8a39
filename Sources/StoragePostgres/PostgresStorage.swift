// SPDX-License-Identifier: Apache-2.0

public import Storage

/// A PostgreSQL database with its connections.
///
/// A class, because all schemas in it (a store's registry and its realms) share
/// these connections and the listening one.
public final class PostgresDatabase: Sendable {
    let pool: PostgresPool
    let listener: PostgresListener
    let options: PostgresOptions

    /// Does not connect yet. `conninfo` is a URL (`postgres://…`) or keywords
    /// and values, in libpq's format. libpq takes missing values from its
    /// environment variables, service file and password file.
    public init(_ conninfo: String, options: PostgresOptions = PostgresOptions()) {
        pool = PostgresPool(conninfo: conninfo, options: options)
        listener = PostgresListener(conninfo: conninfo, options: options)
        self.options = options
    }

    /// Opens a schema, creates it if it does not exist, and migrates it. If
    /// several processes do this at once, one migrates and the others wait.
    ///
    /// Throws ``StorageFault``: `unavailable` if the server cannot be reached,
    /// `unreadable` if the schema is newer than `migrations`.
    ///
    /// `isSplit`: whether the option `partitions` applies to this schema.
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

    /// Removes a schema with its contents. Does nothing if there is no such
    /// schema.
    public func dropSchema(_ name: String) async throws {
        precondition(Self.isName(name), "a schema is named by letters, digits and _")
        try await run(schema: "", isLimited: false) {
            try $0.connection.grip.beginCommit()
            _ = try $0.connection.command("DROP SCHEMA IF EXISTS \"\(name)\" CASCADE")
        }
    }

    /// Throws a fault if the server may lose what it has acknowledged: `fsync`,
    /// `full_page_writes` or `synchronous_commit` is off for this database,
    /// this role or this connection, or there are standbys that commits do not
    /// wait for. From then on, new connections to such a server are rejected
    /// too.
    public func proveDurable() async throws {
        try await run(schema: "") { try $0.connection.proveDurable() }
        pool.demandDurability()
    }

    /// Runs statements that cannot run in a transaction, or that only an
    /// administrator uses.
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

    /// Runs a body on the thread of any connection. If the caller is cancelled
    /// while it waits or while its statement runs, this throws
    /// `CancellationError` and nothing was written. Once COMMIT was sent, it
    /// returns the answer. A call that begins after its task was cancelled is
    /// run, because it is a clean-up.
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

/// One schema of a PostgreSQL database, behind the port: a realm, or a store's
/// registry.
public final class PostgresStorage: Storage {
    private let database: PostgresDatabase
    private let schema: String
    /// False if the schema is copied as a whole, which may take any time.
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

    /// The statement travels with the transaction that it is alone in.
    public func find(_ statement: Statement, _ values: [SQLValue]) async throws -> [Row] {
        try state.check()
        return try await database.run(schema: schema, isLimited: limitsReads) {
            try $0.find(statement, values)
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

    /// Closes this schema only. The connections belong to the database and stay
    /// open for its other schemas.
    public func close() async throws { state.close() }
}
