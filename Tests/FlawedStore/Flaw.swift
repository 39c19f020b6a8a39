// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization

/// What can be taken away from a store, to see that the proof finds it.
enum Flaw: String, Sendable {
    /// Purchases have no key, and nobody looks whether there is one already.
    case keyless
    /// A customer's commits do not wait for each other.
    case lineless
    /// The caller is answered before the commit.
    case answersEarly
    /// A commit is not synced, as with SQLite's `synchronous=NORMAL`.
    case logNotSynced

    /// The schema that goes with a flaw.
    static func spoil(_ migrations: [Migration], _ flaw: Flaw?) -> [Migration] {
        guard flaw == .keyless else { return migrations }
        return migrations.map { migration in
            Migration(
                migration.number, migration.name, migration.statements.map(withoutKey))
        }
    }

    private static func withoutKey(_ statement: String) -> String {
        guard statement.contains("CREATE TABLE purchases") else { return statement }
        let key = "PRIMARY KEY (customer_id, bundle_id, purchase_id)"
        precondition(statement.contains(key), "the key of purchases is another one now")
        return statement.replacing(key, with: "CHECK (quantity > 0)")
            .replacing("WITHOUT ROWID, STRICT", with: "STRICT")
    }
}

/// A database that does what a flaw makes of it.
struct FlawedStorage: Storage {
    let base: any Storage
    let flaw: Flaw?

    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer {
        try await base.read(body)
    }

    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        let flaw = flaw
        guard flaw == .answersEarly else {
            return try await base.write { try body(FlawedWriting(base: $0, flaw: flaw)) }
        }
        return try await withCheckedThrowingContinuation { continuation in
            let answering = Answering(continuation)
            Task {
                do {
                    try await base.write { answering.answer(.success(try body($0))) }
                } catch {
                    answering.answer(.failure(error))
                }
            }
        }
    }

    func wake(_ word: String) { base.wake(word) }
    func wakes() -> AsyncStream<Wake> { base.wakes() }
    func close() async throws { try await base.close() }
}

/// Answers once. A class, because two may try.
private final class Answering<Answer: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Answer, any Error>?>

    init(_ continuation: CheckedContinuation<Answer, any Error>) {
        self.continuation = Mutex(continuation)
    }

    func answer(_ result: Result<Answer, any Error>) {
        continuation.withLock { continuation in
            continuation?.resume(with: result)
            continuation = nil
        }
    }
}

/// Statements as a flaw has them.
private struct FlawedWriting: Writing {
    let base: any Writing
    let flaw: Flaw?

    private static let lineRead = Statement(
        "flawed.line", [.integer],
        """
        SELECT revision + 1 AS revision, storefront, may_buy, asks_to_buy FROM customers
        WHERE customer_id = $1
        """)
    private static let lineWrite = Statement(
        "flawed.line.write", [.integer, .integer],
        "UPDATE customers SET revision = $2 WHERE customer_id = $1 AND revision < $2")

    func query(_ statement: Statement, _ values: [SQLValue]) throws -> [Row] {
        switch (flaw, statement.name) {
        case (.lineless, "customers.line"):
            let rows = try base.query(Self.lineRead, values)
            if let row = rows.first {
                let revision = SQLValue.integer(try row.integer("revision"))
                try base.execute(Self.lineWrite, values + [revision])
            }
            return rows
        case (.keyless, "purchases.facts"):
            return try base.query(Self.blind(statement), values)
        default:
            return try base.query(statement, values)
        }
    }

    /// Finds no purchase that was asked before.
    private static func blind(_ facts: Statement) -> Statement {
        let found = "p.purchase_id = $3"
        precondition(facts.sql.contains(found), "purchases are found in another way now")
        return Statement(
            "flawed.facts", facts.parameters,
            facts.sql.replacing(found, with: found + " AND p.quantity < 0"))
    }

    func databaseTime() throws -> Int64 { try base.databaseTime() }
    func execute(_ statement: Statement, _ values: [SQLValue]) throws {
        try base.execute(statement, values)
    }
    func claim(_ statement: Statement, _ values: [SQLValue]) throws -> [Row] {
        try base.claim(statement, values)
    }
    func insertMany(_ statement: Statement, _ rows: [[SQLValue]]) throws {
        try base.insertMany(statement, rows)
    }
}
