// SPDX-License-Identifier: Apache-2.0

public import Storage

/// Rows of an archive that contradict each other, although each by itself keeps
/// its table's rules.
public struct Contradiction: Sendable {
    let table: String
    let column: String
    let rule: String
    /// Whether there is such a contradiction.
    public let isThere: @Sendable (any Reading) throws -> Bool

    /// `statement` returns a row if there is such a contradiction. `rule` says
    /// what the column must be.
    public init(_ table: String, _ column: String, _ rule: String, _ statement: Statement) {
        self.init(table, column, rule) { try $0.first(statement) != nil }
    }

    /// For what no statement can compare.
    public init(
        _ table: String, _ column: String, _ rule: String,
        isThere: @escaping @Sendable (any Reading) throws -> Bool
    ) {
        (self.table, self.column, self.rule) = (table, column, rule)
        self.isThere = isThere
    }
}

extension ArchiveContents {
    /// Checks that no rows contradict each other, which is possible only after
    /// all are loaded. Throws ``ArchiveFault``.
    public func check(
        _ contradictions: [Contradiction], in storage: any Storage, _ database: String
    ) async throws {
        for one in contradictions {
            guard try await storage.read({ try one.isThere($0) }) else { continue }
            throw Self.invalid(
                path, "`\(one.column)` of `\(one.table)`, database `\(database)`", one.rule)
        }
    }
}
