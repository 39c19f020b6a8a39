// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoragePostgres
import StoreWire
import TestSupport
import Testing

@testable import Shop

/// How often a use case waits for PostgreSQL, and for how many statements:
/// an engine in the process hides both. docs/ARCHITECTURE.md has the table.
@Suite(.onPostgresAlready, .timeLimit(.minutes(5))) struct RoundTripTests {
    private static func world() async throws -> TestWorld {
        let cluster = try await PostgresCluster.shared()
        let places = TestPlaces(server: TestPlaces.Server(conninfo: cluster.conninfo))
        return try await TestWorld.open(places: places)
    }

    /// What a use case costs when the connection has its statements prepared.
    private func cost(
        _ world: TestWorld, _ work: () async throws -> Void
    ) async throws -> String {
        try await work()
        world.places.counter.reset()
        try await work()
        let counter = world.places.counter
        return "\(counter.roundTrips) trips, \(counter.statements.count) statements"
    }

    @Test func `each use case keeps to its round trips and statements`() async throws {
        let world = try await Self.world()
        let signedIn = try await world.signIn()
        let session = try await world.realm.customers.session(token: signedIn.token)
        let numbers = Numbers()
        var bought: [String] = []
        for product in ["credits.5", "credits.10"] {
            let sold = try await world.buy(product, numbers.next(), session: session)
            bought.append(try #require(try world.verified(sold.signedTransaction).transactionId))
        }
        let realm = world.realm
        let context = TestWorld.context
        _ = try await realm.customers.createCustomer(CreateCustomerRequest(name: "other"))
        let other = try await world.session(customer: "other")
        // What is unfinished is not sold again.
        var unsold = ["credits.5", "credits.10"]

        let costs = [
            "session": try await cost(world) {
                _ = try await realm.customers.session(token: signedIn.token)
            },
            "sign in": try await cost(world) { _ = try await world.signIn() },
            "products": try await cost(world) {
                _ = try await realm.catalogue.products(
                    ProductsRequest(ids: ["credits.5", "pro"]), session, context)
            },
            "purchase": try await cost(world) {
                try await world.buy(unsold.removeFirst(), numbers.next(), session: other)
            },
            "transactions": try await cost(world) {
                _ = try await realm.purchases.transactions(since: 0, session, context)
            },
            "finish": try await cost(world) {
                _ = try await realm.purchases.finish(bought.removeFirst(), session, context)
            },
            "receipt": try await cost(world) { _ = try await world.receipt(session) },
        ]

        #expect(
            costs == [
                "session": "2 trips, 1 statements",
                // One asks for higher prices, because the app sells subscriptions.
                "sign in": "10 trips, 11 statements",
                // Whether the customer owns `pro`, which the sheet shows.
                "products": "2 trips, 1 statements",
                "purchase": "3 trips, 5 statements",
                "transactions": "4 trips, 3 statements",
                "finish": "4 trips, 3 statements",
                "receipt": "2 trips, 1 statements",
            ])
    }

    /// Purchase ids, one after the other.
    private final class Numbers {
        private var last = 0

        func next() -> String {
            last += 1
            return purchaseID(last)
        }
    }
}
