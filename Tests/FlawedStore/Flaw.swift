// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization

/// Defects that can be built into a store, to show that the proof finds them.
enum Flaw: String, Sendable {
    /// Purchases have no key, and no check whether one exists already.
    case keyless
    /// A customer's commits do not wait for each other.
    case lineless
    /// The caller is answered before the commit.
    case answersEarly
    /// What an earlier process wrote and did not sync is read, but not made
    /// durable.
    case unsettled
    /// Some errors of statements are lost, so that only the tag of COMMIT shows
    /// that the server rolled the transaction back.
    case errorsLost
    /// The same, and the tag is not checked.
    case tagUnread

    /// Returns the schema for a flaw.
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

/// A database with a flaw.
struct FlawedStorage: Storage {
    let base: any Storage
    let flaw: Flaw?
    /// Called for each customer's write before it is done.
    var didBegin: @Sendable () -> Void = {}

    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer {
        try await base.read(body)
    }

    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        let (flaw, didBegin) = (flaw, didBegin)
        guard flaw == .answersEarly, Serving.hasBegun else {
            return try await base.write {
                try body(FlawedWriting(base: $0, flaw: flaw, didBegin: didBegin))
            }
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

/// Whether the store listens. Writes during the start have no flaw, because the
/// start reads them back and would fail.
enum Serving {
    private static let flag = Atomic(false)

    static var hasBegun: Bool { flag.load(ordering: .relaxed) }
    static func begin() { flag.store(true, ordering: .relaxed) }
}

/// Answers once. A class, because two tasks may try.
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

/// Statements with a flaw.
private struct FlawedWriting: Writing {
    let base: any Writing
    let flaw: Flaw?
    let didBegin: @Sendable () -> Void

    private static let lineWrite = Statement(
        "flawed.line.write", [.integer, .integer],
        "UPDATE customers SET revision = $2 WHERE customer_id = $1 AND revision < $2")

    func query(_ statement: Statement, _ values: [SQLValue]) throws -> [Row] {
        if statement.name == "customers.line" { didBegin() }
        switch (flaw, statement.name) {
        case (.lineless, "customers.line"):
            let rows = try base.query(Self.looked(statement), values)
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

    /// Reads what the line's statement returns, without locking the line, so
    /// that concurrent writes do not wait.
    private static func looked(_ line: Statement) -> Statement {
        let shape =
            #/
            UPDATE\ customers\ SET\ revision\ =\ revision\ \+\ 1\s+(?<which>WHERE\ .+)\s+
            RETURNING\ revision,\ (?<columns>.+)
            /#
        guard let parts = line.sql.wholeMatch(of: shape.dotMatchesNewlines()) else {
            preconditionFailure("the customer's line is another statement now")
        }
        return Statement(
            "flawed.line", line.parameters,
            "SELECT revision + 1 AS revision, \(parts.columns) FROM customers \(parts.which)")
    }

    /// Never finds an existing purchase.
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
