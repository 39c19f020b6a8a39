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
