// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import TestSupport
import Testing

@testable import shopkeeper

/// What `serve` shows while it serves.
@Suite(.timeLimit(.minutes(5))) struct StoreEventsTests {
    private static let wall = Timestamp(iso8601: "2026-03-04T05:06:07Z")

    @Test(
        arguments: [
            (
                "purchase",
                [
                    "customer": "7", "purchase": "x", "state": "sold", "product": "coins",
                    "quantity": "3", "transaction": "9",
                ], "05:06:07  purchase      coins × 3: sold, transaction 9, customer 7"
            ),
            (
                "purchase",
                [
                    "customer": "7", "state": "refused", "refusal": "priceChanged",
                    "product": "coins", "quantity": "1",
                ], "05:06:07  purchase      coins: refused (priceChanged), customer 7"
            ),
            (
                "notification",
                ["notification": "id", "attempt": "2", "result": "SUCCESS", "status": "200"],
                "05:06:07  notification  id: SUCCESS (200), attempt 2"
            ),
            (
                "notification", ["notification": "id", "attempt": "1", "result": "TIMED_OUT"],
                "05:06:07  notification  id: TIMED_OUT, attempt 1"
            ),
            (
                "due work", ["kind": "approval", "customer": "7"],
                "05:06:07  due work      approval, customer 7"
            ),
            ("transaction signed", [:], nil),
        ] as [(String, [String: String], String?)])
    func `an event is one line`(message: String, facts: [String: String], line: String?) throws {
        #expect(StoreEvents.line(message, facts, wall: try #require(Self.wall)) == line)
    }

    @Test func `serve shows purchases if it is asked to, and not otherwise`()
        async throws
    {
        let rig = try Rig()
        let store = try await rig.serve("--events")
        let product = "com.example.monkeycredits.credits5"

        _ = try await rig.object("buy", product, "--quantity", "2")
        let shown = await store.line(with: "purchase      \(product) × 2: sold")
        _ = try await rig.object("stop")
        let first = await store.outcome()
        let quiet = try await rig.serve()
        _ = try await rig.object("buy", product)
        _ = try await rig.object("stop")
        let second = await quiet.outcome()

        #expect(shown != nil)
        #expect(first.output.contains("sign-in"))
        #expect(!second.output.contains("purchase"))
    }

    /// Starts a store whose lines go where the shell's words say, and waits for it.
    private func serve(_ rig: Rig, _ words: String) async throws -> ChildProcess {
        let store = try ChildProcess(
            ["sh", "-c", "shopkeeper serve --port 0 \(words)"],
            environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))
        #expect(try await rig.run("shopkeeper", "wait").status == 0)
        return store
    }

    /// Buys within a time that a request which hangs does not keep.
    private func buy(_ rig: Rig) async throws -> Int32 {
        try await rig.run(
            "timeout", "30", "shopkeeper", "buy", "com.example.monkeycredits.credits5"
        ).status
    }

    @Test func `a store whose reader has gone sells and stops`() async throws {
        let rig = try Rig()
        let store = try await serve(rig, "--events | head -1")
        #expect(await store.line(with: "catalogue") != nil)

        let bought = [try await buy(rig), try await buy(rig)]
        let stopped = try await rig.run("shopkeeper", "stop").status

        #expect(bought == [0, 0])
        #expect(stopped == 0)
        #expect(await store.outcome().status == 0)
    }

    @Test(arguments: ["--events | true", "--log-level debug 2>&1 >/dev/null | true"])
    func `a store that nobody ever reads sells and stops`(words: String) async throws {
        let rig = try Rig()
        _ = try await serve(rig, words)

        let bought = try await buy(rig)
        let stopped = try await rig.run("shopkeeper", "stop").status

        #expect(bought == 0)
        #expect(stopped == 0)
    }

    @Test func `exec runs its command though nobody reads its errors`() async throws {
        let rig = try Rig()

        let outcome = try await rig.run(
            "bash", "-c", "shopkeeper exec --events -- sh -c 'echo ran' 2> >(true)")

        #expect(outcome.output.contains("ran"))
        #expect(outcome.status == 0)
    }

    @Test(arguments: ["--events > lines", "--log-level debug 2> lines"])
    func `a store whose reader has stopped reading sells and stops`(words: String) async throws {
        let rig = try Rig()
        let pipe = rig.path("lines")
        #expect(mkfifo(pipe, 0o600) == 0)
        let end = open(pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        try #require(end >= 0)
        defer { close(end) }
        let store = try await serve(rig, words)
        // Nothing is read from here on, and the pipe is full.
        while write(end, "-", 1) == 1 {}

        let bought = [try await buy(rig), try await buy(rig)]
        let stopped = try await rig.run("shopkeeper", "stop").status

        #expect(bought == [0, 0])
        #expect(stopped == 0)
        #expect(await store.outcome().status == 0)
    }

    @Test func `the command is suggested as a shell can find it`() throws {
        let folder = try temporaryFolder("own")
        let file = folder.file("bin/shopkeeper")
        try FileManager.default.createDirectory(
            atPath: folder.file("bin"), withIntermediateDirectories: true)
        #expect(FileManager.default.createFile(atPath: file, contents: Data()))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
        let own = URL(fileURLWithPath: file).resolvingSymlinksInPath().path
        let root = String(own.dropLast("/bin/shopkeeper".count))
        func words(_ path: String, _ folder: String, _ program: String = "shopkeeper") -> String {
            OwnCommand.words(for: program, beside: own, path: path, workingFolder: folder)
        }

        #expect(words("/usr/bin:\(folder.file("bin"))", "/") == "shopkeeper")
        #expect(words("/usr/bin", root) == "bin/shopkeeper")
        #expect(words("/usr/bin", "/elsewhere") == ShellWord.quoted(own))
        #expect(words("/usr/bin", root, "monkey-credits") == "bin/monkey-credits")
    }
}
