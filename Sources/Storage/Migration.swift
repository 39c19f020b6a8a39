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
    /// A 64-bit FNV-1a hash of name and statements, in hexadecimal. It detects
    /// an accidental edit, not an attack.
    public let checksum: String

    public init(_ number: Int, _ name: String, _ statements: [String]) {
        self.number = number
        self.name = name
        self.statements = statements
        checksum = Self.checksum([name] + statements)
    }

    private static func checksum(_ texts: [String]) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for text in texts {
            for byte in Array(text.utf8) + [0] {
                hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
            }
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
