// SPDX-License-Identifier: Apache-2.0

public import Storage

/// Rows of an archive that contradict each other, although each by itself keeps
/// its table's rules.
public struct Contradiction: Sendable {
    let table: String
    let column: String
    let rule: String
    /// Returns a row if there is such a contradiction.
    public let statement: Statement

    /// `statement` returns a row if there is such a contradiction. `rule` says
    /// what the column must be.
    public init(_ table: String, _ column: String, _ rule: String, _ statement: Statement) {
        (self.table, self.column, self.rule) = (table, column, rule)
        self.statement = statement
    }
}

extension ArchiveContents {
    /// Checks that no rows contradict each other, which is possible only after
    /// all are loaded. Throws ``ArchiveFault``.
    public func check(
        _ contradictions: [Contradiction], in storage: any Storage, _ database: String
    ) async throws {
        for one in contradictions {
            let statement = one.statement
            guard try await storage.read({ try $0.first(statement) }) != nil else { continue }
            throw Self.invalid(
                path, "`\(one.column)` of `\(one.table)`, database `\(database)`", one.rule)
        }
    }
}
