// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// What is secret is its owner's from the first moment on, and is told to no
/// process list.
@Suite(.timeLimit(.minutes(5))) struct SecretTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    /// A secret, as its owner would keep it.
    private func write(_ text: String, _ file: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        chmod(file, 0o600)
    }

    /// Starts a server whose files are made with no mask at all.
    private func unmasked(_ words: String) throws -> ChildProcess {
        try ChildProcess(
            ["sh", "-c", "umask 0; exec shopkeeper \(words)"], environment: rig.environment,
            folder: URL(fileURLWithPath: rig.folder.path))
    }

    @Test func `an open data directory is closed before anything lies in it`() async throws {
        for name in ["shop", "book"] {
            try FileManager.default.createDirectory(
                atPath: rig.path(name), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o755])
        }

        let store = try unmasked("serve --port 0 --data shop")
        #expect(await store.line(with: "Serving") != nil)
        let ledger = try unmasked("ledger serve --port 0 --data book")
        #expect(await ledger.line(with: "Notifications") != nil)
        defer {
            store.kill(SIGTERM)
            ledger.kill(SIGTERM)
        }

        for folder in ["shop", "book"] {
            #expect(try mode(rig.path(folder)) == 0o700)
            let files = try FileManager.default.subpathsOfDirectory(atPath: rig.path(folder))
            #expect(files.contains("run.json"))
            for file in files {
                let open = file == "root.pem" ? 0o022 : 0o077
                #expect(try mode(rig.path("\(folder)/\(file)")) & open == 0, "\(folder)/\(file)")
            }
        }
    }

    @Test(arguments: ["serve --port 0", "ledger restore x", "database restore x"])
    func `a folder that holds other things is refused, and left as it is`(_ words: String)
        async throws
    {
        let home = rig.path("home")
        try FileManager.default.createDirectory(
            atPath: home, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755])
        try Data("a picture".utf8).write(to: URL(fileURLWithPath: home + "/holiday.jpg"))

        let outcome = try await rig.run("sh", "-c", "shopkeeper \(words) --data home")

        #expect(outcome.status == 73, "\(outcome.errors)")
        #expect(outcome.errors.contains("chmod 700"), "\(outcome.errors)")
        #expect(try mode(home) == 0o755)
        #expect(try FileManager.default.contentsOfDirectory(atPath: home) == ["holiday.jpg"])
    }

    @Test func `a password comes from a file or standard input`() async throws {
        let store = try await rig.serve("--scrypt-rounds", "2")
        defer { store.kill(SIGTERM) }
        _ = try await rig.object("realm", "create", "shop", "--production")
        let file = rig.path("password")
        try write("correct horse\n", file)

        _ = try await rig.object(
            "customer", "create", "ann", "--password-file", file, "--realm", "shop")
        let changed = try await rig.run(
            "sh", "-c",
            "printf 'battery staple' | shopkeeper customer change ann --password-file - --realm shop"
        )
        let twice = try await rig.run(
            "shopkeeper", "customer", "create", "bea", "--password", "x", "--password-file", file)
        chmod(file, 0o644)
        let open = try await rig.run(
            "shopkeeper", "customer", "create", "bea", "--password-file", file)

        #expect(changed.status == 0, "\(changed.errors)")
        #expect(try await signIn("correct horse") == 401)
        #expect(try await signIn("battery staple") == 200)
        #expect(twice.status == 64)
        #expect(open.status == 77)
        #expect(open.errors.contains("0600"))
    }

    private func signIn(_ password: String) async throws -> Int {
        let url = try #require(try await rig.object("status")["url"] as? String)
        let body = """
            {"customer":"ann","password":"\(password)","bundleId":"com.example.a",\
            "deviceUUID":"4A939B84-E064-4C1F-8C2F-7161F0A3CDBE"}
            """
        _ = try? await rig.object("app", "create", "com.example.a", "--realm", "shop")
        return try await rig.ask(
            "POST", url + "/realms/shop/device/v1/sessions", body,
            ["Content-Type: application/json"]
        ).status
    }

    @Test func `a database's address comes from a file`() async throws {
        let database = try await rig.database()
        let file = rig.path("database")
        try write("\(database)\n", file)
        let store = try await rig.serve("--database", "@\(file)")
        defer { store.kill(SIGTERM) }

        let status = try await rig.object("database", "status", "--database", "@\(file)")
        let ledger = try await rig.run(
            "sh", "-c", "shopkeeper ledger status --database @- < database")
        let missing = try await rig.run("shopkeeper", "serve", "--database", "@nowhere")

        #expect(status["isServed"] as? Bool == true)
        // The database is there, and no ledger in it.
        #expect(ledger.status == 69)
        #expect(ledger.errors.contains("no schema"), "\(ledger.errors)")
        #expect(missing.status == 77)
    }

    @Test func `word that others may have left is not believed`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let known = try await rig.run("shopkeeper", "status")

        chmod(rig.path("run/shopkeeper"), 0o777)
        let open = try await rig.run("shopkeeper", "status")
        chmod(rig.path("run/shopkeeper"), 0o700)
        chmod(rig.path(".shopkeeper/run.json"), 0o666)
        let writable = try await rig.run("shopkeeper", "status", "--data", ".shopkeeper")

        #expect([known.status, open.status, writable.status] == [0, 69, 69])
    }
}
