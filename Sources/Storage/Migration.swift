// SPDX-License-Identifier: Apache-2.0

/// One numbered step of a schema. A released step is never edited, because a
/// database stores the checksum of each step that was applied to it.
public struct Migration: Hashable, Sendable {
    /// The position in the sequence, from 1 and without gaps.
    public let number: Int
    public let name: String
    /// DDL in the dialect of SQLite STRICT. Each engine translates it.
    public let statements: [String]
    /// Statements that run after the others, in the same commit. The checksum
    /// does not cover them: they write rows that a new database has from its
    /// first moment.
    public var firstRows: [String] = []

    public init(_ number: Int, _ name: String, _ statements: [String]) {
        self.number = number
        self.name = name
        self.statements = statements
    }
}
