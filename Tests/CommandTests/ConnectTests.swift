// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Code for merchants' servers, as `connect` prints it.
@Suite(.timeLimit(.minutes(5))) struct ConnectTests {
    let rig: Rig

    init() throws { rig = try Rig() }

    private func buy(_ options: String...) async throws -> String {
        let bought = try await rig.run(
            all: ["shopkeeper", "buy", "com.example.monkeycredits.credits5", "--json"] + options)
        let answer = try JSONSerialization.jsonObject(with: Data(bought.output.utf8))
        return try #require((answer as? [String: Any])?["transactionId"] as? String)
    }

    private func write(_ client: String, to name: String, _ options: String...) async throws {
        let printed = try await rig.run(all: ["shopkeeper", "connect", client] + options)
        #expect(printed.status == 0, "\(printed.errors)")
        try Data(printed.output.utf8).write(to: URL(fileURLWithPath: rig.path(name)))
    }

    @Test func `the code for Python and curl runs as it is printed`() async throws {
        let store = try await rig.serve("--data", "a 'store' of $mine")
        defer { store.kill(SIGTERM) }
        let id = try await buy()
        try await write("python", to: "ask.py")
        try await write("curl", to: "ask.sh")

        let python = try await rig.run(try Rig.python(), "ask.py", id)
        let curl = try await rig.run("sh", "ask.sh", id)

        #expect(python.output.contains("transactionId='\(id)'"), "\(python.output)\(python.errors)")
        #expect(curl.output.contains("signedTransactionInfo"), "\(curl.output)\(curl.errors)")
    }

    /// The libraries that the code uses need not be there. Swift's is left out, because
    /// its compiler takes long, and Python's and curl's run above.
    @Test(arguments: ["node", "java", "php"])
    func `the code for other languages parses, whatever the path contains`(
        client: String
    ) async throws {
        let rule: (file: String, program: String, arguments: [String])
        switch client {
        case "node": rule = ("ask.mjs", "node", ["--check"])
        case "java":
            rule = ("Ask.java", "java", [try PackageRoot.path() + "/Tests/Peers/ParseJava.java"])
        default: rule = ("ask.php", "php", ["-l"])
        }
        guard try await rig.run("sh", "-c", "command -v \(rule.program)").status == 0 else {
            print("skipped: the code for \(client) (there is no \(rule.program) here)")
            return
        }
        let store = try await rig.serve("--data", #"a 'store' of $mine \ "quoted" ?> */"#)
        defer { store.kill(SIGTERM) }
        try await write(client, to: rule.file)
        let parsed = try await rig.run(all: [rule.program] + rule.arguments + [rule.file])
        try Data(
            (try String(contentsOfFile: rig.path(rule.file), encoding: .utf8) + "\n)}(\n").utf8
        )
        .write(to: URL(fileURLWithPath: rig.path(rule.file)))
        let spoilt = try await rig.run(all: [rule.program] + rule.arguments + [rule.file])

        #expect(parsed.status == 0, "\(parsed.output)\(parsed.errors)")
        #expect(spoilt.status != 0 || parsed.output.contains("no compiler"))
    }

    @Test func `a key of another realm is used there`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        _ = try await rig.object("realm", "create", "test")
        _ = try await rig.object(
            "app", "create", "com.example.monkeycredits", "--app-id", "777", "--realm", "test")
        let none = try await rig.run("shopkeeper", "connect", "curl", "--realm", "test", "--json")
        let made = try await rig.object("key", "create", "--realm", "test")
        let connected = try await rig.object("connect", "curl", "--realm", "test")
        let swift = try await rig.run("shopkeeper", "connect", "swift", "--realm", "test")

        #expect(none.status == 1 && none.errors.contains("keyFileMissing"), "\(none.errors)")
        let file = try #require(made["file"] as? String)
        let pem = try String(contentsOfFile: file, encoding: .utf8)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
        #expect(pem == made["privateKey"] as? String)
        #expect(mode as? Int == 0o600)
        #expect(swift.output.contains("appAppleId: 777"))
        #expect(connected["keyId"] as? String == made["keyId"] as? String)
        #expect((connected["url"] as? String)?.hasSuffix("/realms/test") == true)
        #expect(connected["serverKey"] as? String == file)
    }

    @Test func `a file without the key that the store knows is refused`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        try Data("no key".utf8).write(to: URL(fileURLWithPath: rig.path("none.p8")))
        let other = try await rig.object("key", "create")
        let file = try #require(other["file"] as? String)
        let known = try #require(try await rig.list("key", "list").first?["keyId"] as? String)

        let broken = try await rig.run(
            "shopkeeper", "connect", "curl", "--key-file", rig.path("none.p8"), "--json")
        let wrong = try await rig.run(
            "shopkeeper", "connect", "curl", "--key", known, "--key-file", file, "--json")

        #expect(known != other["keyId"] as? String)
        #expect(broken.status == 65 && broken.errors.contains("keyInvalid"), "\(broken.errors)")
        #expect(wrong.status == 77 && wrong.errors.contains("keyFileWrong"), "\(wrong.errors)")
    }

    @Test(arguments: ["python", "node", "java", "swift", "php", "curl"])
    func `each client is told the address and a key`(client: String) async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }

        let answer = try await rig.object("connect", client)

        let snippet = try #require(answer["snippet"] as? String)
        let url = try #require(answer["url"] as? String)
        let key = try #require(answer["keyId"] as? String)
        #expect(snippet.contains(url) && key.hasPrefix("shop"))
        #expect(snippet.contains(key))
        #expect(answer["environment"] as? String == "Sandbox")
    }

    @Test func `code for production has the app's number, or is refused`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        _ = try await rig.object("realm", "create", "live", "--environment", "Production")
        _ = try await rig.object("app", "create", "com.example.monkeycredits", "--realm", "live")
        let made = try await rig.run("shopkeeper", "key", "create", "--realm", "live")
        #expect(made.output.contains(" --realm live"), "\(made.output)")

        for client in ["python", "node", "java", "swift"] {
            let refused = try await rig.run(
                "shopkeeper", "connect", client, "--realm", "live", "--json")
            #expect(refused.status == 1, "\(client)")
            #expect(refused.errors.contains("appNumberMissing"), "\(refused.errors)")
        }
        _ = try await rig.object("connect", "curl", "--realm", "live")

        _ = try await rig.object("app", "set", "--app-id", "4711", "--realm", "live")
        let answer = try await rig.object("connect", "python", "--realm", "live")
        #expect((answer["snippet"] as? String)?.contains("4711") == true)
    }

    @Test func `code that cannot work in the environment Xcode is refused`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        _ = try await rig.object("realm", "create", "test", "--environment", "Xcode")
        _ = try await rig.object(
            "app", "create", "com.example.monkeycredits", "--realm", "test")
        _ = try await rig.object("key", "create", "--realm", "test")

        for client in ["python", "node", "java"] {
            let refused = try await rig.run(
                "shopkeeper", "connect", client, "--realm", "test", "--json")
            #expect(refused.status == 1, "\(client)")
            #expect(refused.errors.contains("environmentUnsupported"), "\(refused.errors)")
        }
        for client in ["swift", "php", "curl"] {
            let answer = try await rig.object("connect", client, "--realm", "test")
            #expect(answer["environment"] as? String == "Xcode", "\(client)")
        }
    }

    @Test func `a key that is not there, and a file that is, are refused`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        try Data("x".utf8).write(to: URL(fileURLWithPath: rig.path("mine.p8")))

        let unknown = try await rig.run(
            "shopkeeper", "connect", "curl", "--key", "2X9R4HXF34", "--json")
        let taken = try await rig.run("shopkeeper", "key", "create", "-o", "mine.p8", "--json")
        let long = try await rig.run("shopkeeper", "key", "token", "--seconds", "3601", "--json")
        let elsewhere = try await rig.object("key", "create", "-o", "other.p8")

        #expect(unknown.status == 1 && unknown.errors.contains("serverKeyUnknown"))
        #expect(unknown.errors.contains("looks like a key of the App Store"))
        #expect(taken.status == 73 && taken.errors.contains("fileExists"), "\(taken.errors)")
        #expect(long.status == 64 && long.errors.contains("lifetimeInvalid"))
        #expect((elsewhere["file"] as? String)?.hasSuffix("/other.p8") == true)
        #expect(try String(contentsOfFile: rig.path("mine.p8"), encoding: .utf8) == "x")
    }
}
