// SPDX-License-Identifier: Apache-2.0

import Storage
import StorageSQLite
import Testing

/// A table's DDL and its statements come from one list of columns.
@Suite(.timeLimit(.minutes(5))) struct TableTests {
    static let shells = Table(
        "shells", key: ["beach", "number"], as: .tree,
        [
            "beach": .text(bytes: 1...10), "number": .integer(1...99),
            "label": .text(bytes: 0...20).optional, "is_whole": .flag,
        ],
        constraints: ["CHECK (number < 1000)"],
        indexes: [
            .init("shells_by_label", on: ["label"]),
            .unique("shells_whole", on: ["beach"], where: "is_whole"),
        ])

    static let insert = Statement.insert("shells.insert", into: shells)
    static let put = Statement.put("shells.put", into: shells)
    static let one = Statement.one("shells.one", of: shells)
    static let list = Statement.list("shells.list", of: shells)
    static let set = Statement.set("shells.set", ["is_whole", "label"], of: shells)
    static let remove = Statement.remove("shells.remove", from: shells)

    private static func shell(_ number: Int64, _ label: String?, isWhole: Bool) -> [SQLValue] {
        shells.row([
            "number": .integer(number), "beach": .text("north"), "label": .optional(label),
            "is_whole": .boolean(isWhole),
        ])
    }

    @Test func `its DDL is what a schema's migration says`() {
        #expect(
            Self.shells.ddl == [
                """
                CREATE TABLE shells (
                    beach TEXT NOT NULL,
                    number INTEGER NOT NULL,
                    label TEXT,
                    is_whole BOOLEAN NOT NULL,
                    PRIMARY KEY (beach, number),
                    CHECK (number < 1000)
                ) WITHOUT ROWID, STRICT
                """,
                "CREATE INDEX shells_by_label ON shells (label)",
                "CREATE UNIQUE INDEX shells_whole ON shells (beach) WHERE is_whole",
            ])
    }

    @Test func `a row has its values in the table's order, in whichever order they are named`() {
        let named: [(String, SQLValue)] = [
            ("beach", .text("north")), ("number", .integer(7)), ("label", .text("a")),
            ("is_whole", .boolean(true)),
        ]
        let row = named.map(\.1)

        for first in named.indices {
            for second in named.indices where second != first {
                var others = named
                others.swapAt(first, second)
                let parts = others.map { Table.Values(dictionaryLiteral: $0) }
                #expect(
                    Self.shells.row(parts[0], parts[1], parts[2], parts[3]) == row)
            }
        }
        #expect(
            Self.shells.row(["is_whole": .boolean(false), "number": .integer(7), "beach": row[0]])
                == [row[0], row[1], .null, .boolean(false)])
    }

    @Test(arguments: Engine.allCases)
    func `rows are written, listed, changed and removed by their columns' names`(
        engine: Engine
    ) async throws {
        let opened = try await engine.open(
            migrations: [Migration(1, "shells", Self.shells.ddl)])
        let key: [SQLValue] = [.text("north"), .integer(2)]

        let seen = try await opened.storage.write { writing in
            var seen: [[SQLValue]] = []
            func look() throws {
                let row = try writing.first(Self.one, key)
                seen.append(try row.map { Self.shells.row(try Self.shells.values($0)) } ?? [])
            }
            try writing.execute(Self.insert, Self.shell(2, nil, isWhole: true))
            try look()
            try writing.execute(Self.put, Self.shell(2, "blue", isWhole: false))
            try look()
            try writing.execute(Self.set, key + [.boolean(true), .text("green")])
            try look()
            try writing.execute(Self.put, Self.shell(1, "red", isWhole: false))
            let labels = try writing.query(Self.list, []).map { try $0.value("label") }
            try writing.execute(Self.remove, key)
            try look()
            return seen + [labels]
        }

        #expect(
            seen == [
                Self.shell(2, nil, isWhole: true), Self.shell(2, "blue", isWhole: false),
                Self.shell(2, "green", isWhole: true), [], [.text("red"), .text("green")],
            ])
        try await opened.storage.close()
    }

    @Test(
        arguments: [
            ("beach", SQLValue.text(""), false), ("beach", .null, false),
            ("beach", .text("a\u{0}"), false), ("number", .integer(0), false),
            ("number", .integer(99), true), ("label", .null, true), ("label", .integer(1), false),
            ("is_whole", .integer(1), true), ("is_whole", .integer(2), false),
            ("is_whole", .boolean(false), true),
        ])
    func `a column's rule judges the values of strangers`(
        column: String, value: SQLValue, isAdmitted: Bool
    ) {
        #expect(Self.shells[column].rule.admits(value) == isAdmitted)
    }
}
