// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// What a restore leaves behind that was killed or refused, of a store and of a
/// ledger.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct RestoreTests {
    enum Program: String, Sendable, CaseIterable {
        case store, ledger

        var verb: String { self == .store ? "database" : "ledger" }
        var serve: [String] { self == .store ? ["serve"] : ["ledger", "serve"] }
        var schema: String { self == .store ? "shopkeeper" : "ledger" }
    }

    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    private func run(_ words: [String]) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            ["shopkeeper"] + words, environment: rig.environment,
            folder: URL(fileURLWithPath: rig.folder.path))
    }

    private func names(_ folder: String) -> [String]? {
        (try? FileManager.default.contentsOfDirectory(atPath: rig.path(folder)))?.sorted()
    }

    /// A backup of a program that was served once.
    private func backup(_ program: Program) async throws -> String {
        let store = try await rig.serve("--data", rig.path("a"))
        defer { store.kill(SIGTERM) }
        var data = "a"
        if program == .ledger {
            let ledger = try await rig.ledger(["--data", rig.path("l")])
            ledger.kill(SIGTERM)
            _ = await ledger.outcome()
            data = "l"
        }
        let made = try await run([program.verb, "backup", rig.path("copy"), "--data", data])
        try #require(made.status == 0, "\(made.errors)")
        return rig.path("copy")
    }

    /// How `serve` ends in a place that it must not serve. A store that serves it
    /// is stopped.
    private func serving(_ program: Program, _ options: [String]) async throws
        -> ChildProcess.Outcome
    {
        let root = rig.path("a/root.pem")
        let trust = program == .store ? [] : ["--trust", root, "--bundle-id", "com.example.a"]
        let served = try ChildProcess(
            ["shopkeeper"] + program.serve + ["--port", "0"] + trust + options,
            environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))
        if await served.line(with: "Serving") != nil { served.kill(SIGTERM) }
        return await served.outcome()
    }

    /// Kills a restore into `b` before it has read its backup: a pipe without a
    /// writer.
    private func kill(_ program: Program, _ options: [String]) async throws {
        let pipe = rig.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        let restoring = try ChildProcess(
            ["shopkeeper", program.verb, "restore", pipe, "--data", "b"] + options,
            environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))
        _ = await until("a file beside the lock") {
            names("b")?.contains { $0 != "lock" } == true
        }
        restoring.kill(SIGKILL)
        _ = await restoring.outcome()
    }

    @Test(arguments: Program.allCases, [false, true])
    func `a restore that was killed before its first row is not taken for a new store`(
        program: Program, isPostgres: Bool
    ) async throws {
        let archive = try await backup(program)
        let options = isPostgres ? ["--database", try await PostgresCluster.database(rig)] : []
        try await kill(program, options)

        let refused = try await serving(program, ["--data", rig.path("b")] + options)
        let status = try await run([program.verb, "status", "--data", "b"] + options)
        let again = try await run([program.verb, "restore", archive, "--data", "b"] + options)
        let served = try await serving(program, ["--data", rig.path("b")] + options)

        #expect(refused.status == 73, "\(refused.errors)")
        #expect(refused.errors.contains(rig.path("b")), "\(refused.errors)")
        #expect(refused.errors.contains("restore"), "\(refused.errors)")
        #expect(status.status != 0, "\(status.output)")
        #expect(again.status == 0, "\(again.errors)")
        #expect(served.output.contains("Serving"), "\(served.errors)")
    }

    /// A folder that the restore makes, one that it finds empty, and one in which
    /// somebody has a file.
    @Test(arguments: Program.allCases)
    func `a refused restore leaves nothing behind`(program: Program) async throws {
        let archive = try await backup(program)
        var strange = try ArchiveText(file: archive)
        let table = program == .store ? "door_keys" : "ledger_keys"
        let (at, _) = try strange.table(table)
        strange.lines.insert(strange.lines[at + 1], at: at + 1)
        try strange.write(to: rig.path("twice"))
        try Data("nonsense\n".utf8).write(to: URL(fileURLWithPath: rig.path("nonsense")))
        for folder in ["empty", "mine"] {
            try FileManager.default.createDirectory(
                atPath: rig.path(folder), withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
        }
        try Data("mine".utf8).write(to: URL(fileURLWithPath: rig.path("mine/notes")))

        for file in ["nonsense", "twice", "gone"] {
            for folder in ["new/deeper", "empty", "mine"] {
                let refused = try await run(
                    [program.verb, "restore", file, "--data", folder])
                #expect(refused.status == 65, "\(file): \(refused.errors)")
            }
            #expect(names("new") == nil, "\(file): \(names("new/deeper") ?? [])")
            #expect(names("empty") == [], "\(file)")
            #expect(names("mine") == ["notes"], "\(file)")
        }
    }

    @Test(arguments: Program.allCases)
    func `a refused restore leaves nothing in PostgreSQL`(program: Program) async throws {
        let archive = try await backup(program)
        var strange = try ArchiveText(file: archive)
        let (at, _) = try strange.table(program == .store ? "door_keys" : "ledger_keys")
        strange.lines.insert(strange.lines[at + 1], at: at + 1)
        try strange.write(to: rig.path("twice"))
        let database = try await PostgresCluster.database(rig)

        let refused = try await run(
            [program.verb, "restore", "twice", "--data", "b", "--database", database])
        let schemas = try await rig.run(
            "psql", "-qAt", database, "-c",
            "SELECT nspname FROM pg_namespace WHERE nspname ~ '^(shopkeeper|realm_|ledger)'")

        #expect(refused.status == 65, "\(refused.errors)")
        #expect(schemas.output == "")
        #expect(names("b") == nil)
    }

    @Test(arguments: Program.allCases)
    func `a restore over a store leaves it as it is`(program: Program) async throws {
        let archive = try await backup(program)
        let data = program == .store ? "a" : "l"
        // The store was told to stop, and releases its folder.
        _ = await until("the folder is free") { !isHeld(rig.path("\(data)/lock")) }
        // SQLite removes its log when it closes, which may take a moment longer.
        func kept() -> [String]? { names(data)?.filter { !$0.contains("sqlite-") } }
        let before = kept()

        let refused = try await run([program.verb, "restore", archive, "--data", data])

        #expect(refused.status == 73, "\(refused.errors)")
        #expect(kept() == before)
        let served = try await serving(program, ["--data", rig.path(data)])
        #expect(served.output.contains("Serving"), "\(served.errors)")
    }

    /// A restore that was killed before its last step leaves the mark, and
    /// anyone who can write to the folder can make one.
    @Test(arguments: Program.allCases)
    func `a mark in a complete store costs it nothing`(program: Program) async throws {
        let archive = try await backup(program)
        let data = program == .store ? "a" : "l"
        _ = await until("the folder is free") { !isHeld(rig.path("\(data)/lock")) }
        func kept() -> [String]? {
            names(data)?.filter { !$0.contains("sqlite-") && $0 != "run.json" }
        }
        let before = kept()
        let rows = try await run([program.verb, "status", "--json", "--data", data])
        let mark = rig.path("\(data)/restore.unfinished")
        try Data().write(to: URL(fileURLWithPath: mark))

        let serving = try await serving(program, ["--data", rig.path(data)])
        let copied = try await run([program.verb, "backup", "other", "--data", data])
        let restored = try await run([program.verb, "restore", archive, "--data", data])

        for refused in [serving, copied] {
            #expect(refused.status == 73, "\(refused.errors)")
            #expect(refused.errors.contains(mark), "\(refused.errors)")
            #expect(refused.errors.contains("a complete database is left"), "\(refused.errors)")
        }
        #expect(restored.status == 73 && restored.errors.contains("in this place already"))
        #expect(kept() == before)
        let after = try await run([program.verb, "status", "--json", "--data", data])
        #expect(Self.counts(after) == Self.counts(rows) && rows.status == 0)
        let served = try await self.serving(program, ["--data", rig.path(data)])
        #expect(served.output.contains("Serving"), "\(served.errors)")
    }

    /// What is no file was made by no restore, and no restore can remove it.
    @Test(arguments: Program.allCases, [true, false])
    func `a mark that is no file is named, and left to its owner`(
        program: Program, isUsed: Bool
    ) async throws {
        let archive = try await backup(program)
        let data = isUsed ? (program == .store ? "a" : "l") : "b"
        _ = await until("the folder is free") { !isHeld(rig.path("\(data)/lock")) }
        let mark = rig.path("\(data)/restore.unfinished")
        try FileManager.default.createDirectory(
            atPath: mark, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        chmod(rig.path(data), 0o700)
        let before = names(data)?.filter { !$0.contains("sqlite-") && $0 != "lock" }

        let serving = try await serving(program, ["--data", rig.path(data)])
        let restored = try await run([program.verb, "restore", archive, "--data", data])

        for refused in [serving, restored] {
            #expect(refused.status == 69 || refused.status == 73, "\(refused.errors)")
            #expect(
                refused.errors.contains("\(mark) is not a file")
                    && refused.errors.contains("remove it"), "\(refused.errors)")
        }
        #expect(names(data)?.filter { !$0.contains("sqlite-") && $0 != "lock" } == before)
        try FileManager.default.removeItem(atPath: mark)
        let again = try await run([program.verb, "restore", archive, "--data", data])
        #expect(again.status == (isUsed ? 73 : 0), "\(again.errors)")
    }

    /// A status without sizes, which change when a database is opened.
    private static func counts(_ status: ChildProcess.Outcome) -> [Substring] {
        status.output.split(separator: "\n").filter { !$0.contains("\"bytes\"") }
    }

    /// The checksum that the backup printed is kept elsewhere. So nobody can
    /// change the file unnoticed, whatever else the rows then say.
    @Test(arguments: Program.allCases)
    func `a restore takes only the backup with the given checksum`(
        program: Program
    ) async throws {
        let archive = try await backup(program)
        var changed = try ArchiveText(file: archive)
        let sum = try #require(changed.lines.last)
        let (at, _) = try changed.table(program == .store ? "audit" : "ledger_keys")
        try #require(changed.lines[at + 1].hasPrefix("["))
        changed.lines.remove(at: at + 1)
        try changed.write(to: rig.path("less"))
        let end = try JSONSerialization.jsonObject(with: Data(sum.utf8)) as? [String: Any]
        let sha256 = try #require(end?["sha256"] as? String)

        let words = ["--data", "b", "--sha256"]
        let less = try await run([program.verb, "restore", "less"] + words + [sha256])
        let wrong = try await run([program.verb, "restore", archive] + words + ["00"])
        let right = try await run(
            [program.verb, "restore", archive] + words + [sha256.uppercased()])

        #expect(less.status == 65 && less.errors.contains("SHA-256"), "\(less.errors)")
        #expect(wrong.status == 64, "\(wrong.errors)")
        #expect(right.status == 0, "\(right.errors)")
    }

    private func isHeld(_ lock: String) -> Bool {
        let descriptor = open(lock, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) != 0
    }
}
