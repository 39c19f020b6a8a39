// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Crypto
import Foundation
import Storage
import StorageSQLite
import StoreWire
import TestSupport
import Testing

@testable import Ledger

/// A ledger's backup that a stranger has changed, with a right SHA-256.
@Suite(.timeLimit(.minutes(5))) struct StrangeBackupTests {
    private static let huge = "9223372036854775807"

    private static let filled = Task { () -> [Substring] in
        let folder = try temporaryFolder()
        let file = folder.file("ledger.sqlite")
        let book = try await Book.open(
            storage: try await SQLiteStorage.open(file: file, migrations: Ledger.migrations))
        try await book.take(1) { $0.quantity = 3 }
        _ = try await book.redeem()
        await book.ledger.close()
        let source = try SQLiteReader(file: file)
        _ = try await LedgerBackup.write(
            source, SQLiteStorage.dialect, to: folder.file("copy"), madeAt: Book.now)
        try await source.close()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("copy")))
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }

    private static func ended(_ lines: [Substring]) -> [UInt8] {
        var bytes: [UInt8] = []
        for line in lines.dropLast() { bytes += Array(line.utf8) + [0x0A] }
        let sha256 = hexadecimal(SHA256.hash(data: bytes))
        return bytes + Array("{\"lines\":\(lines.count - 1),\"sha256\":\"\(sha256)\"}\n".utf8)
    }

    private struct Table: Decodable {
        let table: String
        let columns: [String]
    }

    private static func table(_ name: String, _ lines: [Substring]) -> (line: Int, Table)? {
        lines.indices.lazy.compactMap { index -> (Int, Table)? in
            guard
                let table = try? JSONDecoder().decode(Table.self, from: Data(lines[index].utf8)),
                table.table == name
            else { return nil }
            return (index, table)
        }.first
    }

    @Test func `a backup as it was written passes, and has every table and column`() async throws {
        let lines = try await Self.filled.value

        try LedgerRestore.check(Self.ended(lines), name: "own")

        for rules in LedgerSchema.tables.filter(\.isInBackup) {
            let (_, table) = try #require(Self.table(rules.name, lines), "\(rules.name)")
            #expect(Set(table.columns) == Set(rules.columns.map(\.name)))
        }
    }

    @Test(
        arguments: [
            ("accounts.account", "\"\""), ("accounts.revision", "-1"),
            ("accounts.revision", huge), ("purchases.root", "\"../x\""),
            ("purchases.environment", "\"Moon\""), ("purchases.quantity", "0"),
            ("purchases.quantity", huge), ("purchases.spent", "-1"), ("purchases.spent", "4"),
            ("purchases.purchased_at", huge), ("purchases.signed_at", "null"),
            ("purchases.revision", huge), ("purchases.currency", "7"),
            ("redemptions.unit", "0"), ("redemptions.unit", huge),
            ("redemptions.purpose", "\"\""), ("redemptions.redeemed_at", huge),
            ("redemptions.environment", "\"\""), ("ledger_keys.door", "\"other\""),
            ("ledger_keys.secret", "\"\""),
        ])
    func `a value that no ledger writes is refused`(place: String, value: String) async throws {
        let lines = try await Self.filled.value
        let parts = place.split(separator: ".").map(String.init)
        let (at, table) = try #require(Self.table(parts[0], lines))
        let column = try #require(table.columns.firstIndex(of: parts[1]))
        let row = try #require(
            try JSONSerialization.jsonObject(with: Data(lines[at + 1].utf8)) as? [Any])
        var cells = try row.map { cell in
            String(
                decoding: try JSONSerialization.data(
                    withJSONObject: cell, options: [.fragmentsAllowed, .withoutEscapingSlashes]),
                as: UTF8.self)
        }
        cells[column] = value
        var strange = lines
        strange[at + 1] = "[\(cells.joined(separator: ","))]"

        let fault = #expect(throws: ArchiveFault.self) {
            try LedgerRestore.check(Self.ended(strange), name: "strange")
        }

        #expect(fault?.code == .invalid)
    }

    @Test func `tables and databases that no ledger has are refused`() async throws {
        let lines = try await Self.filled.value
        let extra: [Substring] = [
            #"{"table":"restores","columns":["singleton"]}"#,
            #"{"table":"sqlite_master","columns":["sql"]}"#,
            #"{"database":"other","migrations":[]}"#,
        ]
        for line in extra {
            var strange = lines
            strange.insert(line, at: 2)
            let fault = #expect(throws: ArchiveFault.self) {
                try LedgerRestore.check(Self.ended(strange), name: "strange")
            }
            #expect(fault?.code == .invalid)
        }
    }
}
