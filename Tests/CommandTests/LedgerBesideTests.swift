// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A store with a ledger in one process.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct LedgerBesideTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    private func serve() throws -> ChildProcess {
        try ChildProcess(
            [
                "shopkeeper", "serve", "--port", "0", "--with-ledger", "--ledger-port", "0",
                "--data", "shop", "--json",
            ], environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))
    }

    @Test func `a ledger beside its store hears of its sales, and ends with it`() async throws {
        let (product, account) = (
            "com.example.monkeycredits.credits5", "00000000-0000-4000-8000-000000000001"
        )
        let books = rig.path("shop-ledger")

        let first = try serve()
        #expect(await first.line(with: "serverKey") != nil)
        _ = try await rig.object("buy", product, "--username", account)
        try await until("the notification is booked") {
            try await !rig.list("ledger", "balance", account).isEmpty
        }
        let keys = try await rig.list("ledger", "key", "list").compactMap { $0["scope"] as? String }
        first.kill(SIGTERM)
        let outcome = await first.outcome()
        #expect(!FileManager.default.fileExists(atPath: books + "/run.json"))
        let second = try serve()
        #expect(await second.line(with: "root") != nil)
        let balances = try await rig.list("ledger", "balance", account, "--data", books)
        second.kill(SIGTERM)

        #expect(outcome.status == 0)
        #expect(keys.sorted() == ["app", "server"])
        #expect(balances.map { $0["balance"] as? Int } == [1])
        #expect(await !second.outcome().output.contains("serverKey"))
    }

    @Test func `a ledger of the same process is for a store in files alone`() async throws {
        let memory = try await rig.run("shopkeeper", "serve", "--with-ledger", "--in-memory")
        let alone = try await rig.run("shopkeeper", "serve", "--ledger-port", "0")

        #expect([memory.status, alone.status] == [64, 64])
        #expect(memory.errors.contains("--in-memory"))
        #expect(alone.errors.contains("--ledger-port"))
    }
}
