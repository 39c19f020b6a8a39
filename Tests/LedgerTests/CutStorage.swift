// SPDX-License-Identifier: Apache-2.0

import Storage
import TestSupport

/// A storage under the knife: every read and commit, and every statement of a commit.
struct CutStorage: Storage {
    let storage: any Storage
    let knife: Knife

    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer {
        try await knife.call { try await storage.read(body) }
    }

    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        let knife = knife
        return try await knife.call {
            try await storage.write { try body(CutWriting(writing: $0, knife: knife)) }
        }
    }

    func close() async throws {}
}

private struct CutWriting: Writing {
    let writing: any Writing
    let knife: Knife

    func query(_ statement: Statement, _ values: [SQLValue]) throws -> [Row] {
        try knife.inside { try writing.query(statement, values) }
    }

    func execute(_ statement: Statement, _ values: [SQLValue]) throws {
        try knife.inside { try writing.execute(statement, values) }
    }

    func databaseTime() throws -> Int64 { try writing.databaseTime() }
}
