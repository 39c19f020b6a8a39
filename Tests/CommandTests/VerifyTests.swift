// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct VerifyTests {
    private let rig: Rig

    init() throws { rig = try Rig() }

    @Test func `a sale is explained, by the store's root, by a file, and by none`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let sale = try await rig.object("buy", "com.example.monkeycredits.credits5")
        let compact = try #require(sale["signedTransactionInfo"] as? String)
        try Data(compact.utf8).write(to: URL(fileURLWithPath: rig.path("sale.jws")))
        _ = try await rig.object("certificate", "root", "-o", "root.pem")

        let valid = try await rig.run("shopkeeper", "verify", "sale.jws")
        let byFile = try await rig.object("verify", "sale.jws", "--root", "root.pem")
        let apples = try await rig.run("shopkeeper", "verify", "sale.jws", "--root", "apple")
        let early = try await rig.run(
            "shopkeeper", "verify", "sale.jws", "--at", "2001-01-01T00:00:00Z")
        let payload = try await rig.object("verify", "sale.jws", "--payload-only")

        #expect(valid.status == 0)
        #expect(valid.output.contains("VALID: no rule is broken."))
        #expect(byFile["isValid"] as? Bool == true)
        #expect(apples.status == 1)
        #expect(apples.output.contains("FAIL  root"))
        #expect(early.status == 1)
        #expect(early.output.contains("FAIL  signedInFuture"))
        #expect(payload["productId"] as? String == "com.example.monkeycredits.credits5")
    }

    @Test func `what is nothing signed ends with 65`() async throws {
        try Data("hello".utf8).write(to: URL(fileURLWithPath: rig.path("hello.txt")))

        let foreign = try await rig.run("shopkeeper", "verify", "hello.txt", "--root", "apple")
        let missing = try await rig.run("shopkeeper", "verify", "no.jws", "--root", "apple")

        #expect(foreign.status == 65)
        #expect(missing.status == 65)
    }
}
