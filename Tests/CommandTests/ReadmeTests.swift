// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// The README's lines work as they are printed, in the order of the page.
@Suite(.timeLimit(.minutes(5))) struct ReadmeTests {
    /// The page from one heading to the next of a level.
    private static func section(from start: String, to end: String) throws -> String {
        let page = try String(
            contentsOfFile: PackageRoot.path() + "/README.md", encoding: .utf8)
        let rest = page.components(separatedBy: start + "\n").last ?? ""
        return rest.components(separatedBy: "\n" + end).first ?? ""
    }

    /// Each block of code; its first line names the language, or is empty.
    private static func blocks(of section: String) -> [String] {
        section.components(separatedBy: "```").enumerated()
            .filter { $0.offset % 2 == 1 }.map(\.element)
    }

    /// The lines on administration, without the comments after `#`.
    private static func lines() throws -> [String] {
        let section = try section(from: "## Administration", to: "## ")
        return blocks(of: section).flatMap { $0.split(separator: "\n") }.map { line in
            line.components(separatedBy: " #")[0].trimmingCharacters(in: .whitespaces)
        }
    }

    @Test func `administration is as the README says`() async throws {
        let rig = try Rig(hasOwnKeys: true)
        let lines = try Self.lines()
        try #require(lines.count > 25)
        try #require(lines.first?.hasPrefix("shopkeeper serve Products.storekit ") == true)
        try await makeTrial(rig)
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

    /// Runs the lines that make the folder, which is the rig's here.
    private func makeTrial(_ rig: Rig) async throws {
        let section = try Self.section(from: "### A store to try it in", to: "### ")
        let script = try #require(Self.blocks(of: section).first)
            .replacingOccurrences(of: "/tmp/shopkeeper-trial", with: rig.path("."))
        let made = try await ChildProcess.run(
            ["sh", "-ec", script], environment: rig.environment,
            folder: URL(fileURLWithPath: PackageRoot.path()))
        #expect(made.status == 0, "\(made.output)\(made.errors)")
    }

    @Test func `the lines for developers work beside the sample's store`() async throws {
        let rig = try Rig(hasOwnKeys: true)
        let blocks = Self.blocks(of: try Self.section(from: "## Try it", to: "## For operators"))
        let scripts = try Self.scripts(in: blocks)
        try #require(scripts.count == 11)
        let python = try #require(blocks.first { $0.hasPrefix("python\n") })
        try Data(python.dropFirst("python\n".count).utf8).write(
            to: URL(fileURLWithPath: rig.path("ask.py")))
        try FileManager.default.createSymbolicLink(
            atPath: rig.path("Samples"), withDestinationPath: PackageRoot.path() + "/Samples")
        let store = try await rig.serve(
            "Samples/MonkeyCredits/MonkeyCredits.storekit", "--bundle-id",
            "com.example.monkeycredits")
        defer { store.kill(SIGTERM) }

        var servers: [ChildProcess] = []
        defer { for server in servers { server.kill(SIGTERM) } }
        var output = ""
        for script in scripts {
            if Self.servers.contains(where: script.hasPrefix) {
                if script.hasPrefix("shopkeeper serve") {
                    store.kill(SIGTERM)
                    _ = await store.outcome()
                }
                let server = try ChildProcess(
                    ["sh", "-c", "exec " + script], environment: rig.environment,
                    folder: URL(fileURLWithPath: rig.path(".")))
                servers.append(server)
                let line =
                    script.contains("--with-ledger") ? "Key for servers" : "http://127.0.0.1:"
                #expect(await server.line(with: line) != nil, "\(script)")
                continue
            }
            let said = try await rig.run("sh", "-ec", "eval \"$(shopkeeper env)\"\n" + script)
            #expect(said.status == 0, "\(script): \(said.output)\(said.errors)")
            output += said.output
        }

        #expect(output.hasPrefix("15\n15\n"))
        #expect(output.contains("Delivered."))
        #expect(output.contains("\ncom.example.monkeycredits.credits5\n"), "what ask.py prints")
        #expect(output.contains("com.example.monkeycredits.credits5  1  granted 3  spent 2"))
        #expect(output.contains("Spent unit 1 of com.example.monkeycredits.credits5"))
    }

    private static let servers = [
        "shopkeeper listen", "shopkeeper serve", "shopkeeper ledger serve",
    ]

    /// The blocks of shell, but for `make run` and the path, which are the rig's.
    /// They use free ports, since other runs may use those of the page.
    private static func scripts(in blocks: [String]) throws -> [String] {
        let listening = try "\(Loopback.closedPort())"
        let booking = try "\(Loopback.closedPort())"
        let python = try Rig.python()
        let words = [
            ("export PATH=\"$(swift build --show-bin-path):$PATH\"\n", ""),
            ("shopkeeper listen ", "shopkeeper listen --port 4790 "),
            ("shopkeeper serve ", "shopkeeper serve --port 0 --ledger-port 0 "),
            ("python3 ask.py", "'\(python)' ask.py"),
            // In two steps: a free port may hold the digits of another.
            ("4790", "LISTENING"), ("4791", "BOOKING"),
            ("LISTENING", listening), ("BOOKING", booking),
        ]
        return blocks.filter { $0.hasPrefix("\n") && !$0.contains("make run") }.map { block in
            words.reduce(block.trimmingCharacters(in: .whitespacesAndNewlines)) { text, pair in
                text.replacingOccurrences(of: pair.0, with: pair.1)
            }
        }
    }
}
