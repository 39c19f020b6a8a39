// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Whoever follows the README's part on administration word by word comes
/// through it.
@Suite(.timeLimit(.minutes(5))) struct ReadmeTests {
    private static let file = """
        {"products": [{"productID": "com.example.app.credits5", "type": "Consumable",
          "displayPrice": "0.99", "localizations": [{"locale": "en_US",
            "displayName": "5 credits", "description": "Five of them"}]}]}

        """

    /// The lines of the section's code, without what they say behind `#`.
    private static func lines() throws -> [String] {
        let page = try String(
            contentsOfFile: PackageRoot.path() + "/README.md", encoding: .utf8)
        let section = page.components(separatedBy: "## Administration\n").last ?? ""
        let own = section.components(separatedBy: "\n## ").first ?? ""
        let blocks = own.components(separatedBy: "```").enumerated()
            .filter { $0.offset % 2 == 1 }.map(\.element)
        return blocks.flatMap { $0.split(separator: "\n") }.map { line in
            line.components(separatedBy: " #")[0].trimmingCharacters(in: .whitespaces)
        }
    }

    @Test func `administration is as the README says`() async throws {
        let rig = try Rig()
        let lines = try Self.lines()
        try #require(lines.count > 25)
        try #require(lines.first?.hasPrefix("shopkeeper serve Products.storekit ") == true)
        try Data(Self.file.utf8).write(to: URL(fileURLWithPath: rig.path("Products.storekit")))
        try Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]).write(
            to: URL(fileURLWithPath: rig.path("Badge.png")))
        let store = try await rig.serve("Products.storekit", "--bundle-id", "com.example.app")
        defer { store.kill(SIGTERM) }

        for line in lines.dropFirst() {
            let said = try await rig.run("sh", "-c", line)
            #expect(said.status == 0, "\(line): \(said.output)\(said.errors)")
        }

        let why = try await rig.object("why", "com.example.app.pro", "--realm", "shop")
        let kid = try await rig.list("customer", "list").last
        #expect(why["answer"] as? String == "sold")
        #expect(kid?["email"] as? String == "kid@example.com")
        #expect(kid?["interruptsPurchases"] as? Bool == true)
        #expect(FileManager.default.fileExists(atPath: rig.path("shop-root.pem")))
    }
}
