// SPDX-License-Identifier: Apache-2.0

/// One numbered step of a schema. Never edited after a release: a database
/// remembers the checksum of each step it took.
public struct Migration: Hashable, Sendable {
    /// From 1, without gaps.
    public let number: Int
    public let name: String
    /// DDL in the words of SQLite STRICT, which each engine translates.
    public let statements: [String]

    public init(_ number: Int, _ name: String, _ statements: [String]) {
        self.number = number
        self.name = name
        self.statements = statements
    }
}
