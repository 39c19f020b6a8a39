// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A store and a ledger as two programs: bought, told, booked, spent.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct LedgerCommandTests {
    let rig: Rig

    init() throws {
        rig = try Rig(hasOwnKeys: true)
    }

    @Test func `what was bought is taken, listed and spent once`() async throws {
        let product = "com.example.monkeycredits.credits5"
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let first = try await rig.ledger()
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

        let second = try await rig.ledger()
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

    @Test func `an earlier system's purchases are imported, and the books compared with the store`()
        async throws
    {
        let product = "com.example.monkeycredits.credits5"
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let key = try await rig.object("key", "create")
        let word = { (name: String) in try #require(key[name] as? String) }
        let url = try #require(try await rig.object("status")["url"] as? String)
        let ledger = try await rig.ledger([
            "--api-key", try word("file"), "--api-key-id", try word("keyId"), "--api-issuer",
            try word("issuerId"), "--sandbox-api-url", url, "--calls-per-second", "1000",
        ])
        defer { ledger.kill(SIGTERM) }
        var ids: [String] = []
        for _ in 1...2 {
            let bought = try await rig.object("buy", product, "--quantity", "2")
            ids.append(try #require(bought["transactionId"] as? String))
            _ = try await rig.run("shopkeeper", "finish", ids[ids.count - 1])
        }
        try Data("user,transaction\nblob,\(ids[0])\nblob,1\nblob\n".utf8)
            .write(to: URL(fileURLWithPath: rig.path("old.csv")))

        let imported = try await rig.run("shopkeeper", "ledger", "import", "old.csv", "--json")
        let again = try await rig.run("shopkeeper", "ledger", "import", "old.csv", "--json")
        let compared = try await rig.run("shopkeeper", "ledger", "reconcile", "--json")
        let fixed = try await rig.list("ledger", "reconcile", "--account", "blob", "--fix")
        let left = try await rig.list("ledger", "list", "blob")
        // Nobody knows yet what the store will say about a number.
        store.kill(SIGTERM)
        _ = await store.outcome()
        try Data("blob,2\n".utf8).write(to: URL(fileURLWithPath: rig.path("late.csv")))
        let late = try await rig.run("shopkeeper", "ledger", "import", "late.csv", "--json")
        let later = try await rig.run("shopkeeper", "ledger", "import", "late.csv")

        #expect(imported.status == 1, "\(imported.errors)")
        #expect(try results(imported) == ["booked", "transactionUnknown", "lineInvalid"])
        // What was booked is not done again, and what was refused is.
        #expect(again.status == 1)
        #expect(try results(again) == ["transactionUnknown", "lineInvalid"])
        #expect(compared.status == 1, "\(compared.errors)")
        #expect(compared.output.contains("unknownTransaction"))
        #expect(fixed.count == 1)
        #expect(Set(left.compactMap { $0["transactionId"] as? String }) == Set(ids))
        #expect(late.status == 1 && later.status == 1, "\(late.errors)\(later.errors)")
        #expect(try results(late) == ["kept"])
        #expect(later.output.contains("Booked 0 of 1 lines. 1 wait for the store"))
    }

    private func results(_ outcome: ChildProcess.Outcome) throws -> [String] {
        let value = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
        return try #require(value as? [[String: Any]]).compactMap { $0["result"] as? String }
    }

    @Test func `a ledger without a trusted root does not start`() async throws {
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

    @Test func `ledgers that share a database spend each unit once`() async throws {
        let product = "com.example.monkeycredits.credits5"
        let database = try await rig.database()
        let store = try await rig.serve()
        let folders = [rig.path("one"), rig.path("other")]
        var ledgers: [ChildProcess] = []
        for folder in folders {
            ledgers.append(try await rig.ledger(["--database", database, "--data", folder]))
        }
        let bought = try await rig.object("buy", product, "--quantity", "3")
        let signed = try #require(bought["signedTransactionInfo"] as? String)
        _ = try await rig.object(
            "ledger", "take", signed, "--account", "blob", "--data", folders[0])

        let rig = rig
        let statuses = try await withThrowingTaskGroup(of: Int32.self) { group in
            for racer in 0..<8 {
                group.addTask {
                    try await rig.run(
                        "shopkeeper", "ledger", "redeem", "blob", "--product", product,
                        "--purpose", "feed", "--key", "racer-\(racer)", "--data",
                        folders[racer % 2]
                    ).status
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        ledgers[0].kill(SIGKILL)
        let left = try await rig.list("ledger", "list", "blob", "--data", folders[1])

        #expect(statuses.sorted() == [0, 0, 0, 1, 1, 1, 1, 1])
        #expect(left.isEmpty)
        ledgers[1].kill(SIGTERM)
        #expect(await ledgers[1].outcome().status == 0)
        store.kill(SIGTERM)
    }

    @Test func `a ledger's unreachable database is reported`() async throws {
        let store = try await rig.serve()
        let outcome = try await rig.run(
            "shopkeeper", "ledger", "serve", "--port", "0", "--database",
            "host=\(rig.path("none"))", "--json")

        #expect(outcome.status == 69)
        #expect(outcome.errors.contains("databaseUnreachable"))
        store.kill(SIGTERM)
    }

    @Test func `production is not booked on a server that may forget`() async throws {
        let database = try await rig.database()
        let name = database.split(separator: "=").last.map(String.init) ?? ""
        let changed = try await rig.run(
            "psql", "-q", database, "-c", "ALTER DATABASE \(name) SET synchronous_commit = off")
        try #require(changed.status == 0, "\(changed.errors)")
        let store = try await rig.serve()

        let refused = try await rig.run(
            "shopkeeper", "ledger", "serve", "--port", "0", "--database", database, "--trust",
            rig.path(".shopkeeper/root.pem"), "--bundle-id", "com.example.a", "--environment",
            "Production", "--json")

        #expect(refused.status == 69)
        #expect(refused.errors.contains("synchronous_commit"))
        store.kill(SIGTERM)
    }
}
