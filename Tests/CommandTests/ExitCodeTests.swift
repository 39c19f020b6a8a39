// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Exit codes mean something, and errors name field, rule and remedy.
@Suite(.timeLimit(.minutes(5))) struct ExitCodeTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    private static let commandLines: [(words: String, code: Int32)] = [
        ("frob", 64), ("serve --port many", 64), ("exec", 64), ("exec -- A=1", 64),
        ("exec -- -x", 64), ("serve --host 0.0.0.0", 64),
        ("serve broken.storekit", 65), ("serve missing.storekit", 65), ("status", 69),
        ("buy coins", 69), ("transaction list", 69), ("wait --timeout 0", 69), ("--version", 0),
    ]

    @Test(arguments: commandLines)
    func `a command line has its code`(_ words: String, _ code: Int32) async throws {
        try Data("no JSON".utf8).write(
            to: URL(fileURLWithPath: rig.path("broken.storekit")))

        let outcome = try await ChildProcess.run(
            ["shopkeeper"] + words.split(separator: " ").map(String.init),
            environment: rig.environment,
            folder: URL(fileURLWithPath: rig.folder.path))

        #expect(outcome.status == code, "\(outcome.errors)")
        #expect(outcome.status == 0 || !outcome.errors.isEmpty)
    }

    @Test(arguments: ["--version", "help"])
    func `an answer that cannot be written is no success`(_ words: String) async throws {
        let outcome = try await rig.run("sh", "-c", "shopkeeper \(words) > /dev/full")

        #expect(outcome.status == 74, "\(outcome.errors)")
    }

    /// Its key cannot be printed again.
    @Test(arguments: [">/dev/full", "--json >/dev/full", "| true"])
    func `a key that could not be written is named, with the way to another`(
        words: String
    ) async throws {
        let rig = try Rig()
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }

        // The pipe's reader is gone before the answer comes.
        let run = { (verb: String) in
            try await rig.run(
                "bash", "-c",
                "exec 3> >(true); wait $!; shopkeeper \(verb) "
                    + (words == "| true" ? ">&3" : words))
        }
        let made = try await run("operator create ann")
        let key = try await run("key create")
        let plain = try await run("clock")
        let operators = try await rig.list("operator", "list")
        let keys = try await rig.list("key", "list")

        #expect([made.status, key.status, plain.status] == [74, 74, 74], "\(made.errors)")
        #expect(made.errors.contains("operator revoke ann"), "\(made.errors)")
        #expect(operators.map { $0["name"] as? String } == ["ann"])
        let id = try #require(keys.last?["keyId"] as? String)
        #expect(key.errors.contains("key revoke"), "\(key.errors)")
        #expect(keys.contains { key.errors.contains($0["keyId"] as? String ?? "-") }, "\(id)")
        #expect(plain.errors.contains("could not be written"), "\(plain.errors)")
        for errors in [made.errors, key.errors] { #expect(!errors.contains("BEGIN")) }
    }

    @Test func `with --json an error is an object on standard error`() async throws {
        let outcome = try await rig.run("shopkeeper", "status", "--json")

        let error = try JSONSerialization.jsonObject(with: Data(outcome.errors.utf8))
        #expect(outcome.output.isEmpty)
        #expect((error as? [String: Any])?["code"] as? String == "noStore")
        #expect((error as? [String: Any])?["remedy"] is String)
    }

    @Test(arguments: [
        "buy --quantity many coins --json", "frob --json", "realm list --what --json",
    ])
    func `with --json a wrong command line is an object, too`(_ words: String) async throws {
        let outcome = try await ChildProcess.run(
            ["shopkeeper"] + words.split(separator: " ").map(String.init),
            environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))

        let error = try JSONSerialization.jsonObject(with: Data(outcome.errors.utf8))
        #expect(outcome.status == 64)
        #expect(outcome.output.isEmpty)
        #expect((error as? [String: Any])?["code"] as? String == "usage")
        #expect(((error as? [String: Any])?["message"] as? String)?.isEmpty == false)
    }

    @Test func `what the store refuses is a no, with the store's sentence`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }

        let unknown = try await rig.run("shopkeeper", "buy", "com.example.nothing")
        let many = try await rig.run(
            "shopkeeper", "buy", "com.example.monkeycredits.credits5", "--quantity", "11",
            "--json")
        let realm = try await rig.run("shopkeeper", "realm", "delete", "nowhere", "--yes")

        #expect(unknown.status == 1)
        #expect(unknown.errors.contains("com.example.nothing"))
        #expect(many.status == 1)
        let error =
            try JSONSerialization.jsonObject(with: Data(many.errors.utf8)) as? [String: Any]
        #expect(error?["code"] as? String == "quantityOutOfRange")
        #expect(error?["field"] as? String == "quantity")
        #expect(error?["rule"] is String)
        #expect(realm.status == 1)
        #expect(realm.errors.contains("remedy:"))
    }

    @Test func `what production refuses to everyone exits with 1, not with 77`() async throws {
        let store = try await rig.serve("--scrypt-rounds", "2")
        defer { store.kill(SIGTERM) }
        _ = try await rig.object("realm", "create", "shop", "--production")
        _ = try await rig.object(
            "customer", "create", "ann", "--password", "correct horse", "--realm", "shop")

        for words in [
            ["clock"], ["clock", "advance", "5s"], ["settings"],
            ["customer", "clear", "ann", "--yes"],
            ["customer", "change", "ann", "--interrupts-purchases"],
        ] {
            let said = try await ChildProcess.run(
                ["shopkeeper"] + words + ["--realm", "shop", "--json"],
                environment: rig.environment, folder: URL(fileURLWithPath: rig.path(".")))
            #expect(said.status == 1, "\(words)")
            let error =
                try JSONSerialization.jsonObject(with: Data(said.errors.utf8)) as? [String: Any]
            #expect(error?["code"] as? String == "sandboxOnly", "\(words): \(said.errors)")
            #expect(error?["rule"] is String && error?["remedy"] is String, "\(words)")
        }
    }

    /// A verb of the command, as its parser tells it.
    private struct Verb: Decodable {
        struct Argument: Decodable {
            let kind: String
            let shouldDisplay: Bool
            let valueName: String?
            let abstract: String?
        }
        let commandName: String
        let abstract: String?
        let arguments: [Argument]?
        let subcommands: [Verb]?

        /// What has no sentence, and what tells something and takes no `--json`.
        func gaps(_ path: String) -> [String] {
            let path = path + " " + commandName
            let arguments = arguments ?? []
            var gaps = abstract?.isEmpty == false ? [] : ["\(path): no abstract"]
            gaps += arguments.filter { $0.shouldDisplay && $0.abstract?.isEmpty != false }
                .map { "\(path): \($0.valueName ?? $0.kind)" }
            let verbs = (subcommands ?? []).filter { $0.commandName != "help" }
            if verbs.isEmpty, commandName != "exec",
                !arguments.contains(where: { $0.valueName == "json" })
            {
                gaps.append("\(path): no --json")
            }
            return gaps + verbs.flatMap { $0.gaps(path) }
        }
    }

    @Test func `every verb, argument and option has its sentence`() async throws {
        let said = try await rig.run("shopkeeper", "--experimental-dump-help")
        struct Dump: Decodable { let command: Verb }
        let command = try JSONDecoder().decode(Dump.self, from: Data(said.output.utf8)).command

        #expect(command.gaps("") == [])
        #expect((command.subcommands ?? []).count > 30)
    }

    @Test func `an empty list prints no line, or an empty JSON list`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }

        for words in [["transaction", "list"], ["app", "image", "list"], ["group", "list"]] {
            let plain = try await ChildProcess.run(
                ["shopkeeper"] + words, environment: rig.environment,
                folder: URL(fileURLWithPath: rig.path(".")))
            let json = try await ChildProcess.run(
                ["shopkeeper"] + words + ["--json"], environment: rig.environment,
                folder: URL(fileURLWithPath: rig.path(".")))
            #expect(plain.status == 0 && plain.output.isEmpty, "\(words)")
            let value = try JSONSerialization.jsonObject(with: Data(json.output.utf8))
            #expect((value as? [Any])?.isEmpty == true, "\(words)")
        }
    }

    @Test func `a wrong key is 77`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let file = rig.path(".shopkeeper/run.json")
        var run = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: file)))
                as? [String: Any])
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
        run["operatorKey"] = "wrong"
        try JSONSerialization.data(withJSONObject: run).write(to: URL(fileURLWithPath: file))

        let outcome = try await rig.run("shopkeeper", "realm", "list", "--data", ".shopkeeper")

        #expect(mode as? Int == 0o600)
        #expect(outcome.status == 77)
    }

    /// The machine accepts connections for a process that is stopped.
    @Test(arguments: [
        ["status"], ["clock"], ["clock", "advance", "1mo"], ["wait", "--timeout", "1"],
        ["customer", "list"],
    ])
    func `a store that hangs is reported within seconds`(words: [String]) async throws {
        let rig = try Rig()
        let store = try await rig.serve()
        store.kill(SIGSTOP)
        defer { store.kill(SIGCONT) }

        let outcome = try await ChildProcess.run(
            ["timeout", "35", "shopkeeper"] + words, environment: rig.environment,
            folder: URL(fileURLWithPath: rig.folder.path))

        #expect(outcome.status == 69)
        #expect(outcome.errors.contains("does not answer"), "\(outcome.errors)")
    }
}
