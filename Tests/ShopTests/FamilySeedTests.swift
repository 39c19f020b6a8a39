// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import TestSupport
import Testing

@testable import Shop

/// A seeded realm repeats itself, also where families are in play, whose members get what
/// they get from errands.
@Suite(.onPostgresAlready, .unforgiven, .timeLimit(.minutes(10))) struct FamilySeedTests {
    /// Alone, and beside the store's worker, which may begin an errand at any time; and on
    /// PostgreSQL.
    @Test(arguments: [Seeds.fresh])
    func `the same seed and commands give families the same history`(seed: UInt64) async throws {
        let alone = try await FamilyYears(seed).play()
        #expect(alone.count { $0.hasPrefix("family_shares") } > 3)

        for _ in 1...3 {
            #expect(try await FamilyYears(seed, isBesideWorker: true).play() == alone)
        }
        let cluster = try await PostgresCluster.shared()
        let places = TestPlaces(server: TestPlaces.Server(conninfo: cluster.conninfo))
        let other = FamilyYears(seed, isBesideWorker: true, places: places)
        #expect(try await other.play() == alone)
    }

    /// What a purchase gives the family is there when the call returns, as everything is
    /// that a tester causes.
    @Test func `a seeded realm's calls return when the family has everything`() async throws {
        let world = try await TestWorld.openWithSubscriptions(seed: 5)
        let family = try await FamilyWorld(world)
        try await family.begin()
        try await family.add("ben")

        try await family.buy("news", "ann")

        #expect(try await family.shown("ben") == "news")
        try await family.checkMembers()
    }
}

/// Two families whose people buy, come and go for some months. No command waits for anything.
private struct FamilyYears {
    private let places: TestPlaces
    private let isBesideWorker: Bool
    private var random: SeededGenerator
    private var purchases = 0

    init(_ seed: UInt64, isBesideWorker: Bool = false, places: TestPlaces = TestPlaces()) {
        (self.isBesideWorker, self.places) = (isBesideWorker, places)
        random = SeededGenerator(seed)
    }

    /// Returns what happened.
    func play() async throws -> [String] {
        var years = self
        return try await years.run()
    }

    private mutating func run() async throws -> [String] {
        let world = try await TestWorld.openWithSubscriptions(places: places, seed: 11)
        let working = isBesideWorker ? Task { await world.store.work() } : nil
        let family = try await FamilyWorld(world)
        try await family.begin()
        for (member, organiser) in [("ben", "ann"), ("cat", "ann"), ("eve", "dan")] {
            try await family.add(member, to: organiser)
        }
        for name in ["ann", "ben"] {
            for product in ["news", "pro"] { try await buy(product, name, family) }
        }
        for _ in 1...60 {
            // Some commands are refused, as they come.
            do { try await command(family) } catch is Refusal {}
        }
        working?.cancel()
        await working?.value
        return try await world.whole()
    }

    private mutating func command(_ family: FamilyWorld) async throws {
        let (realm, context) = (family.world.realm, TestWorld.context)
        let name = random.one(of: ["ann", "ann", "ben", "cat", "dan", "eve"])
        let organiser = random.one(of: ["ann", "dan"])
        let product = random.one(of: ["news", "pro", "premium", "yearly"])
        let member = random.one(of: ["ben", "cat", "eve"])
        switch random.integer(in: 0...15) {
        case 0...3: try await buy(product, name, family)
        case 4...6: try await family.add(member, to: organiser)
        case 7:
            let leaving = random.integer(in: 0...9) == 0 ? organiser : member
            try await family.room.leave(
                try await family.id(organiser), member: try await family.id(leaving), context)
        case 8:
            try await family.room.setSharing(
                try await family.id(organiser),
                FamilySharingRequest(isSharing: random.integer(in: 0...3) > 0), context)
        case 9:
            guard let sold = try await family.payloads(organiser).last?.transactionId else {
                return
            }
            _ = try await family.world.decide(sold, random.boolean() ? "granted" : "reversed")
        case 10:
            let id = try await family.id(organiser)
            let all = try await realm.subscriptions.list(customer: id).subscriptions
            guard let first = all.first?.subscriptionId else { return }
            try await realm.subscriptions.renew(first, context)
        case 11:
            // Both families may get what was bought before.
            try await family.share(random.one(of: ["yearly", "small"]))
        case 12:
            // All of them in one call, under an id that the store draws.
            try await realm.subscriptions.changeAll(
                BulkChangeRequest(productId: "news", extendByDays: 1),
                bundleID: TestWorld.bundleID.value, context)
        case 13:
            // By somebody who was not there, and with what fell due since then.
            purchases += 1
            let late = try await realm.customers.createCustomer(
                CreateCustomerRequest(name: "late-\(purchases)"))
            var bought = PastPurchaseRequest(
                bundleId: TestWorld.bundleID.value, productId: "news",
                date: try await realm.clock().now.adding(seconds: -100 * 86_400))
            bought.customer = late.customerId
            _ = try await realm.purchases.buyInPast(bought, context)
        default: try await family.advance("P1M")
        }
    }

    private mutating func buy(
        _ product: String, _ name: String, _ family: FamilyWorld
    ) async throws {
        purchases += 1
        try await family.world.buy(
            product, purchaseID(purchases), price: product == "yearly" ? 39990 : nil,
            session: try await family.session(name))
    }
}
