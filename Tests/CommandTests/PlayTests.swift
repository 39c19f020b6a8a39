// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Stories by the program: those of the repository come true, and a wrong one is
/// reported with its line.
@Suite(.timeLimit(.minutes(5))) struct PlayTests {
    private let rig: Rig
    private let stories: String

    init() throws {
        rig = try Rig()
        stories = try PackageRoot.path() + "/Samples/Stories"
    }

    private func play(_ arguments: String...) async throws -> ChildProcess.Outcome {
        try await rig.run(
            all: [
                "shopkeeper", "exec", stories + "/Press.storekit", "--bundle-id",
                "com.example.press", "--", "shopkeeper", "play",
            ] + arguments)
    }

    @Test(arguments: ["trial", "billing", "winback"])
    func `a story of the repository comes true`(name: String) async throws {
        let outcome = try await play(stories + "/\(name).yaml")

        #expect(outcome.status == 0, "\(outcome.output) \(outcome.errors)")
        #expect(outcome.output.contains("and all came true"))
        #expect(outcome.output.contains("line "))
    }

    @Test func `the README's story is the one of the repository`() throws {
        let readme = try String(
            contentsOfFile: PackageRoot.path() + "/README.md", encoding: .utf8)
        let story = try String(contentsOfFile: stories + "/trial.yaml", encoding: .utf8)

        #expect(readme.contains("```yaml\n" + story + "```"))
    }

    @Test func `the first expectation that fails is reported with what happened instead`()
        async throws
    {
        let yaml = """
            story: wrong
            steps:
            - customer: ann
            - buy: all
              customer: ann
            - expect:
                customer: ann
                transactions: 1
                subscription: { status: active, renews: false }
            - expect:
                customer: ann
                transactions: 9
            """
        try Data(yaml.utf8).write(to: URL(fileURLWithPath: rig.path("wrong.yaml")))

        let outcome = try await play("wrong.yaml")
        let json = try await play("wrong.yaml", "--json")

        #expect(outcome.status == 1)
        #expect(outcome.output.contains("line 9 of wrong.yaml did not come true"))
        #expect(outcome.output.contains("expected: status active, renews false"))
        #expect(outcome.output.contains("instead:  status active, renews true"))
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        let failure = try #require(object["failure"] as? [String: Any])
        #expect(json.status == 1 && failure["line"] as? Int == 9)
    }

    @Test func `a file that is wrong is refused before anything happens`() async throws {
        let yaml = "story: s\nsteps:\n- customer: ann\n- bye: all\n"
        try Data(yaml.utf8).write(to: URL(fileURLWithPath: rig.path("bad.yaml")))

        let outcome = try await play("bad.yaml")
        let missing = try await play("none.yaml")

        #expect(outcome.status == 65 && outcome.errors.contains("bad.yaml, line 4"))
        #expect(missing.status == 65)
    }

    @Test func `Ctrl-C stops a jump between two pieces of work`() async throws {
        let store = try await rig.serve(
            stories + "/Press.storekit", "--bundle-id", "com.example.press")
        defer { store.kill(SIGTERM) }
        // 3,600 renewals take seconds.
        for words in [
            ["product", "create", "weekly", "--type", "auto-renewable", "--group", "weeks"]
                + ["--period", "P1W"],
            ["product", "set", "weekly", "--price", "1.00", "--state", "ready"]
                + ["--words", "en_US=Weekly|Every week"],
        ] {
            let outcome = try await rig.run(all: ["shopkeeper"] + words)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        _ = try await rig.object("buy", "weekly")
        let jump = try ChildProcess(
            ["shopkeeper", "clock", "advance", "70y", "--notifications", "drop", "--json"],
            environment: rig.environment, folder: URL(fileURLWithPath: rig.path(".")))
        try await until("the jump is under way") {
            try await rig.object("clock", "show")["jump"] != nil
        }

        jump.kill(SIGINT)
        let outcome = await jump.outcome()

        let clock = try await rig.object("clock", "show")
        let now = try #require(clock["now"] as? Int64)
        #expect(outcome.status == 130, "\(outcome.output) \(outcome.errors)")
        #expect(clock["jump"] == nil)
        // 2090 and later is where it would have come to.
        #expect(now < 3_786_912_000_000)
        let sold = try await rig.list("transaction", "list")
        #expect(sold.allSatisfy { ($0["purchaseDate"] as? Int64 ?? .max) <= now + 86_400_000 })
    }

    @Test func `snapshots are saved, loaded, branched, listed and deleted`() async throws {
        let store = try await rig.serve(
            stories + "/Press.storekit", "--bundle-id", "com.example.press")
        defer { store.kill(SIGTERM) }
        func run(_ arguments: String...) async throws -> ChildProcess.Outcome {
            try await rig.run(all: ["shopkeeper"] + arguments)
        }
        #expect(try await run("snapshot", "save", "fresh").status == 0)
        #expect(try await run("buy", "all").status == 0)
        #expect(try await run("clock", "advance", "1y", "--notifications", "drop").status == 0)

        let branch = try await run("snapshot", "branch", "fresh", "twin")
        let loaded = try await run("snapshot", "load", "fresh")
        let sold = try await run("transaction", "list")
        let again = try await run("buy", "all", "--realm", "twin")
        let list = try await run("snapshot", "list")
        let bad = try await run("snapshot", "load", "none")
        let deleted = try await run("snapshot", "delete", "fresh")

        #expect(branch.status == 0, "\(branch.errors)")
        #expect(loaded.status == 0 && loaded.output.contains("Loaded fresh"))
        #expect(sold.output.isEmpty, "\(sold.output)")
        #expect(again.status == 0, "\(again.errors)")
        #expect(list.output.contains("fresh"))
        #expect(bad.status == 1 && bad.errors.contains("There is no snapshot"))
        #expect(deleted.status == 0)
        #expect(try await run("snapshot", "list").output.isEmpty)
        let stopped = try await run("clock", "stop")
        #expect(stopped.status == 1 && stopped.errors.contains("There is no jump"))
    }
}
