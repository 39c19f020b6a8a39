// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation

/// The lines of a backup, for a test that changes them as a stranger would: with
/// a right SHA-256 at the end.
public struct ArchiveText: Sendable {
    public struct Table: Decodable, Sendable {
        public let table: String
        public let columns: [String]
    }

    /// A table was looked for that is not there, or has no such column or no row.
    public struct Missing: Error {
        public let place: String
    }

    /// The last one is replaced by ``bytes``.
    public var lines: [Substring]

    public init(file: String) throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }

    private init(lines: [Substring]) { self.lines = lines }

    /// The tables, each with the place of its line.
    public var tables: [(line: Int, table: Table)] {
        lines.indices.compactMap { index in
            guard lines[index].hasPrefix("{"), lines[index].contains("\"table\"") else {
                return nil
            }
            return (try? JSONDecoder().decode(Table.self, from: Data(lines[index].utf8)))
                .map { (index, $0) }
        }
    }

    /// Throws ``Missing``.
    public func table(_ name: String) throws -> (line: Int, table: Table) {
        guard let found = tables.first(where: { $0.table.table == name }) else {
            throw Missing(place: name)
        }
        return found
    }

    /// The values of the row at a line, as JSON.
    public func cells(_ line: Int) throws -> [String] {
        let row = try JSONSerialization.jsonObject(with: Data(lines[line].utf8))
        return try (row as? [Any] ?? []).map { value in
            let data = try JSONSerialization.data(
                withJSONObject: value, options: [.fragmentsAllowed, .withoutEscapingSlashes])
            return String(decoding: data, as: UTF8.self)
        }
    }

    /// Writes a value, JSON, into the first row of a table. Throws ``Missing``.
    public mutating func put(_ value: String, _ column: String, of name: String) throws {
        let (at, table) = try table(name)
        guard let place = table.columns.firstIndex(of: column), lines[at + 1].hasPrefix("[") else {
            throw Missing(place: "\(name).\(column)")
        }
        var cells = try cells(at + 1)
        cells[place] = value
        lines[at + 1] = "[\(cells.joined(separator: ","))]"
    }

    /// One table alone, with its first row.
    public func only(_ name: String) throws -> ArchiveText {
        let (at, _) = try table(name)
        let databases = lines[..<at].filter { $0.hasPrefix("{\"database\"") }
        guard let database = databases.last, lines[at + 1].hasPrefix("[") else {
            throw Missing(place: "a row of \(name)")
        }
        return ArchiveText(lines: [lines[0], database, lines[at], lines[at + 1], ""])
    }

    /// The file, with a right last line.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for line in lines.dropLast() { bytes += Array(line.utf8) + [0x0A] }
        let sha256 = hexadecimal(SHA256.hash(data: bytes))
        return bytes + Array("{\"lines\":\(lines.count - 1),\"sha256\":\"\(sha256)\"}\n".utf8)
    }

    public func write(to path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }
}

/// A value of the first row of a table, and what a stranger puts in its place.
public struct SpoiltValue: Sendable, CustomStringConvertible {
    public let table: String
    public let column: String
    /// JSON.
    public let values: [String]
    public var description: String { "\(table).\(column)" }

    public init(_ place: String, _ values: String...) {
        let parts = place.split(separator: ".").map(String.init)
        (table, column, self.values) = (parts[0], parts[1], values)
    }
}

/// Values, JSON, that columns of a backup are tried with, each by a name. A
/// test lists the columns that may hold one.
public enum StrangeValue {
    public static let all = [
        "path": "\"../../x\"", "escape": "\"a\\u001b[2Jb\"", "bidirectional": "\"a\\u202eb\"",
        "huge": "4611686018427387904", "negative": "-1",
        "long": "\"\(String(repeating: "x", count: 100_000))\"",
    ]
}
