// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop

/// Kills the store before and after every call of a port while a customer's clock
/// jumps, and lets a new one go on.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct CustomerClockCutTests {
    @Test(arguments: [nil, [TestClusters.far]] as [[String]?])
    func `a jump of a customer's clock that is cut off ends with the same history`(
        far: [String]?
    ) async throws {
        let whole = ClockStory(cut: nil, far: far)
        let calls = try await whole.run()
        let expected = try await whole.histories()
        #expect(calls > 20)
        #expect(expected.map(\.count) == [3, 3, 1])

        var fired = 0
        let cuts = SeededShare.of(0..<calls, oneIn: TestPlaces.isOnPostgres ? 30 : 10)
        for call in cuts {
            for side in Knife.Side.allCases {
                let story = ClockStory(cut: (call, side), far: far)
                _ = try await story.run()
                fired += story.knife.fired
                #expect(try await story.histories() == expected, "cut at \(call), \(side)")
            }
        }
        #expect(fired == 2 * cuts.count)
    }
}

/// Two customers share a clock that jumps by months; a third has the realm's.
private final class ClockStory: Sendable {
    let knife: Knife
    private let places: TestPlaces
    private let wall = TestWall()
    private let restarts = Mutex<UInt64>(1)
    private static let buyers = [("ann", "news"), ("bob", "small"), ("cid", "news")]

    init(cut: Knife.Cut?, far: [String]?) {
        places = TestPlaces(isOneProcess: true, far: far)
        knife = Knife(cut)
    }

    /// Returns how many calls of ports were made.
    func run() async throws -> Int { try await knife.walk(deathsMax: 3) { try await walk() } }

    private func open(_ knife: Knife) async throws -> Store {
        let randomness = restarts.withLock { restarts in
            restarts += 1
            return restarts
        }
        var ports = StorePorts(
            places: knife.cutting(places.places), keys: try await TestWorld.keys.value,
            wall: wall.clock, randomness: .seeded(randomness), authoriser: { _ in nil },
            passwordCost: PasswordCost(rounds: 2))
        // So that the second customer's step is worked out while the first one's is written.
        ports.customersOfCommit = 1
        return try await Store.open(ports)
    }

    private func walk() async throws {
        let store = try await open(knife)
        let realm = try await store.realm(named: Store.defaultRealm)
        if try await realm.catalogue.apps().isEmpty {
            try await realm.catalogue.importCatalogue(
                TestWorld.withSubscriptions(), app: AppDescription(bundleID: TestWorld.bundleID),
                TestWorld.context)
        }
        for (n, buyer) in Self.buyers.enumerated() {
            do {
                _ = try await realm.customers.createCustomer(
                    CreateCustomerRequest(name: buyer.0))
            } catch let refusal as Refusal {
                guard refusal.kind == .conflict else { throw refusal }
            }
            let signedIn = try await realm.customers.signIn(
                SignInRequest(deviceUUID: TestWorld.deviceUUID, customer: buyer.0),
                TestWorld.context)
            let session = try await realm.customers.session(token: signedIn.token)
            _ = try await realm.purchases.purchase(
                purchaseID(n),
                PurchaseRequest(
                    productId: buyer.1, quantity: 1, unitPrice: buyer.1 == "news" ? 4990 : 1990,
                    currency: "USD"), session, TestWorld.context)
            try knife.check()
        }
        let clock = try await realm.customers.clock(of: "ann").clockId
        _ = try await realm.customers.attachClock(
            AttachClockRequest(customers: ["ann", "bob"], clockId: clock), TestWorld.context)
        try knife.check()
        for (name, months) in [("bob", 1), ("ann", 3)] {
            _ = try await realm.customers.moveClock(
                of: name,
                MoveClockRequest(
                    moveTo: TestWall.start.adding(Period(months, .month)).adding(
                        seconds: -3 * 86_400)),
                TestWorld.context)
            try knife.check()
        }
        // A jump logs a fault and leaves the rest to the next who looks.
        try await realm.keeping.workOnce()
        try knife.check()
        await store.close()
    }

    /// What has happened to each customer.
    func histories() async throws -> [[String]] {
        let store = try await open(Knife(nil))
        let realm = try await store.realm(named: Store.defaultRealm)
        var all: [[String]] = []
        for (name, _) in Self.buyers {
            let id = try await realm.customers.known(name)
            let events = try await realm.subscriptions.history(of: id.description).events
            all.append(events.map { "\($0.date) \($0.kind)" })
        }
        #expect(try await realm.customers.clock(of: "ann").jump == nil)
        await store.close()
        return all
    }
}
