// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Shop
import SignedData
import StoreWire

/// A purchase by a customer with 10 transactions against one by a customer
/// with 10,000: history must cost a sale nothing.
struct HistoryBench {
    let rounds = 9
    let purchases = 200

    func run() async throws -> [Pairs] {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("bench-history-\(getpid())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await BenchStore.open(in: folder)
        defer { Task { await store.close() } }
        let realm = try await BenchStore.realm(of: store)
        let short = try await Shopper(realm, "short")
        let long = try await Shopper(realm, "long")
        progress("a history of 10 and one of 10,000 transactions")
        try await short.buy(10)
        try await long.buy(10_000)
        var figure = Pairs(
            "purchase with 10,000 transactions of history / with 10", atLeast: 1 / 1.2)
        for number in 1...rounds {
            progress("history, pair \(number) of \(rounds)")
            // The short one stays short: what it buys is another's each time.
            let fresh = try await Shopper(realm, "short-\(number)")
            try await fresh.buy(10)
            let bare = try await secondsAwaited { try await fresh.buy(purchases) }
            let ours = try await secondsAwaited { try await long.buy(purchases) }
            figure.add(bare: bare, ours: ours)
        }
        return [figure]
    }
}

/// A customer who buys coins and finishes them.
struct Shopper {
    let realm: Realm
    let session: DeviceSession
    private let context = RequestContext(requestID: "bench")

    init(_ realm: Realm, _ name: String) async throws {
        self.realm = realm
        _ = try await realm.customers.createCustomer(CreateCustomerRequest(name: name))
        let answer = try await realm.customers.signIn(
            SignInRequest(
                bundleId: "com.example.app", deviceUUID: UUID().uuidString.lowercased(),
                customer: name),
            context)
        session = try await realm.customers.session(token: answer.token)
    }

    func receipt() async throws -> [UInt8] {
        let answer = try await realm.purchases.receipt(ifNoneMatch: nil, session, context)
        guard case .receipt(let bytes, _) = answer else {
            throw ClientFailure("there is no receipt")
        }
        return bytes
    }

    func buy(_ count: Int, of product: String = "com.example.coins") async throws {
        for _ in 0..<count {
            let answer = try await realm.purchases.purchase(
                UUID().uuidString.lowercased(),
                PurchaseRequest(
                    productId: product, quantity: 1, unitPrice: 990, currency: "USD"),
                session, context)
            guard answer.state == "sold" else {
                throw ClientFailure("a purchase ended as \(answer.state)")
            }
        }
    }
}
