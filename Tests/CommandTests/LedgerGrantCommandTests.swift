// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A ledger whose products grant, as a program: from the first file to the spending.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct LedgerGrantCommandTests {
    let rig: Rig

    init() throws {
        rig = try Rig(hasOwnKeys: true)
    }

    private func write(_ text: String, as name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: rig.folder.file(name)))
    }

    @Test func `a first file is checked, and its mistakes are named by line`() async throws {
        let catalogue =
            try PackageRoot.path() + "/Samples/MonkeyCredits/MonkeyCredits.storekit"
        try write("products:\n  p:\n    credits: coins\n    amount: many\n", as: "bad.yaml")

        let written = try await rig.object("ledger", "init", catalogue)
        let checked = try await rig.object("ledger", "check", "ledger.yaml")
        let again = try await rig.run("shopkeeper", "ledger", "init", catalogue)
        let bad = try await rig.run("shopkeeper", "ledger", "check", "bad.yaml")
        let served = try await rig.run(
            "shopkeeper", "ledger", "serve", "--config", "bad.yaml", "--json")

        #expect(written["file"] as? String == "ledger.yaml")
        #expect((checked["products"] as? [String])?.isEmpty == false)
        #expect(again.status == 73)
        #expect([bad.status, served.status] == [65, 65])
        #expect(bad.errors.contains("bad.yaml:4: an amount is a whole number"))
    }

    /// Both look at what the file refers to, before anything is served.
    @Test func `check and serve refuse the same files, with the same lines`() async throws {
        try write(
            """
            ledger:
              trust:
                - missing.pem
              environment: Production
              metricsKey: missing.key
            accounts:
              jwt:
                jwks: missing.json
                issuer: a
                audience: b
            webhooks:
              - url: http://merchant.example
                secretFile: missing.secret
              - url: https://merchant.example
                secretFile: open.secret
            """, as: "ledger.yaml")
        try write("whsec_", as: "open.secret")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: rig.folder.file("open.secret"))

        let checked = try await rig.run("shopkeeper", "ledger", "check", "ledger.yaml")
        let served = try await rig.run("shopkeeper", "ledger", "serve", "--config", "ledger.yaml")

        for outcome in [checked, served] {
            #expect(outcome.status == 65)
            let lines = outcome.errors.split(separator: "ledger.yaml:").dropFirst()
                .compactMap { Int($0.prefix { $0.isNumber }) }
            #expect(lines == [3, 5, 8, 12, 13, 15], "\(outcome.errors)")
        }
    }

    @Test func `what was bought is granted, shown and spent`() async throws {
        let product = "com.example.monkeycredits.credits5"
        try write(
            """
            ledger:
              data: books
              logLevel: error
            products:
              \(product):
                - {credits: bananas, amount: 5}
                - {entitlement: monkey, lasts: forever}
            """, as: "ledger.yaml")
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let plain = try await rig.ledger(["--data", "books"])
        let bought = try await rig.object("buy", product, "--quantity", "2")
        let signed = try #require(bought["signedTransactionInfo"] as? String)
        let transaction = try #require(bought["transactionId"] as? String)
        _ = try await rig.object("ledger", "take", signed, "--account", "blob")
        plain.kill(SIGTERM)
        #expect(await plain.outcome().status == 0)

        // Configured only now: the start grants it, and `apply` finds nothing more.
        let ledger = try await rig.ledger(["--config", "ledger.yaml"])
        defer { ledger.kill(SIGTERM) }
        _ = try await rig.object("ledger", "apply")
        let applied = try await rig.object("ledger", "apply")
        let spent = try await rig.object(
            "ledger", "spend", "blob", "7", "bananas", "--purpose", "lunch", "--key", "a")
        let shown = try await rig.object("ledger", "show", "blob")
        let balances = try await rig.list("ledger", "balance", "blob")
        let why = try await rig.run("shopkeeper", "ledger", "why", "blob", "monkey")
        let whyNot = try await rig.run("shopkeeper", "ledger", "why", "blob", "ape")
        let history = try await rig.run("shopkeeper", "ledger", "history", "blob")
        let export = try await rig.run("shopkeeper", "ledger", "account", "export", "blob")
        let exported = try JSONSerialization.jsonObject(with: Data(export.output.utf8))

        #expect(applied["granted"] as? Int == 0)
        #expect(spent["balance"] as? Int == 3)
        #expect((shown["entitlements"] as? [[String: Any]])?.count == 1)
        #expect(balances.map { $0["balance"] as? Int } == [3])
        #expect([why.status, whyNot.status] == [0, 1])
        #expect(why.output.contains("Granted by transaction \(transaction)"))
        #expect(whyNot.output.contains("No product of this ledger grants ape."))
        #expect(history.output.contains("Spent 7 bananas for lunch; the balance is 3."))
        #expect((exported as? [String: Any])?["account"] as? String == "blob")
    }
}
