// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// The verbs of hosted content, against a served store.
@Suite(.timeLimit(.minutes(5))) struct ContentCommandTests {
    private static let file = """
        {"products": [{"productID": "pro", "type": "NonConsumable", "displayPrice": "4.99",
          "localizations": [], "referenceName": "Pro"}]}

        """

    @Test func `a package is checked, packed, uploaded once, listed and removed`() async throws {
        let rig = try Rig()
        try Data(Self.file.utf8).write(to: URL(fileURLWithPath: rig.path("Pro.storekit")))
        try ContentFolder.make(rig.path("Pro"), product: "pro")
        try ContentFolder.make(rig.path("Bad"), product: "pro")
        try FileManager.default.createSymbolicLink(
            atPath: rig.path("Bad/Contents/link"), withDestinationPath: "all.txt")
        let store = try await rig.serve("Pro.storekit")
        defer { store.kill(SIGTERM) }
        func run(_ words: String...) async throws -> ChildProcess.Outcome {
            try await rig.run(all: ["shopkeeper"] + words)
        }

        let bad = try await run("content", "check", "Bad")
        let packed = try await run("content", "pack", "Pro", "Pro.zip")
        let first = try await run("content", "upload", "Pro.zip")
        let second = try await run("content", "upload", "Pro")
        let list = try await run("content", "list")
        let backup = try await run("database", "backup", "copy.archive")
        let restored = try await run(
            "database", "restore", "copy.archive", "--data", "other")
        let removed = try await run("content", "remove", "pro", "1.0")
        let again = try await run("content", "upload", "Pro.zip")

        #expect(bad.status == 65 && bad.errors.contains("Contents/link"), "\(bad.errors)")
        #expect(packed.status == 0 && packed.output.contains("pro 1.0"))
        #expect(first.status == 0 && first.output.contains("ready"), "\(first.errors)")
        #expect(first.errors.contains("100 %"))
        #expect(second.status == 0 && second.errors.contains("already"), "\(second.errors)")
        #expect(list.output.contains("pro  1.0  ready"), "\(list.output)")
        #expect(backup.output.contains("Not in it: the files of 1 packages"), "\(backup.output)")
        #expect(restored.output.contains("Missing: the files of 1 packages"))
        #expect(removed.status == 0)
        #expect(again.status == 1 && again.errors.contains("was removed"), "\(again.errors)")
    }
}
