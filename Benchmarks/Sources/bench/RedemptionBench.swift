// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Ledger
import Storage
import StoreWire

/// Redemptions a second on one hot account and spread over many, at the ledger's port and
/// through HTTP, against pgbench's update of one row by as many clients. On SQLite also
/// against the storage's own durable updates of a row.
struct RedemptionBench {
    /// Whose units are spent.
    private enum Spread: String, CaseIterable {
        case hot = "one hot account"
        case wide = "10,000 accounts"
    }

    private static let accounts = Brief.or(10_000, brief: 20)
    private static let quantity = 10_000
    private static let product = "com.example.coins"
    let engine: BenchEngine
    private let count = Brief.or(2048, brief: 64)
    private let pairs = Brief.or(Pairs.pairsMin, brief: 1)
    private let sales: SignedSale

    init(engine: BenchEngine) throws {
        self.engine = engine
        sales = try SignedSale()
    }

    func run() async throws -> Bench.Outcome {
        progress("redemptions, \(engine.name): \(Self.accounts) accounts, twice")
        let (outer, inner, bare) = (
            try engine.another(), try engine.another(), try engine.another()
        )
        let served = try await ServedLedger(sales.setup, outer.conninfo, prepare: book)
        defer { served.end() }
        let local = try await ServedLedger(sales.setup, inner.conninfo, prepare: book)
        defer { local.end() }
        local.process.kill()
        let ledger = try await BenchLedger.open(in: local.folder, inner.conninfo)
        let counters = try await Counters(bare, accounts: Self.accounts)
        let pgbench: Counters?
        if case .files = engine {
            pgbench = try await Counters(try .postgres(), accounts: Self.accounts)
        } else {
            pgbench = nil
        }
        var figures: [Pairs] = []
        for spread in Spread.allCases {
            for clients in [1, 16] {
                figures += try await measure(
                    spread, clients, ledger, served, pgbench ?? counters,
                    beside: pgbench == nil ? nil : counters)
            }
        }
        await ledger.close()
        await counters.close()
        await pgbench?.close()
        return (figures, [])
    }

    private func measure(
        _ spread: Spread, _ clients: Int, _ ledger: Ledger, _ served: ServedLedger,
        _ counters: Counters, beside others: Counters?
    ) async throws -> [Pairs] {
        let what = "\(engine.name): redemptions, \(spread.rawValue), \(clients) client(s)"
        let bare = "\(counters.name) of a row"
        // What is asked is of an account that many use at once.
        let asked: Double? = spread == .hot && clients > 1 ? 0.5 : nil
        var port = Pairs("\(what), at the port / \(bare)", atLeast: asked)
        var http = Pairs("\(what), through HTTP / \(bare)", atLeast: nil)
        var own = Pairs("\(what), at the port / \(others?.name ?? bare)", atLeast: nil)
        (port.perOperation, http.perOperation) = (count, count)
        let rows = spread == .hot ? 1 : Self.accounts
        for number in 0...pairs {
            progress("\(what), pair \(number) of \(pairs)")
            let updates = try await counters.count(count, clients, rows: rows)
            let ours = try await secondsAwaited { try await redeem(ledger, spread, clients) }
            let requests = try (0..<count).map { _ in
                try served.asker.post(
                    "/ledger/v1/accounts/\(Self.account(spread))/redemptions", Self.wish())
            }
            let outside = try served.asker.seconds(requests, connections: clients)
            let durable = try await others?.count(count, clients, rows: rows)
            // The first is for warming up.
            guard number > 0 else { continue }
            port.add(bare: updates, ours: ours)
            http.add(bare: updates, ours: outside)
            if let durable { own.add(bare: durable, ours: ours) }
        }
        return [port, http] + (others == nil ? [] : [own])
    }

    private static func account(_ spread: Spread) -> String {
        spread == .hot ? "hot" : "account-\(Int.random(in: 0..<accounts))"
    }

    private static func wish() -> RedeemRequest {
        RedeemRequest(
            idempotencyKey: UUID().uuidString, productId: product, purpose: "a banana")
    }

    private func redeem(_ ledger: Ledger, _ spread: Spread, _ clients: Int) async throws {
        let each = count / clients
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<clients {
                group.addTask {
                    for _ in 0..<each {
                        _ = try await ledger.redeem(
                            Self.wish(), account: Self.account(spread))
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Books what is redeemed: enough for the hot account, and one purchase for each other.
    private func book(_ ledger: Ledger) async throws {
        let needed = 2 * (pairs + 1) * count
        let hot = needed / Self.quantity + 1
        let (sales, all) = (sales, hot + Self.accounts)
        let signed = try await made(0..<all) {
            try sales.transaction($0, quantity: Self.quantity)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for part in 0..<16 {
                group.addTask {
                    for number in stride(from: part, to: all, by: 16) {
                        _ = try await ledger.take(
                            TakePurchaseRequest(
                                signedTransaction: signed[number],
                                account: number < hot ? "hot" : "account-\(number - hot)"))
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// A table of numbers that are counted up, a row a commit.
private struct Counters {
    private static let up = Statement(
        "bench.count", [.integer], "UPDATE bench_counters SET n = n + 1 WHERE id = $1")
    private let engine: BenchEngine
    private let folder: URL
    private let storage: any Storage
    let name: String

    init(_ engine: BenchEngine, accounts: Int) async throws {
        self.engine = engine
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("bench-counters-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        storage = try await BenchLedger.storage(in: folder, engine.conninfo)
        if case .files = engine { name = "durable updates" } else { name = "pgbench's update" }
        let table = Statement(
            "bench.counters",
            "CREATE TABLE bench_counters (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)")
        let row = Statement(
            "bench.counter", [.integer], "INSERT INTO bench_counters (id, n) VALUES ($1, 0)")
        try await storage.write { writing in
            try writing.execute(table, [])
            for id in 1...Int64(accounts) { try writing.execute(row, [.integer(id)]) }
        }
    }

    func close() async {
        try? await storage.close()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Seconds of so many updates of random rows by so many clients.
    func count(_ count: Int, _ clients: Int, rows: Int) async throws -> Double {
        guard case .server(let postgres) = engine else {
            return try await secondsAwaited { try await update(count, clients, rows: rows) }
        }
        let script = folder.appendingPathComponent("count-\(rows).sql")
        try """
        \\set id random(1, \(rows))
        UPDATE bench_counters SET n = n + 1 WHERE id = :id;

        """.write(to: script, atomically: true, encoding: .utf8)
        let rate = try postgres.pgbench(
            script, clients: clients, transactions: count, schema: BenchLedger.schema)
        return Double(count) / rate
    }

    private func update(_ count: Int, _ clients: Int, rows: Int) async throws {
        let (storage, each) = (storage, count / clients)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<clients {
                group.addTask {
                    for _ in 0..<each {
                        let id = SQLValue.integer(Int64.random(in: 1...Int64(rows)))
                        try await storage.write { try $0.execute(Self.up, [id]) }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
