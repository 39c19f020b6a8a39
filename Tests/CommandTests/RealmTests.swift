// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire
import TestSupport
import Testing

/// Realms that forget, and realms that have an address of their own.
@Suite(.timeLimit(.minutes(5))) struct RealmTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    @Test func `a sandbox is reset, after a yes`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let product = "com.example.monkeycredits.credits5"
        let first = try await rig.object("buy", product)
        _ = try await rig.object("realm", "create", "shop", "--production")

        let unasked = try await rig.run("shopkeeper", "realm", "reset", "default")
        let kept = try await rig.list("transaction", "list").count
        let reset = try await rig.object("realm", "reset", "default", "--yes")
        let gone = try await rig.list("transaction", "list").count
        let production = try await rig.run(
            "shopkeeper", "realm", "reset", "shop", "--yes", "--json")
        let missing = try await rig.run("shopkeeper", "realm", "reset", "nowhere", "--yes")
        // The same device, which signs in again by itself.
        let second = try await rig.object("buy", product)

        #expect(unasked.status == 64)
        #expect(unasked.errors.contains("--yes"))
        #expect(kept == 1 && gone == 0)
        #expect(reset["transactions"] as? Int == 1)
        #expect([production.status, missing.status] == [1, 1])
        let error = try JSONDecoder().decode(WireError.self, from: Data(production.errors.utf8))
        #expect([error.code, error.field] == ["realmIsProduction", "realm"])
        #expect(error.rule != nil && error.remedy != nil)
        let numbers = [first, second].map { $0["transactionId"] as? String }
        #expect(numbers[0] != nil && numbers[0] != numbers[1])
        let audited = try await rig.list("audit", "list").map { $0["deed"] as? String }
        #expect(audited.contains("realm.reset"))
    }

    @Test func `a purchase is for the app that the environment names`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let product = "com.example.monkeycredits.credits5"
        _ = try await rig.object("realm", "create", "test")
        _ = try await rig.object("catalogue", "export", "-o", "Own.storekit")
        _ = try await rig.object(
            "catalogue", "import", "Own.storekit", "--bundle-id", "com.example.zoo", "--realm",
            "test")
        func buy(as app: String?) async throws -> ChildProcess.Outcome {
            try await rig.run(
                "shopkeeper", "buy", product, "--realm", "test", "--json",
                with: app.map { ["SHOPKEEPER_BUNDLE_ID": $0] } ?? [:])
        }

        let served = try await buy(as: nil)
        let named = try await buy(as: "com.example.zoo")

        #expect(served.status != 0, "the realm does not have the app that is served")
        #expect(named.status == 0, "\(named.errors)")
        let sold = try await rig.list("transaction", "list", "--realm", "test")
        #expect(sold.count == 1)
    }

    @Test func `a realm is found by its port`() async throws {
        let store = try await rig.serve("--realm-port", "test=0", "--realm-host", "test=test.store")
        defer { store.kill(SIGTERM) }
        _ = try await rig.object("realm", "create", "test")
        _ = try await rig.object("customer", "create", "only here", "--realm", "test")
        let run = try JSONSerialization.jsonObject(
            with: Data(contentsOf: URL(fileURLWithPath: rig.path(".shopkeeper/run.json"))))
        let told = try #require(run as? [String: Any])
        let urls = try #require(told["realmUrls"] as? [String: String])
        let url = try #require(told["url"] as? String)
        let key = try #require(told["operatorKey"] as? String)

        func customers(_ url: String, host: String = "127.0.0.1") async throws -> String {
            try await rig.ask(
                "GET", url + "/operator/v1/customers", "",
                ["Authorization: Bearer \(key)", "Host: \(host)"]
            ).body
        }

        let test = try #require(urls["test"])
        #expect(test != url)
        #expect(try await customers(test).contains("only here"))
        #expect(try await !customers(url).contains("only here"))
        #expect(try await customers(url, host: "test.store").contains("only here"))
    }

    @Test(arguments: [
        (["--realm-host", "test"], "realmOptionInvalid"),
        (["--realm-host", "Te st=a.b"], "realmOptionInvalid"),
        (["--realm-host", "test=a b"], "realmHostInvalid"),
        (["--realm-host", "test=a.b", "--realm-host", "live=A.b"], "realmOptionTwice"),
        (["--realm-port", "test=moon"], "portInvalid"),
        (["--realm-port", "test=70000"], "portInvalid"),
        (["--realm-port", "test=4001", "--realm-port", "live=4001"], "realmOptionTwice"),
        (["--realm-port", "test=4001", "--realm-port", "test=4002"], "realmOptionTwice"),
    ])
    func `an address that cannot be a realm's is refused`(
        options: [String], code: String
    ) async throws {
        let outcome = try await ChildProcess.run(
            ["shopkeeper", "serve", "--port", "0", "--json"] + options,
            environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))

        let error = try JSONDecoder().decode(WireError.self, from: Data(outcome.errors.utf8))
        #expect(outcome.status == 64)
        #expect(error.code == code)
        #expect(error.field?.hasPrefix("--realm-") == true)
        #expect(error.rule != nil && error.remedy != nil)
    }
}
