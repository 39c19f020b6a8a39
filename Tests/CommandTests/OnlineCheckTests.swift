// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Apple's own library asks a served store whether its certificates hold.
@Suite(.timeLimit(.minutes(5))) struct OnlineCheckTests {
    let rig: Rig

    init() throws {
        rig = try Rig(hasOwnKeys: true)
    }

    @Test func `a leaf that holds is good, one that was revoked is not`() async throws {
        let store = try await rig.serve()
        let product = "com.example.monkeycredits.credits5"
        let bought = try await rig.run("shopkeeper", "buy", product)
        try #require(bought.status == 0, "\(bought.errors)")
        let old = try await signed()
        let leaf = try #require(
            try await rig.list("certificate", "list").first {
                $0["role"] as? String == "transactions" && $0["isInUse"] as? Bool == true
            }?["serialNumber"] as? String)

        let before = try await judged([old])
        let held = try await verify(old)
        let rotated = try await rig.run("shopkeeper", "certificate", "rotate", "--intermediate")
        try #require(rotated.status == 0, "\(rotated.errors)")
        let new = try await signed()
        let revoked = try await rig.run("shopkeeper", "certificate", "revoke", leaf)
        try #require(revoked.status == 0, "\(revoked.errors)")
        let after = try await judged([old, new])
        let (refused, told) = (try await verify(old), try await verify(old, "--json"))
        let ledger = try await rig.ledger(["--data", rig.path("strict")])
        let taken = try await rig.run(
            "shopkeeper", "ledger", "take", old, "--account", "a", "--data", rig.path("strict"))
        let fresh = try await rig.run(
            "shopkeeper", "ledger", "take", new, "--account", "a", "--data", rig.path("strict"))
        ledger.kill(SIGTERM)
        store.kill(SIGTERM)

        #expect(before == ["good"])
        #expect(after == ["VERIFICATION_FAILURE", "good"])
        #expect(held.status == 0, "\(held.output)")
        #expect(refused.status == 1)
        #expect(refused.output.contains("FAIL  status: a certificate was revoked"))
        #expect(told.output.contains("VERIFICATION_FAILURE with online checks"))
        #expect(taken.status == 1)
        #expect(taken.errors.contains("certificateRevoked") || taken.errors.contains("revoked"))
        #expect(fresh.status == 0, "\(fresh.errors)")
    }

    @Test func `a store on any free port comes back to the one that its certificates name`()
        async throws
    {
        let first = try await rig.serve()
        let bought = try await rig.run("shopkeeper", "buy", "com.example.monkeycredits.credits5")
        try #require(bought.status == 0, "\(bought.errors)")
        let old = try await signed()
        let url = try await rig.object("status")["url"] as? String
        first.kill(SIGTERM)
        _ = await first.outcome()

        let again = try await rig.serve()
        let judged = try await judged([old, try await signed()])
        let now = try await rig.object("status")["url"] as? String
        again.kill(SIGTERM)

        #expect(url == now)
        #expect(judged == ["good", "good"])
    }

    @Test func `production's certificates name no address that only this machine can ask`()
        async throws
    {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        _ = try await rig.object("realm", "create", "shop", "--production")
        let folder = rig.path(".shopkeeper/keys")
        let text = { (kind: String) in
            try String(contentsOfFile: "\(folder)/\(kind)/authority.json", encoding: .utf8)
        }

        #expect(try await addresses(text("sandbox")) == 3)
        #expect(try await addresses(text("production")) == 0)
    }

    /// How many of an authority's certificates say where to ask.
    private func addresses(_ authority: String) async throws -> Int {
        let files = try JSONDecoder().decode([String: String].self, from: Data(authority.utf8))
        var count = 0
        for (name, pem) in files where pem.contains("BEGIN CERTIFICATE") {
            try Data(pem.utf8).write(to: URL(fileURLWithPath: rig.path(name)))
            let shown = try await rig.run(
                "openssl", "x509", "-in", name, "-noout", "-ocsp_uri")
            if shown.output.contains("/certificates/status") { count += 1 }
        }
        return count
    }

    private func verify(
        _ compact: String, _ options: String...
    ) async throws -> ChildProcess.Outcome {
        try Data(compact.utf8).write(to: URL(fileURLWithPath: rig.path("online.jws")))
        return try await ChildProcess.run(
            ["shopkeeper", "verify", "online.jws", "--online"] + options,
            environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))
    }

    private func signed() async throws -> String {
        let list = try await rig.list("transaction", "list")
        return try #require(list.first?["signedTransactionInfo"] as? String)
    }

    private func judged(_ signed: [String]) async throws -> [String] {
        let root = try await rig.run("shopkeeper", "certificate", "root", "-o", "root.cer")
        try #require(root.status == 0, "\(root.errors)")
        let script = try PackageRoot.path() + "/Tests/Peers/online_checks.py"
        let outcome = try await ChildProcess.run(
            [try Rig.python(), script, rig.path("root.cer"), "com.example.monkeycredits"] + signed,
            environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome.output.split(separator: "\n").map(String.init)
    }
}
