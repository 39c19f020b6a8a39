// SPDX-License-Identifier: Apache-2.0

import Storage
import TestSupport
import Testing

@Suite(.unforgiven, .timeLimit(.minutes(5))) struct ParameterTests {
    private static let mismatches: [([SQLValue], StorageFault.Code)] = [
        ([], .parameters),
        ([.integer(1)], .parameters),
        ([.integer(1), .text("a"), .null], .parameters),
        ([.text("1"), .text("a")], .parameters),
        ([.integer(1), .blob([65])], .parameters),
        ([.boolean(true), .text("a")], .parameters),
        ([.integer(1), .text("a\u{0}b")], .invalidText),
    ]

    @Test(arguments: Engine.allCases)
    func `values must fit the declared parameters`(engine: Engine) async throws {
        let storage = try await engine.open()
        for (values, code) in Self.mismatches {
            let met = try await fault {
                try await storage.write { try $0.execute(Shelf.insertPlainly, values) }
            }
            #expect(met?.code == code, "\(values)")
            #expect(met?.reason.contains("jars.insertPlainly") == true)
        }
    }

    @Test func `a zero character is found wherever it stands`() {
        let statement = Statement("one", [.text], "SELECT $1 AS a")
        for place in 0...20 {
            let before = String(repeating: "\u{1}\u{80}~", count: place)
            #expect(throws: StorageFault(.invalidText, "")) {
                try statement.check([.text(before + "\u{0}" + "rest")])
            }
            #expect(throws: Never.self) { try statement.check([.text(before + "rest")]) }
        }
    }

    @Test(arguments: Engine.allCases)
    func `an undeclared parameter and a question mark are refused`(engine: Engine) async throws {
        let storage = try await engine.open()
        for sql in ["SELECT $1 AS a, $2 AS b", "SELECT ? AS a"] {
            let statement = Statement("undeclared", [.text], sql)
            let met = try await fault {
                try await storage.read { try $0.query(statement, [.text("x")]).count }
            }
            #expect(met?.code == .engine, "\(sql)")
        }
    }

    @Test(arguments: Engine.allCases)
    func `faults hold no value of a parameter`(engine: Engine) async throws {
        let storage = try await engine.open()
        try await storage.putJar(1, "hunter2")
        let met = try await fault {
            try await storage.write {
                try $0.execute(Shelf.insertPlainly, [.integer(2), .text("hunter2")])
            }
        }
        #expect(met?.code == .constraint)
        #expect(met?.description.contains("hunter2") == false)
        #expect(met?.description.contains("jars.insertPlainly") == true)
    }

    @Test(arguments: Engine.allCases)
    func `a floating-point answer and a missing column are faults`(engine: Engine) async throws {
        let storage = try await engine.open()
        let met = try await fault {
            try await storage.read { try $0.query(Statement("half", "SELECT 0.5 AS h"), []).count }
        }
        #expect(met?.code == .malformedRow)
        let row = try #require(await storage.read { try $0.first(Shelf.count) })
        #expect(throws: StorageFault(.malformedRow, "")) { try row.integer("m") }
        #expect(throws: StorageFault(.malformedRow, "")) { try row.text("n") }
    }

    @Test(arguments: Seeds.all)
    func `any text and bytes survive`(seed: UInt64) async throws {
        var generator = SeededGenerator(seed)
        let storage = try await Engine.sqliteMemory.open()
        for id in 0..<50 {
            let name = "\(id)" + generator.text(upTo: 30)
            let label = generator.bytes(generator.integer(in: 0...40))
            let number = Int64(bitPattern: generator.next()) & .max
            let values: [SQLValue] = [
                .integer(Int64(id)), .text(name), .blob(label), .boolean(generator.boolean()),
                .integer(number),
            ]
            let row = try await storage.write { transaction in
                try transaction.execute(Shelf.insert, values)
                return try transaction.query(Shelf.all, []).last
            }
            #expect(try row?.text("name") == name)
            #expect(try row?.blob("label") == label)
            #expect(try row?.integer("coins") == number)
        }
    }
}
