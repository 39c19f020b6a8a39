// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Ledger
import Shop
import StoreWire

/// The merchant's ledger from outside: what an account may use against a bare answer of the
/// same size, notifications, and a proof by each road.
struct LedgerBench {
    let engine: BenchEngine
    private let connections = 16
    private let rounds = Brief.or(9, brief: 2)
    private let accounts = Brief.or(1000, brief: 20)
    private let sales: SignedSale

    init(engine: BenchEngine) throws {
        self.engine = engine
        sales = try SignedSale()
    }

    func run() async throws -> Bench.Outcome {
        let place = try engine.another()
        let served = try await ServedLedger(sales.setup, place.conninfo, prepare: book)
        defer { served.end() }
        let read = try reads(served.asker)
        let notes = read.notes + (try await proofs(served.asker)) + (try await news(served.asker))
        return ([read.figure], notes)
    }

    private static func account(_ number: Int) -> String {
        String(format: "00000000-0000-4000-8000-%012d", number)
    }

    /// Each account subscribes and owns something.
    private func book(_ ledger: Ledger) async throws {
        progress("entitlements, \(engine.name): \(accounts) accounts")
        let sales = sales
        let signed = try await made(0..<accounts) { number in
            (
                try sales.renewal(of: number, 0, account: Self.account(number)),
                try sales.transaction(
                    number * 1000 + 999, product: "com.example.pro", type: "Non-Consumable")
            )
        }
        for (number, (news, owned)) in signed.enumerated() {
            _ = try await ledger.take(news)
            _ = try await ledger.take(
                TakePurchaseRequest(signedTransaction: owned, account: Self.account(number)))
        }
    }

    /// What accounts may use, requests a second and waits, in turns with a bare server that
    /// answers as many bytes.
    private func reads(_ asker: Asker) throws -> (figure: Pairs, notes: [String]) {
        progress("entitlements, \(engine.name)")
        let requests = (0..<Brief.or(2000, brief: 40) * connections).map { number in
            asker.get("/ledger/v1/accounts/\(Self.account(number % accounts))/entitlements")
        }
        let answer = try asker.ask(requests[0])
        let told = try JSONDecoder().decode(Told.self, from: Data(answer))
        guard told.entitlements.filter(\.isActive).map(\.name).sorted() == ["premium", "pro"]
        else { throw ClientFailure(String(decoding: answer, as: UTF8.self)) }
        let plain = try ServedProcess(arguments: ["plain", "\(answer.count)"])
        defer { plain.kill() }
        let bare = Asker(port: plain.port, token: "none")
        let bareRequests = Array(repeating: bare.get("/plain"), count: requests.count)
        var figure = Pairs(
            "\(engine.name): what an account may use, requests a second / a bare answer of "
                + "\(answer.count) bytes", atLeast: 0.5)
        figure.perOperation = requests.count
        for _ in 0..<rounds {
            figure.add(
                bare: try bare.seconds(bareRequests, connections: connections),
                ours: try asker.seconds(requests, connections: connections))
        }
        let some = Array(requests.prefix(requests.count / connections))
        return (
            figure,
            [
                "\(engine.name): what an account may use: \(try asker.waits(some))",
                "a bare answer of its size: \(try bare.waits(bare.get("/plain"), some.count))",
            ]
        )
    }

    private struct Told: Decodable {
        struct Entitlement: Decodable {
            let name: String
            let isActive: Bool
        }

        let entitlements: [Entitlement]
    }

    /// Signed transactions, new and presented again.
    private func proofs(_ asker: Asker) async throws -> [String] {
        progress("proofs, \(engine.name)")
        let sales = sales
        let signed = try await made(0..<Brief.or(1000, brief: 10)) {
            try sales.transaction(500_000_000 + $0)
        }
        let requests = try signed.map {
            try asker.post(
                "/ledger/v1/purchases",
                TakePurchaseRequest(signedTransaction: $0, account: "somebody"))
        }
        return [
            "\(engine.name): proof by a signed transaction: \(try asker.waits(requests))",
            "\(engine.name): the same once more: \(try asker.waits(requests))",
        ]
    }

    /// Notifications of sales, which are booked before they are acknowledged.
    private func news(_ asker: Asker) async throws -> [String] {
        progress("notifications in, \(engine.name)")
        let (sales, count) = (sales, Brief.or(4000, brief: 32))
        let signed = try await made(0..<count + count / 4) { number in
            try sales.renewal(of: 600_000 + number, 0, account: Self.account(600_000 + number))
        }
        let requests = try signed.map { try asker.post("/ledger/v1/notifications", $0) }
        let many = Array(requests.prefix(count))
        let seconds = try asker.seconds(many, connections: connections)
        let repeated = try asker.seconds(many, connections: connections)
        return [
            String(
                format: "%@: notifications received and applied: %.0f a second on %d "
                    + "connections, and %.0f that came before", engine.name,
                Double(count) / seconds, connections, Double(count) / repeated),
            "\(engine.name): proof by a notification: "
                + (try asker.waits(Array(requests.dropFirst(count)))),
        ]
    }
}
