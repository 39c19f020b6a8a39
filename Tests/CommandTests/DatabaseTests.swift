// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// `shopkeeper database`: how a store's databases stand, and copies of them.
@Suite(.timeLimit(.minutes(5))) struct DatabaseTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    private static let product = "com.example.monkeycredits.credits5"

    @Test func `a store is copied while it sells and goes on on PostgreSQL`() async throws {
        let database = try await PostgresCluster.database(rig)
        let first = try await rig.serve("--data", rig.path("a"))
        let bought = try await rig.run(
            "shopkeeper", "buy", Self.product, "--data", rig.path("a"))
        try #require(bought.status == 0, "\(bought.errors)")

        let copied = try await rig.run(
            "shopkeeper", "database", "backup", rig.path("copy"), "--data", rig.path("a"))
        try #require(copied.status == 0, "\(copied.errors)")
        let served = try await rig.run(
            "shopkeeper", "database", "status", "--data", rig.path("a"))
        first.kill(SIGTERM)
        _ = await first.outcome()
        let restored = try await rig.run(
            "shopkeeper", "database", "restore", rig.path("copy"), "--database", database,
            "--data", rig.path("b"))
        try #require(restored.status == 0, "\(restored.errors)")
        let second = try await rig.serve("--database", database, "--data", rig.path("b"))
        let again = try await rig.run(
            "shopkeeper", "buy", Self.product, "--data", rig.path("b"))
        let listed = try await rig.list("transaction", "list", "--data", rig.path("b"))
        let status = try await rig.object(
            "database", "status", "--database", database, "--data", rig.path("b"))
        second.kill(SIGTERM)
        _ = await second.outcome()

        #expect(again.status == 0, "\(again.errors)")
        #expect(listed.count == 2)
        #expect(served.output.contains("served by this machine"))
        #expect(served.output.contains("1 transactions"))
        #expect((status["status"] as? [String: Any])?["engine"] as? String == "PostgreSQL")
        #expect(
            try Data(contentsOf: URL(fileURLWithPath: rig.path("a/root.pem")))
                == Data(contentsOf: URL(fileURLWithPath: rig.path("b/root.pem"))))
    }

    @Test func `a store that came from a snapshot gives no number out again`() async throws {
        let data = rig.path("a")
        func buy() async throws -> String {
            let server = try await rig.serve("--data", data)
            let bought = try await rig.object("buy", Self.product, "--data", data)
            let busy = try await rig.run("shopkeeper", "database", "advance", "--data", data)
            #expect(busy.status == 73, "\(busy.errors)")
            server.kill(SIGTERM)
            _ = await server.outcome()
            return try #require(bought["transactionId"] as? String)
        }
        let first = try await buy()
        for name in ["store.sqlite", "realms"] {
            try FileManager.default.copyItem(atPath: "\(data)/\(name)", toPath: rig.path(name))
        }
        let lost = try await buy()
        for name in ["store.sqlite", "realms"] {
            try FileManager.default.removeItem(atPath: "\(data)/\(name)")
            try FileManager.default.moveItem(atPath: rig.path(name), toPath: "\(data)/\(name)")
        }

        let advanced = try await rig.object("database", "advance", "--data", data)
        let next = try await buy()

        #expect(advanced["realms"] as? [String] == ["default"])
        #expect(Set([first, lost, next]).count == 3)
        let nothing = try await rig.run(
            "shopkeeper", "database", "advance", "--data", rig.path("none"))
        #expect(nothing.status == 69, "\(nothing.errors)")
    }

    @Test func `what a killed backup left goes with the next one`() async throws {
        let server = try await rig.serve("--data", rig.path("a"))
        let ended = try await ChildProcess.run(
            ["bash", "-c", "echo $$"], folder: URL(fileURLWithPath: rig.folder.path))
        let dead = ended.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let own = ProcessInfo.processInfo.processIdentifier
        let database = try Data(contentsOf: URL(fileURLWithPath: rig.path("a/store.sqlite")))
        let files = [
            "old.archive.\(dead).copy": database, "cut.\(dead).copy": Data(),
            "old.archive.\(dead).copy-journal": Data("x".utf8),
            "other.\(own).copy": database, "notes.\(dead).copy": Data("notes".utf8),
            "\(dead).copy": database,
        ]
        let folder = rig.path("backups")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        for (name, bytes) in files {
            try bytes.write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        }

        let made = try await rig.run(
            "shopkeeper", "database", "backup", "\(folder)/now", "--data", rig.path("a"))
        server.kill(SIGTERM)
        _ = await server.outcome()

        #expect(made.status == 0, "\(made.errors)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
                == ["\(dead).copy", "notes.\(dead).copy", "now", "other.\(own).copy"].sorted())
    }

    /// The file of a backup that is being written has private keys in it.
    @Test func `a backup that was killed leaves no keys behind the next one`() async throws {
        let server = try await rig.serve("--data", rig.path("a"))
        let folder = rig.path("backups")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let head =
            #"{"engine":"SQLite","format":"shopkeeper archive","holds":"store","#
            + #""madeAt":1,"version":1}"# + "\n"
        let files = [
            "old.archive.77.part": head + "{\"key\":", "empty.archive.78.part": "",
            "notes.79.part": "mine", "old.archive.part": "mine too",
        ]
        for (name, text) in files {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        }
        // One that is being written: its writer holds it.
        let held = "\(folder)/now.archive.80.part"
        try Data(head.utf8).write(to: URL(fileURLWithPath: held))
        let descriptor = open(held, O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        defer { close(descriptor) }

        let made = try await rig.run(
            "shopkeeper", "database", "backup", "\(folder)/one", "--data", rig.path("a"))
        server.kill(SIGTERM)
        _ = await server.outcome()

        #expect(made.status == 0, "\(made.errors)")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(
            left == [
                "empty.archive.78.part", "notes.79.part", "now.archive.80.part", "old.archive.part",
                "one",
            ])
    }

    @Test func `a backup with a value that none has is an input that is wrong`() async throws {
        let server = try await rig.serve("--data", rig.path("a"))
        let copied = try await rig.run(
            "shopkeeper", "database", "backup", rig.path("copy"), "--data", rig.path("a"))
        server.kill(SIGTERM)
        _ = await server.outcome()
        try #require(copied.status == 0, "\(copied.errors)")
        var text = try ArchiveText(file: rig.path("copy"))
        try text.put("\"../../x\"", "period", of: "products")
        try text.write(to: rig.path("strange"))

        let refused = try await rig.run(
            "shopkeeper", "database", "restore", rig.path("strange"), "--data", rig.path("b"))

        #expect(refused.status == 65, "\(refused.errors)")
        #expect(refused.errors.contains("`period` of `products`"), "\(refused.errors)")
        #expect(refused.errors.contains("rule:") && refused.errors.contains("P1M"))
        #expect(!FileManager.default.fileExists(atPath: rig.path("b/store.sqlite")))
    }

    /// A refused restore removes the key again that it has made.
    @Test func `a restore names the sealing key that it has made, if it keeps it`() async throws {
        let server = try await rig.serve("--data", rig.path("a"))
        let copied = try await rig.run(
            "shopkeeper", "database", "backup", rig.path("copy"), "--data", rig.path("a"))
        server.kill(SIGTERM)
        _ = await server.outcome()
        try #require(copied.status == 0, "\(copied.errors)")
        var text = try ArchiveText(file: rig.path("copy"))
        try text.put("\"../../x\"", "period", of: "products")
        try text.write(to: rig.path("strange"))
        let target = [
            "--database", try await PostgresCluster.database(rig), "--data", rig.path("b"),
        ]
        func restore(_ name: String) async throws -> ChildProcess.Outcome {
            try await ChildProcess.run(
                ["shopkeeper", "database", "restore", rig.path(name)] + target,
                environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))
        }

        let refused = try await restore("strange")
        let isLeft = FileManager.default.fileExists(atPath: rig.path("b"))
        let restored = try await restore("copy")

        #expect(refused.status == 65 && !isLeft, "\(refused.errors)")
        #expect(!refused.errors.contains("sealing key"), "\(refused.errors)")
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(restored.errors.contains("a sealing key was made"), "\(restored.errors)")
        #expect(FileManager.default.fileExists(atPath: rig.path("b/seal.key")))
    }

    @Test func `a backup without the sealing key makes none`() async throws {
        let database = try await PostgresCluster.database(rig)
        let server = try await rig.serve("--database", database, "--data", rig.path("a"))
        defer { server.kill(SIGTERM) }

        let refused = try await rig.run(
            "shopkeeper", "database", "backup", rig.path("copy"), "--database", database,
            "--data", rig.path("b"))

        #expect(refused.status == 77, "\(refused.status) \(refused.errors)")
        #expect(refused.errors.contains("The sealing key is not at"), "\(refused.errors)")
        #expect(!FileManager.default.fileExists(atPath: rig.path("b")))
        #expect(!FileManager.default.fileExists(atPath: rig.path("copy")))
    }

    @Test func `a shared database is not advanced while a server uses it`() async throws {
        let database = try await PostgresCluster.database(rig)
        let server = try await rig.serve("--database", database, "--data", rig.path("a"))

        // As from another machine.
        let busy = try await rig.run(
            "shopkeeper", "database", "advance", "--database", database, "--data", rig.path("b"))
        let status = try await rig.run(
            "shopkeeper", "database", "status", "--database", database, "--data", rig.path("b"))
        server.kill(SIGTERM)
        _ = await server.outcome()
        let free = try await rig.run(
            "shopkeeper", "database", "advance", "--database", database, "--data", rig.path("b"))

        #expect(busy.status == 73 && busy.errors.contains("stop every store"), "\(busy.errors)")
        // Nobody needs the sealing key for it.
        #expect(status.status == 0, "\(status.errors)")
        #expect(free.status == 0, "\(free.errors)")
        #expect(!FileManager.default.fileExists(atPath: rig.path("b")))
    }

    @Test func `what cannot be copied or restored has its exit code`() async throws {
        let none = try await rig.run(
            "shopkeeper", "database", "status", "--data", rig.path("none"))
        try Data("nonsense\n".utf8).write(to: URL(fileURLWithPath: rig.path("nonsense")))
        let wrong = try await rig.run(
            "shopkeeper", "database", "restore", rig.path("nonsense"), "--data", rig.path("x"))
        let away = try await rig.run(
            "shopkeeper", "database", "status", "--database", "host=\(rig.path("none"))")

        #expect(none.status == 69)
        #expect(wrong.status == 65)
        #expect(wrong.errors.contains("remedy:"))
        #expect(away.status == 69)
        #expect(away.errors.contains("--database"))
    }

    @Test func `a store is not restored over one that is served`() async throws {
        let store = try await rig.serve("--data", rig.path("a"))
        let copied = try await rig.run(
            "shopkeeper", "database", "backup", rig.path("copy"), "--data", rig.path("a"))
        try #require(copied.status == 0, "\(copied.errors)")

        let busy = try await rig.run(
            "shopkeeper", "database", "restore", rig.path("copy"), "--data", rig.path("a"))
        store.kill(SIGTERM)
        _ = await store.outcome()
        let full = try await rig.run(
            "shopkeeper", "database", "restore", rig.path("copy"), "--data", rig.path("a"))

        #expect(busy.status == 73)
        #expect(full.status == 73)
        #expect(full.errors.contains("to an empty place"))
    }
}

extension PostgresCluster {
    /// A database of the test's own in the run's cluster.
    static func database(_ rig: Rig) async throws -> String {
        let cluster = try await shared()
        let name = "command_\(UUID().uuidString.lowercased().filter { $0 != "-" })"
        let made = try await rig.run(
            "psql", "-q", cluster.conninfo, "-c", "CREATE DATABASE \(name)")
        try #require(made.status == 0, "\(made.errors)")
        return cluster.conninfo.replacingOccurrences(of: "dbname=postgres", with: "dbname=\(name)")
    }
}
