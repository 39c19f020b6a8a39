// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Foundation
import Storage
import StorageSQLite
import TestSupport
import Testing

/// One database with one table that has every type.
@Suite(.timeLimit(.minutes(2))) struct ArchiveTests {
    private static let toys = Table(
        "toys", key: ["id"],
        [
            "id": .integer(1...100), "name": .text(bytes: 0...50).optional, "is_soft": .flag,
            "picture": .blob(bytes: 0...50).optional,
        ], rowsMax: 5,
        check: { row in
            let isNamed = try? row.optionalText("name") != nil
            return isNamed == true ? nil : BrokenRule("name", "a name")
        })
    private static let secrets = Table(
        "secrets", key: ["id"], ["id": .integer(1...100)], isInBackup: false)
    private static let tables = [toys, secrets]
    private static let migrations = [Migration(1, "toys", tables.flatMap(\.ddl))]
    private static let made = Timestamp(milliseconds: 1_700_000_000_000)

    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try temporaryFolder()
        path = folder.file("copy")
    }

    private static var judge: ArchiveJudge {
        ArchiveJudge(rules: { $0 == "box" ? tables.filter(\.isInBackup) : nil })
    }

    private static func row(
        _ id: Int64, _ name: String?, isSoft: Bool = true, _ picture: [UInt8]? = nil
    ) -> [SQLValue] {
        toys.row([
            "id": .integer(id), "name": .optional(name), "is_soft": .boolean(isSoft),
            "picture": picture.map(SQLValue.blob) ?? .null,
        ])
    }

    private static let rows = [
        row(1, "ball"), row(2, "line\nend \"quoted\" \u{1F412}", isSoft: false, [0, 255, 10]),
        row(3, "", []),
    ]

    private func database(_ rows: [[SQLValue]]) async throws -> any Storage {
        let storage = try await SQLiteStorage.open(file: nil, migrations: Self.migrations)
        try await storage.write { writing in
            for row in rows {
                try writing.execute(Statement.insert("test.insert", into: Self.toys), row)
            }
            try writing.execute(Statement.insert("test.secret", into: Self.secrets), [.integer(7)])
        }
        return storage
    }

    /// Writes an archive of these rows, with a key and a number.
    @discardableResult
    private func archive(
        _ rows: [[SQLValue]] = rows, _ name: String = "box", holds: String = "toy box"
    ) async throws -> ArchiveWriter.Summary {
        let writer = try ArchiveWriter(
            path: path,
            header: ArchiveHeader(holds: holds, madeAt: Self.made, engine: "sqlite"))
        try await writer.add(
            try await database(rows), as: name, SQLiteStorage.dialect, Self.tables)
        try writer.add(key: "lock", [1, 2, 3])
        try writer.add(number: 4, next: 17)
        return try writer.finish()
    }

    private func read() throws -> ArchiveContents {
        try ArchiveContents(path: path, holds: "toy box", judge: Self.judge)
    }

    private func fault(_ body: () throws -> Void) -> ArchiveFault.Code? {
        do { try body() } catch { return (error as? ArchiveFault)?.code }
        return nil
    }

    @Test func `what was written is read and loaded`() async throws {
        let written = try await archive()
        let contents = try read()
        let target = try await SQLiteStorage.open(file: nil, migrations: Self.migrations)
        #expect(try await ArchiveContents.isEmpty(target, SQLiteStorage.dialect))

        try await contents.load(SQLiteStorage.dialect) { _ in target }

        #expect(contents.header.madeAt == Self.made)
        #expect(contents.databases.map(\.name) == ["box"] && written.rows == 3)
        #expect(contents.keys == ["lock": [1, 2, 3]] && contents.numbers == [4: 17])
        let list = Statement.list("test.list", of: Self.toys)
        let loaded = try await target.read { reading in
            try reading.query(list, []).map { row in Self.toys.row(try Self.toys.values(row)) }
        }
        #expect(loaded == Self.rows)
        // What is not in a backup stays behind.
        let secrets = Statement.list("test.secrets", of: Self.secrets)
        #expect(try await target.read { try $0.query(secrets, []) }.isEmpty)
        try await ArchiveContents.clear(target, SQLiteStorage.dialect)
        #expect(try await ArchiveContents.isEmpty(target, SQLiteStorage.dialect))
    }

    @Test func `no byte can change and no end be missing unnoticed`() async throws {
        try await archive()
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        func refuses(_ bytes: Data) -> ArchiveFault.Code? {
            fault {
                _ = try ArchiveContents(
                    bytes: [UInt8](bytes), name: "a", holds: "toy box", judge: Self.judge)
            }
        }
        #expect(refuses(whole) == nil)

        for place in whole.indices {
            var changed = whole
            changed[place] ^= 1
            #expect(refuses(changed) != nil, "byte \(place)")
        }
        for length in 0..<whole.count - 1 {
            #expect(refuses(whole.prefix(length)) != nil, "\(length) bytes")
        }
        #expect(refuses(whole + whole) != nil)
    }

    @Test func `rows that break a rule are refused, though the checksum is right`() async throws {
        let cases: [(String, [[SQLValue]], String)] = [
            ("box", [Self.row(1, nil)], "`name` of `toys`"),
            ("box", [Self.row(101, "a")], "`id` of `toys`"),
            ("box", (1...6).map { Self.row($0, "a") }, "table `toys`"),
            ("drawer", Self.rows, "`drawer`"),
        ]
        for (name, rows, place) in cases {
            try await archive(rows, name)
            let error = #expect(throws: ArchiveFault.self) { try read() }
            #expect(error?.code == .invalid)
            #expect(error?.message.contains(place) == true, "\(error?.message ?? "")")
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test func `a backup of something else is refused`() async throws {
        try await archive(holds: "ledger")
        #expect(fault { _ = try read() } == .notAnArchive)
        try Data("no archive\n".utf8).write(to: URL(fileURLWithPath: path))
        #expect(fault { _ = try read() } == .notAnArchive)
    }

    @Test func `an archive replaces no file, and one that is given up leaves nothing`()
        async throws
    {
        let header = ArchiveHeader(holds: "toy box", madeAt: Self.made, engine: "sqlite")
        try await archive()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))

        #expect(fault { _ = try ArchiveWriter(path: path, header: header) } == .unwritable)
        let other = try ArchiveWriter(path: folder.file("other"), header: header)
        other.discard()
        let late = try ArchiveWriter(path: folder.file("late"), header: header)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: folder.file("late")))
        #expect(fault { _ = try late.finish() } == .unwritable)

        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(try String(contentsOfFile: folder.file("late"), encoding: .utf8) == "mine")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(left == ["copy", "late"])
    }
}
