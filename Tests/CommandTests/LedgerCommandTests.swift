// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A store and a ledger as two programs: bought, told, booked, spent.
@Suite(.timeLimit(.minutes(5))) struct LedgerCommandTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    private func ledger(_ options: String...) async throws -> ChildProcess {
        let ledger = try ChildProcess(
            ["shopkeeper", "ledger", "serve", "--port", "0"] + options,
            environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))
        guard await ledger.line(with: "Notifications go to") != nil else {
            throw Unexpected(await ledger.outcome().errors)
        }
        return ledger
    }

    @Test func `what was bought is taken, listed and spent once`() async throws {
        let product = "com.example.monkeycredits.credits5"
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let first = try await ledger()
        let bought = try await rig.object("buy", product, "--quantity", "2")
        let signed = try #require(bought["signedTransactionInfo"] as? String)

        let taken = try await rig.object("ledger", "take", signed, "--account", "blob")
        let other = try await rig.run(
            "shopkeeper", "ledger", "take", signed, "--account", "glob")
        let spent = try await rig.object(
            "ledger", "redeem", "blob", "--product", product, "--purpose", "feed", "--key", "a")
        first.kill(SIGTERM)
        #expect(await first.outcome().status == 0)
        #expect(try await rig.run("shopkeeper", "ledger", "list", "blob").status == 69)

        let second = try await ledger()
        let again = try await rig.object(
            "ledger", "redeem", "blob", "--product", product, "--purpose", "feed", "--key", "a")
        let contradiction = try await rig.run(
            "shopkeeper", "ledger", "redeem", "blob", "--product", product, "--purpose",
            "another", "--key", "a")
        let left = try await rig.list("ledger", "list", "blob")

        #expect(taken["transactionId"] as? String == bought["transactionId"] as? String)
        #expect(taken["unspent"] as? Int == 2)
        #expect(other.status == 1)
        #expect(other.errors.contains("claimed"))
        #expect(spent["unit"] as? Int == 1)
        #expect(spent["redeemedDate"] as? Int == again["redeemedDate"] as? Int)
        #expect(again["unit"] as? Int == 1)
        #expect(contradiction.status == 1)
        #expect(contradiction.errors.contains("purpose"))
        #expect(left.map { $0["unspent"] as? Int } == [1])
        second.kill(SIGINT)
        #expect(await second.outcome().status == 0)
    }

    @Test func `a ledger that can believe nobody does not start`() async throws {
        let nobody = try await rig.run("shopkeeper", "ledger", "serve", "--port", "0")
        let odd = try await rig.run(
            "shopkeeper", "ledger", "serve", "--environment", "Moon", "--json")
        let missing = try await rig.run(
            "shopkeeper", "ledger", "serve", "--trust", "nowhere.pem", "--bundle-id", "a")

        #expect(nobody.status == 64)
        #expect(nobody.errors.contains("root certificate"))
        #expect(odd.status == 64)
        #expect(odd.errors.contains("environmentUnknown"))
        #expect(missing.status == 65)
    }
}
