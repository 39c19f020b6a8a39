// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Synchronization
import Testing

@testable import Shop

/// What a store does when its ports fail: a fault, and nothing half-done.
@Suite(.timeLimit(.minutes(5))) struct StoreFaultTests {
    private func ports(_ places: StoragePlaces, _ keys: any KeyStore) -> StorePorts {
        StorePorts(
            places: places, keys: keys, wall: .standing(at: TestWall.start),
            randomness: .seeded(1), passwordCost: PasswordCost(rounds: 2))
    }

    @Test func `a registry that cannot be opened is a fault`() async throws {
        var places = TestPlaces().places
        places.registry = { _ in throw StorageFault(.unavailable, "no disk") }
        let broken = places

        let fault = await #expect(throws: StorageFault.self) {
            try await Store.open(ports(broken, MemoryKeyStore()))
        }

        #expect(fault?.code == .unavailable)
    }

    @Test func `a damaged authority keeps the store shut`() async throws {
        let keys = MemoryKeyStore(["sandbox/authority.json": [0]])

        await #expect(throws: KeyStoreFault.self) {
            try await Store.open(ports(TestPlaces().places, keys))
        }
    }

    @Test func `a realm that could not be opened is tried again`() async throws {
        let places = TestPlaces()
        let world = try await TestWorld.open(places: places)
        let isBroken = Mutex(true)
        var flaky = places.places
        let open = flaky.realm
        flaky.realm = { id, migrations in
            if isBroken.withLock({ $0 }) { throw StorageFault(.busy, "later") }
            return try await open(id, migrations)
        }
        let broken = flaky

        await #expect(throws: StorageFault.self) {
            try await Store.open(ports(broken, try await TestWorld.keys.value))
        }
        isBroken.withLock { $0 = false }
        let store = try await Store.open(ports(broken, try await TestWorld.keys.value))

        let realm = try await store.realm(named: Store.defaultRealm)
        #expect(realm.description == world.realm.description)
    }

    @Test func `a database of another realm is not taken`() async throws {
        let places = TestPlaces()
        _ = try await TestWorld.open(places: places)
        var mixed = places.places
        let open = mixed.realm
        mixed.realm = { _, migrations in try await open("always-the-same", migrations) }
        mixed.clusters = []
        let wrong = mixed
        let keys = try await TestWorld.keys.value
        let other = TestPlaces()
        var second = other.places
        second.realm = wrong.realm
        second.clusters = []
        let elsewhere = second

        // The first realm to come makes the database its own.
        let first = try await Store.open(ports(wrong, keys))
        let fault = await #expect(throws: StorageFault.self) {
            var ports = ports(elsewhere, keys)
            ports.randomness = .seeded(2)
            _ = try await Store.open(ports)
        }

        #expect(fault?.code == .unreadable)
        await first.close()
    }

    @Test func `a realm deleted while it is opened is gone`() async throws {
        let places = TestPlaces()
        let world = try await TestWorld.open(places: places)
        let made = try await world.store.createRealm(CreateRealmRequest(name: "brief"))
        await world.store.closeRealm(id: made.id)
        let row = try #require(try await world.store.realmRow(named: "brief"))
        _ = try await world.store.registry.write {
            try $0.first(Statement.Registry.deleteRealm, [.text("brief"), .integer(1)])
        }

        let refusal = try await refusal { try await world.store.opened(row) }

        #expect(refusal.error.code == "realmNotFound")
        #expect(places.deleted.withLock { $0 } == [made.id])
    }

    @Test func `a number that a customer lacks is a fault, not a sale`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        let key = PurchaseKey(
            customer: CustomerID(999), bundleID: TestWorld.bundleID,
            purchaseID: PurchaseID(purchaseID(1)))
        let commit = PurchaseCommit(
            key: key,
            payment: Payment(
                productID: "credits.5", quantity: 1,
                shownUnitPrice: Money(
                    Amount(milliunits: 990), session.storefront.currency)),
            tokenHash: nil, transactionNumber: 1, notificationUUID: "u",
            subscriptions: world.realm.subscriptions.commit, appTransactionID: 1,
            evidence: nil, authoriser: .rule, mayHaveLostCharges: false, realmID: "r",
            shelf: try await world.realm.loadShelf(), wall: TestWall.start,
            leases: world.realm.leases)
        let fault = await #expect(throws: StorageFault.self) {
            try await world.realm.lineOrLeave(of: key.customer, asking: commit.question) {
                try commit.ask($0)
            }
        }

        #expect(fault?.code == .malformedRow)
        #expect(try await world.realm.purchases.listTransactions().transactions.isEmpty)
    }

    @Test func `seeded counts begin behind what is in use`() {
        let numbers = SeededNumbers(next: [.transaction: 5])

        #expect([numbers.next(.transaction), numbers.next(.transaction)] == [5, 6])
        #expect([numbers.next(.customer), numbers.next(.customer)] == [0, 1])
    }

    /// As after a restart, which looks at the counts that are in use.
    @Test func `the next seeded count follows the last in use, however others come back`() {
        let numbers = SeededNumbers(next: [:])
        let drawn = (0...4).map { _ in numbers.next(.transaction) }

        for unused in [1, 3, 4] { numbers.giveBack(.transaction, drawn[unused]) }
        #expect(numbers.nextCounts == [.transaction: 3])
        numbers.giveBack(.transaction, 2)
        #expect(numbers.nextCounts == [.transaction: 1])
        #expect((1...3).map { _ in numbers.next(.transaction) } == [1, 2, 3])
    }

    @Test func `a seeded count that was not used is given out again, if none was since`() {
        let numbers = SeededNumbers(next: [.transaction: 5])
        let first = numbers.next(.transaction)

        numbers.giveBack(.transaction, first)
        #expect(numbers.next(.transaction) == first)
        let second = numbers.next(.transaction)
        numbers.giveBack(.transaction, first)

        #expect(second == first + 1)
        #expect(numbers.next(.transaction) == second + 1)
    }

    @Test func `a registry whose numbers begin below 0 gives out none`() async throws {
        let world = try await TestWorld.open()
        let below = Statement("test.below", "UPDATE number_blocks SET next_count = -5000")
        try await world.store.registry.write { try $0.execute(below, []) }

        let fault = await #expect(throws: StorageFault.self) {
            try await NumberBlocks(registry: world.store.registry).next(.customer)
        }

        #expect(fault?.code == .malformedRow)
    }

    @Test func `a log contains level, sentence and facts, and no more`() {
        let logged = Logged()

        logged.log(.warning, "it rains", TestWorld.context, ["where": "here"])
        ShopLog.silent(.error, "unheard")

        #expect(logged.count("it rains") == 1)
        #expect(logged.everything.contains("warning"))
        #expect(logged.everything.contains("\"where\": \"here\""))
    }
}
