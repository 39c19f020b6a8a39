// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire
import TestSupport
import Testing

/// `ledger status|backup|restore`, and what a ledger tells who watches it.
@Suite(.timeLimit(.minutes(5))) struct LedgerDatabaseTests {
    let rig: Rig
    private let product = "com.example.monkeycredits.credits5"

    init() throws {
        rig = try Rig(hasOwnKeys: true)
    }

    private func runFile(_ folder: String) throws -> [String: Any] {
        let file = URL(fileURLWithPath: rig.path(folder + "/run.json"))
        let value = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
        return try #require(value as? [String: Any])
    }

    private func redeem(_ key: String, _ data: String) async throws -> ChildProcess.Outcome {
        try await rig.run(
            "shopkeeper", "ledger", "redeem", "blob", "--product", product, "--purpose", "feed",
            "--key", key, "--json", "--data", data)
    }

    @Test func `a ledger is copied while it books and goes on on PostgreSQL`() async throws {
        let database = try await rig.database()
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let first = try await rig.ledger(["--data", rig.path("a")])
        let bought = try await rig.object("buy", product, "--quantity", "2")
        let signed = try #require(bought["signedTransactionInfo"] as? String)
        _ = try await rig.object(
            "ledger", "take", signed, "--account", "blob", "--data", rig.path("a"))
        let spent = try await redeem("one", rig.path("a"))

        let copied = try await rig.object(
            "ledger", "backup", rig.path("copy"), "--data", rig.path("a"))
        let served = try await rig.run("shopkeeper", "ledger", "status", "--data", rig.path("a"))
        first.kill(SIGTERM)
        _ = await first.outcome()
        let restored = try await rig.run(
            "shopkeeper", "ledger", "restore", rig.path("copy"), "--database", database,
            "--data", rig.path("b"))
        try #require(restored.status == 0, "\(restored.errors)")
        let twice = try await rig.run(
            "shopkeeper", "ledger", "restore", rig.path("copy"), "--database", database,
            "--data", rig.path("b"))
        let second = try await rig.ledger(["--database", database, "--data", rig.path("b")])
        let again = try await redeem("one", rig.path("b"))
        let next = try await redeem("two", rig.path("b"))
        let none = try await redeem("three", rig.path("b"))
        let status = try await rig.object(
            "ledger", "status", "--database", database, "--data", rig.path("b"))
        second.kill(SIGTERM)
        _ = await second.outcome()

        #expect(spent.status == 0)
        #expect((copied["rows"] as? Int ?? 0) >= 4)
        #expect(served.output.contains("served by this machine"))
        #expect(served.output.contains("1 purchases, 1 redemptions"))
        #expect(twice.status == 73)
        #expect(again.output == spent.output)
        #expect([next.status, none.status] == [0, 1])
        let told = try #require(status["status"] as? [String: Any])
        #expect(told["engine"] as? String == "PostgreSQL")
        #expect(told["schema"] as? String == "current")
    }

    @Test func `a changed backup is refused, and so is a store's`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let ledger = try await rig.ledger(["--data", rig.path("a")])
        ledger.kill(SIGTERM)
        _ = await ledger.outcome()
        _ = try await rig.object("ledger", "backup", rig.path("copy"), "--data", rig.path("a"))
        _ = try await rig.object(
            "database", "backup", rig.path("store"), "--data", rig.path(".shopkeeper"))
        let text = try String(contentsOfFile: rig.path("copy"), encoding: .utf8)
        let tampered = text.replacingOccurrences(of: "entitlements", with: "entitlementS")
        try Data(tampered.utf8).write(to: URL(fileURLWithPath: rig.path("tampered")))
        var strange = try ArchiveText(file: rig.path("copy"))
        try strange.put("\"other\"", "door", of: "ledger_keys")
        try strange.write(to: rig.path("strange"))

        for (file, code) in [
            ("tampered", "archiveDamaged"), ("store", "notAnArchive"),
            ("gone", "archiveUnreadable"), ("strange", "archiveInvalid"),
        ] {
            let outcome = try await rig.run(
                "shopkeeper", "ledger", "restore", rig.path(file), "--data", rig.path("b"), "--json"
            )
            #expect(outcome.status == 65)
            #expect(outcome.errors.contains(code), "\(outcome.errors)")
            let isThere = FileManager.default.fileExists(atPath: rig.path("b/ledger.sqlite"))
            #expect(!isThere)
        }
        let missing = try await rig.run(
            "shopkeeper", "ledger", "status", "--data", rig.path("b"), "--json")
        #expect(missing.status == 69)
        #expect(missing.errors.contains("noLedger"))
    }

    @Test func `Prometheus' own library reads a ledger's figures`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let ledger = try await rig.ledger(["--data", rig.path("a")])
        defer { ledger.kill(SIGTERM) }
        let bought = try await rig.object("buy", product)
        let signed = try #require(bought["signedTransactionInfo"] as? String)
        _ = try await rig.object(
            "ledger", "take", signed, "--account", "blob", "--data", rig.path("a"))
        for _ in 1...2 { _ = try await redeem("one", rig.path("a")) }
        let run = try runFile("a")

        let outcome = try await rig.run(
            try Rig.python(), try PackageRoot.path() + "/Tests/Peers/metrics.py",
            run["url"] as? String ?? "", run["metricsKey"] as? String ?? "")

        try #require(outcome.status == 0, "\(outcome.errors)")
        let read = try #require(
            try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        let types = try #require(read["types"] as? [String: String])
        let samples = try #require(read["samples"] as? [String: Double])
        #expect(types["shopkeeper_request_seconds"] == "histogram")
        #expect(types["shopkeeper_ledger_redeemed"] == "counter")
        let route = "route=/ledger/v1/accounts/{}/redemptions,status=200"
        #expect(samples["shopkeeper_requests_total{method=POST,\(route)}"] == 2)
        #expect(samples["shopkeeper_ledger_taken_total"] == 1)
        #expect(samples["shopkeeper_ledger_redeemed_total"] == 1)
        #expect((samples["shopkeeper_commits_total"] ?? 0) >= 3)
    }

    @Test func `a database that may only be read is 503 until it may be written`() async throws {
        let database = try await rig.database()
        let name = try #require(database.components(separatedBy: "dbname=").last)
        let store = try await rig.serve("--database", database, "--data", rig.path("s"))
        defer { store.kill(SIGTERM) }
        let ledger = try await rig.ledger(["--database", database, "--data", rig.path("l")])
        defer { ledger.kill(SIGTERM) }
        let device = try await DeviceClient(rig.path("s"))
        let (shop, book) = (try runFile("s"), try runFile("l"))
        /// From now on, and for the connections that are open.
        func readOnly(_ word: String) async throws {
            let done = try await rig.run(
                "psql", "-q", try await PostgresCluster.shared().conninfo, "-c",
                "ALTER DATABASE \(name) SET default_transaction_read_only = \(word)", "-c",
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
            try #require(done.status == 0, "\(done.errors)")
        }
        func url(_ run: [String: Any]) throws -> String { try #require(run["url"] as? String) }
        func ready(_ run: [String: Any]) async throws -> Int {
            try await rig.ask("GET", try url(run) + "/ready").status
        }
        let purchase = "00000000-0000-4000-8000-00000000000a"
        func buy() async throws -> Rig.Answer {
            try await rig.ask(
                "PUT", try url(shop) + "/device/v1/purchases/\(purchase)",
                #"{"productId":"\#(product)","quantity":1,"unitPrice":990,"currency":"USD"}"#,
                ["Authorization: Bearer \(device.token)"])
        }
        let key = try #require(book["key"] as? String)
        func redeem() async throws -> Rig.Answer {
            try await rig.ask(
                "POST", try url(book) + "/ledger/v1/accounts/blob/redemptions",
                #"{"idempotencyKey":"a","productId":"\#(product)","purpose":"p"}"#,
                ["Authorization: Bearer \(key)"])
        }
        /// Connections that were ended are told so once; then come new ones.
        func settled(
            _ expected: Int, _ code: String?, _ ask: () async throws -> Rig.Answer
        ) async throws -> Rig.Answer {
            var answer = try await ask()
            for _ in 1...20 where answer.status != expected || answer.error?.code != code {
                answer = try await ask()
            }
            return answer
        }
        // Another customer's, because what is unfinished is not sold again.
        _ = try await rig.object("customer", "create", "other", "--data", rig.path("s"))
        let other = try await DeviceClient(rig.path("s"), customer: "other")
        let before = try await other.purchase("00000000-0000-4000-8000-00000000000b")
        _ = try await rig.object(
            "ledger", "take", try #require(before.signedTransaction), "--account", "blob",
            "--data", rig.path("l"))

        try await readOnly("on")
        let refused = [
            try await settled(503, "storageReadOnly", buy),
            try await settled(503, "storageReadOnly", redeem),
        ]
        let unready = [try await ready(shop), try await ready(book)]
        try await readOnly("off")
        let done = [try await settled(200, nil, buy), try await settled(200, nil, redeem)]
        var now = [try await ready(shop), try await ready(book)]
        for _ in 1...20 where now != [200, 200] {
            now = [try await ready(shop), try await ready(book)]
        }

        for answer in refused {
            #expect(answer.status == 503)
            #expect(answer.retryAfter == "5")
            let error = try #require(answer.error)
            #expect(error.code == "storageReadOnly")
            #expect(error.field == "storage")
            #expect(error.rule != nil && error.remedy != nil)
        }
        #expect(unready == [503, 503])
        #expect(done.map(\.status) == [200, 200])
        #expect(now == [200, 200])
        #expect(try await rig.list("transaction", "list", "--data", rig.path("s")).count == 2)
    }
}
