// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// The built command against a store that it serves.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct StoreTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    @Test func `a served store is found, sells, lists and stops`() async throws {
        let store = try await rig.serve()

        let status = try await rig.object("status")
        let bought = try await rig.object(
            "buy", "com.example.monkeycredits.credits5", "--quantity", "3")
        let listed = try await rig.list("transaction", "list")
        let customers = try await rig.list("customer", "list")
        let stopped = try await rig.object("stop")
        let outcome = await store.outcome()

        #expect(status["status"] as? String == "ready")
        #expect(status["data"] as? String == rig.path(".shopkeeper"))
        #expect(bought["productId"] as? String == "com.example.monkeycredits.credits5")
        #expect(bought["quantity"] as? Int == 3)
        #expect(bought["price"] as? Int == 2970)
        #expect((bought["signedTransactionInfo"] as? String)?.split(separator: ".").count == 3)
        #expect(
            listed.map { $0["transactionId"] as? String } == [bought["transactionId"] as? String])
        #expect(listed.first?["isFinished"] as? Bool == true)
        #expect(customers.map { $0["name"] as? String } == ["customer"])
        #expect(stopped["stopped"] as? Bool == true)
        #expect(outcome.status == 0)
        #expect(try await rig.run("shopkeeper", "status").status == 69)
    }

    @Test func `what was bought is there when the store comes back`() async throws {
        let first = try await rig.serve()
        let bought = try await rig.object("buy", "com.example.monkeycredits.credits10")
        _ = try await rig.object("stop")
        #expect(await first.outcome().status == 0)

        let again = try await rig.serve()
        let listed = try await rig.list("transaction", "list")

        #expect(
            listed.map { $0["transactionId"] as? String } == [bought["transactionId"] as? String])
        again.kill(SIGTERM)
        #expect(await again.outcome().status == 0)
    }

    @Test func `sessions are listed and ended, and a device signs in again by itself`() async throws
    {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        _ = try await rig.object("buy", "com.example.monkeycredits.credits5")

        let listed = try await rig.list("session", "list", "--customer", "customer")
        let id = try #require(listed.first?["sessionId"] as? String)
        let ended = try await rig.object("session", "revoke", id)
        let again = try await rig.run("shopkeeper", "session", "revoke", id)
        let unclear = try await rig.run("shopkeeper", "session", "revoke")
        let unknown = try await rig.run("shopkeeper", "session", "revoke", "1-../x")

        #expect(ended["ended"] as? Int == 1)
        #expect([again.status, unclear.status, unknown.status] == [1, 64, 1])
        _ = try await rig.object("buy", "com.example.monkeycredits.credits5")
        let left = try await rig.object("session", "revoke", "--customer", "customer")
        #expect(left["ended"] as? Int == 1)
    }

    @Test func `realms are made, used, listed and deleted`() async throws {
        let store = try await rig.serve()

        let made = try await rig.object("realm", "create", "test-1", "--seed", "7")
        let production = try await rig.object("realm", "create", "shop", "--production")
        let taken = try await rig.run("shopkeeper", "realm", "create", "test-1")
        let customer = try await rig.object("customer", "create", "ann", "--realm", "test-1")
        let names = try await rig.list("realm", "list").map { $0["name"] as? String }
        let unasked = try await rig.run("shopkeeper", "realm", "delete", "test-1")
        let kept = try await rig.list("realm", "list").map { $0["name"] as? String }
        _ = try await rig.object("realm", "delete", "test-1", "--yes")
        let left = try await rig.list("realm", "list").map { $0["name"] as? String }

        #expect(unasked.status == 64 && unasked.errors.contains("--yes"))
        #expect(kept == names)
        #expect(made["environment"] as? String == "Sandbox")
        #expect(production["environment"] as? String == "Production")
        #expect(taken.status == 1)
        #expect(customer["name"] as? String == "ann")
        #expect(names.sorted { $0 ?? "" < $1 ?? "" } == ["default", "shop", "test-1"])
        #expect(left.sorted { $0 ?? "" < $1 ?? "" } == ["default", "shop"])
        store.kill(SIGINT)
        #expect(await store.outcome().status == 0)
    }

    @Test func `the root certificate is one that openssl reads, in both forms`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }

        _ = try await rig.object("certificate", "root", "-o", "root.cer")
        _ = try await rig.object("certificate", "root", "-o", "root.pem")
        let der = try await rig.run(
            "openssl", "x509", "-inform", "DER", "-in", "root.cer", "-noout", "-fingerprint")
        let pem = try await rig.run("openssl", "x509", "-in", "root.pem", "-noout", "-fingerprint")

        #expect(der.status == 0)
        #expect(der.output == pem.output)
    }

    @Test func `the variables come in three forms`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }

        let json = try await rig.object("env")
        let shell = try await rig.run(
            "sh", "-c", "eval \"$(shopkeeper env)\"; printf %s \"$SHOPKEEPER_URL\"")
        let dotenv = try await rig.run("shopkeeper", "env", "--format", "dotenv")

        #expect(shell.output == json["SHOPKEEPER_URL"] as? String)
        #expect(dotenv.output.contains("SHOPKEEPER_BUNDLE_ID=\"com.example.monkeycredits\""))
        let key = try #require(json["SHOPKEEPER_SERVER_KEY"] as? String)
        #expect(
            try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int
                == 0o600)
    }

    @Test func `a data directory has one server, and a port one listener`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let url = try #require(try await rig.object("status")["url"] as? String)
        let port = try #require(url.split(separator: ":").last.map(String.init))

        let sameData = try await rig.run("shopkeeper", "serve", "--port", "0")
        let samePort = try await rig.run(
            "shopkeeper", "serve", "--port", port, "--data", "elsewhere")

        #expect(sameData.status == 73)
        #expect(samePort.status == 73)
        #expect(try await rig.object("status")["url"] as? String == url)
    }

    @Test func `a store killed leaves nothing that stands in the way`() async throws {
        let store = try await rig.serve()
        store.kill(SIGKILL)
        _ = await store.outcome()

        #expect(try await rig.run("shopkeeper", "status").status == 69)
        let again = try await rig.serve()
        #expect(try await rig.object("status")["status"] as? String == "ready")
        again.kill(SIGTERM)
    }

    @Test func `in memory, keys outlive the run and purchases do not`() async throws {
        let first = try await rig.serve("--in-memory")
        _ = try await rig.object("buy", "com.example.monkeycredits.credits5")
        let root = try await rig.object("certificate", "root")["certificate"] as? String
        first.kill(SIGTERM)
        _ = await first.outcome()

        let second = try await rig.serve("--in-memory")
        defer { second.kill(SIGTERM) }

        #expect(try await rig.list("transaction", "list").isEmpty)
        #expect(try await rig.object("certificate", "root")["certificate"] as? String == root)
    }

    @Test func `an earlier payment's outcome is not taken for this one's`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }

        let refused = try await rig.run("shopkeeper", "buy", "com.example.nothing")
        let left = try await rig.object(
            "buy", "com.example.monkeycredits.credits10", "--unfinished")
        let bought = try await rig.object("buy", "com.example.monkeycredits.credits5")

        #expect(refused.status == 1)
        #expect(left["productId"] as? String == "com.example.monkeycredits.credits10")
        #expect(left["isFinished"] as? Bool == false)
        #expect(bought["productId"] as? String == "com.example.monkeycredits.credits5")
        #expect(bought["isFinished"] as? Bool == true)
    }

    @Test func `a repeat of what is not finished says that nothing is charged`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let product = "com.example.monkeycredits.credits5"

        let first = try await rig.run("shopkeeper", "buy", product, "--unfinished")
        let repeated = try await rig.run("shopkeeper", "buy", product)
        let next = try await rig.run("shopkeeper", "buy", product)

        #expect(first.output.hasPrefix("Bought 1 × "), "\(first.output)")
        #expect(repeated.output.hasPrefix("Bought before: 1 × "), "\(repeated.output)")
        #expect(next.output.hasPrefix("Bought 1 × "), "\(next.output)")
        #expect(try await rig.list("transaction", "list").count == 2)
    }
}
