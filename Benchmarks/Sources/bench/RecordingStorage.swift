// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage

/// A storage that writes down what is written through it, so that the bare
/// handler can run the very same SQL.
final class RecordingStorage: Storage, @unchecked Sendable {
    struct Step {
        let statement: Statement
        let values: [SQLValue]
        /// Whether its rows are waited for; what tells nothing may go with the commit.
        var isAsked = true

        func run(_ writer: any Writing, _ values: [SQLValue]) throws {
            if isAsked {
                _ = try writer.query(statement, values)
            } else {
                try writer.execute(statement, values)
            }
        }
    }

    private let inner: any Storage
    private let lock = NSLock()
    private var steps: [Step] = []
    private var isRecording = false

    init(_ inner: any Storage) {
        self.inner = inner
    }

    func record() { lock.withLock { (steps, isRecording) = ([], true) } }
    func recorded() -> [Step] {
        lock.withLock {
            isRecording = false
            return steps
        }
    }

    fileprivate func note(
        _ statement: Statement, _ values: [SQLValue], isAsked: Bool = true
    ) {
        lock.withLock {
            guard isRecording else { return }
            steps.append(Step(statement: statement, values: values, isAsked: isAsked))
        }
    }

    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer {
        try await inner.read { try body(RecordingReader(inner: $0, storage: self)) }
    }

    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        try await inner.write { try body(RecordingWriter(inner: $0, storage: self)) }
    }

    func close() async throws { try await inner.close() }

    /// One read transaction of the recorded steps.
    func replayReads(_ steps: [Step]) async throws {
        try await inner.read { reader in
            for step in steps { _ = try reader.query(step.statement, step.values) }
        }
    }

    /// One commit of the recorded steps, each value replaced that `fresh` knows.
    func replay(_ steps: [Step], fresh: [SQLValue: SQLValue]) async throws {
        try await inner.write { writer in
            for step in steps {
                try step.run(writer, step.values.map { fresh[$0] ?? $0 })
            }
        }
    }
}

private struct RecordingReader: Reading {
    let inner: any Reading
    let storage: RecordingStorage

    func query(_ statement: Statement, _ values: [SQLValue]) throws -> [Row] {
        storage.note(statement, values)
        return try inner.query(statement, values)
    }

    func databaseTime() throws -> Int64 { try inner.databaseTime() }
}

private struct RecordingWriter: Writing {
    let inner: any Writing
    let storage: RecordingStorage

    func query(_ statement: Statement, _ values: [SQLValue]) throws -> [Row] {
        storage.note(statement, values)
        return try inner.query(statement, values)
    }

    func queryAll(_ queries: [(statement: Statement, values: [SQLValue])]) throws -> [[Row]] {
        for (statement, values) in queries { storage.note(statement, values) }
        return try inner.queryAll(queries)
    }

    func execute(_ statement: Statement, _ values: [SQLValue]) throws {
        storage.note(statement, values, isAsked: false)
        try inner.execute(statement, values)
    }

    func databaseTime() throws -> Int64 { try inner.databaseTime() }
}
