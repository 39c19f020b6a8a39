// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Foundation
import SignedData
import Storage
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop

/// A store whose databases were set back by other means than a restore.
@Suite(.timeLimit(.minutes(5))) struct AdvanceTests {
    private let later = TestWall.start.adding(seconds: 60)
    private let lot = Randomness.seeded(11)

    private func buy(_ realm: Realm, _ number: Int) async throws -> PurchaseResponse {
        let token = try await realm.customers.signIn(
            SignInRequest(appVersion: "1", deviceUUID: TestWorld.deviceUUID), TestWorld.context
        ).token
        let session = try await realm.customers.session(token: token)
        try await realm.finishQuietly(
            "credits.5", of: session.customer, before: purchaseID(number))
        return try await realm.purchases.purchase(
            purchaseID(number),
            PurchaseRequest(productId: "credits.5", quantity: 1, unitPrice: 990, currency: "USD"),
            session, TestWorld.context)
    }

    private func transaction(_ response: PurchaseResponse, _ realm: Realm) throws -> Int64 {
        let payload = try TestWorld.payload(try #require(response.signedTransaction), realm)
        return try #require(payload.transactionId.flatMap { Int64($0) })
    }

    private func open(_ place: BackupPlace, isNew: Bool = false) async throws -> (Store, Realm) {
        let store = try await place.open(isNew: isNew)
        let realm = try await store.realm(named: Store.defaultRealm)
        if isNew {
            try await realm.catalogue.putCatalogue(
                TestWorld.catalogue(), app: AppDescription(bundleID: TestWorld.bundleID))
        }
        return (store, realm)
    }

    /// Files as they were, while the store is stopped.
    private func copy(_ place: BackupPlace, _ from: String, to: String) throws {
        try? FileManager.default.removeItem(atPath: to)
        try FileManager.default.createDirectory(
            atPath: to, withIntermediateDirectories: true)
        for name in ["store.sqlite", "realms"] {
            try? FileManager.default.removeItem(atPath: to + "/" + name)
            try FileManager.default.copyItem(atPath: from + "/" + name, toPath: to + "/" + name)
        }
    }

    @Test(arguments: [false, true])
    func `numbers that were given out after a snapshot do not come again`(
        advances: Bool
    ) async throws {
        let place = try await BackupPlace(.sqlite)
        let base = place.folder.file("store.sqlite").replacing("/store.sqlite", with: "")
        let (first, early) = try await open(place, isNew: true)
        let kept = try transaction(try await buy(early, 1), early)
        await first.close()
        let snapshot = place.folder.file("snapshot")
        try copy(place, base, to: snapshot)
        let (second, lost) = try await open(place)
        let given = try transaction(try await buy(lost, 2), lost)
        let seen = lost.description.generation
        await second.close()
        for name in ["store.sqlite", "realms"] {
            try FileManager.default.removeItem(atPath: base + "/" + name)
            try FileManager.default.copyItem(
                atPath: snapshot + "/" + name, toPath: base + "/" + name)
        }

        if advances { _ = try await StoreAdvance.run(place.places, wall: later, randomness: lot) }
        let (third, now) = try await open(place)
        let next = try transaction(try await buy(now, 3), now)

        // Without it, what the merchant's ledger has booked comes again.
        #expect((next == given) == !advances)
        #expect((now.description.generation > seen) == advances)
        #expect(try await now.purchases.listTransactions().transactions.count == 2)
        #expect(kept < given)
        await third.close()
    }

    @Test(arguments: BackupEngine.allCases)
    func `devices sign in again, and no kind of number comes again`(
        engine: BackupEngine
    ) async throws {
        let place = try await BackupPlace(engine)
        let (first, before) = try await open(place, isNew: true)
        _ = try await buy(before, 1)
        let token = try await before.customers.signIn(
            SignInRequest(deviceUUID: TestWorld.deviceUUID), TestWorld.context
        ).token
        // As of before anybody had an app transaction.
        try await first.registry.write { writing in
            try writing.execute(
                Statement("test.forget", "DELETE FROM number_blocks WHERE kind = 4"), [])
        }
        await first.close()

        let summary = try await StoreAdvance.run(place.places, wall: later, randomness: lot)
        let again = try await StoreAdvance.run(place.places, wall: later, randomness: lot)
        let (second, after) = try await open(place)
        let refusal = try await refusal { try await after.customers.session(token: token) }
        let rows = try await second.registry.read { reading in
            try reading.query(
                Statement("test.numbers", "SELECT kind, next_count FROM number_blocks"), [])
        }

        #expect(summary.realms == [Store.defaultRealm] && again.realms == summary.realms)
        #expect(again.numbersFrom > summary.numbersFrom)
        #expect(refusal.error.code == "sessionUnknown")
        #expect(Set(try rows.map { try $0.integer("kind") }) == Set(1...4))
        for row in rows {
            // Blocks were reserved since.
            #expect(try row.integer("next_count") >= again.numbersFrom)
        }
        await second.close()
    }

    @Test(arguments: BackupEngine.allCases)
    func `an advance that died is never served or copied, and is done again`(
        engine: BackupEngine
    ) async throws {
        let place = try await BackupPlace(engine)
        let (first, _) = try await self.open(place, isNew: true)
        await first.close()
        var dying = place.places
        let open = dying.realm
        let opened = Mutex(0)
        dying.realm = { id, migrations in
            // It is looked at, and then gone over.
            let count = opened.withLock { count in
                count += 1
                return count
            }
            guard count == 1 else { throw StorageFault(.unavailable, "killed") }
            return try await open(id, migrations)
        }

        await #expect(throws: StorageFault.self) {
            try await StoreAdvance.run(dying, wall: later, randomness: lot)
        }
        let served = await #expect(throws: StorageFault.self) { try await place.open() }
        let copied = await #expect(throws: StorageFault.self) { try await place.backup("copy") }
        let status = try await StoreStatus(try await place.source())
        #expect(served?.code == .halfAdvanced && copied?.code == .halfAdvanced)
        #expect(status.isHalfAdvanced && !status.isHalfRestored)

        _ = try await StoreAdvance.run(place.places, wall: later, randomness: lot)
        let (store, _) = try await self.open(place)
        await store.close()
        #expect(try await StoreStatus(try await place.source()).isHalfAdvanced == false)
    }

    // MARK: Clusters

    private static let setBack = Statement(
        "test.setBack", "UPDATE realm SET generation = 1, house_revision = 0")

    private func isFar(_ customer: CustomerSummary, _ world: TestWorld) -> Bool {
        Int64(customer.customerId).map(world.realm.clusters.map.cluster) == 1
    }

    @Test func `a home that was set back is followed again, and customers have their names`()
        async throws
    {
        let world = try await ClusterTests.world()
        try await world.buy("credits.5", purchaseID(1))
        let late = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "Late"))
        let zoe = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: "Zoë"))
        #expect([late, zoe].contains { isFar($0, world) })
        // What the home knew of them is gone.
        try await world.realm.home.write { writing in
            for statement in [
                Self.setBack,
                Statement("test.names", "DELETE FROM sign_in_names WHERE name <> 'neighbour'"),
                Statement("test.late", "DELETE FROM customers WHERE name IN ('Late', 'Zoë')"),
            ] { try writing.execute(statement, []) }
        }
        let there = try await ClusterTests.count(ClusterTests.customers, world)[1]
        await world.store.close()

        let summary = try await StoreAdvance.run(world.places.places, wall: later, randomness: lot)
        let after = try await world.restarted()
        try await after.realm.catalogue.putCatalogue(
            TestWorld.catalogue(price: 1090),
            app: AppDescription(bundleID: TestWorld.bundleID))

        #expect(summary.namesFound == there && summary.namesFreed == 0)
        #expect(try await ClusterTests.count(ClusterTests.sold, after) == [0, 1])
        let generations = try await after.realm.clusters.readAll {
            try $0.first(Statement.Houses.state)?.integer("generation")
        }
        #expect(Set(generations).count == 1)
        #expect(try #require(generations.first ?? nil) > 1)
        // The default customer is the same as before.
        let again = try await after.buy("credits.5", purchaseID(1))
        #expect(again.state == "sold")
    }

    @Test func `a cluster that was set back keeps what it has, and loses no audit`() async throws {
        let world = try await ClusterTests.world()
        try await world.buy("credits.5", purchaseID(1))
        _ = try await world.realm.customers.changeCustomer(
            try #require(try await world.realm.customers.listCustomers().first?.customerId),
            ChangeCustomerRequest(storefront: "DEU"), TestWorld.context)
        let before = try await world.realm.auditEntries().entries.count
        // The realm was advanced before, and the cluster's copy is older.
        await world.store.close()
        _ = try await StoreAdvance.run(world.places.places, wall: later, randomness: lot)
        let second = try await world.restarted()
        try await second.realm.clusters[1].write { writing in
            for statement in [
                Self.setBack,
                Statement("test.audit", "UPDATE realm SET audit_count = 0"),
                Statement("test.entries", "DELETE FROM audit"),
            ] { try writing.execute(statement, []) }
        }
        await second.store.close()

        // Also where it is served without having been advanced.
        let third = try await second.restarted()
        #expect(try await ClusterTests.count(ClusterTests.sold, third) == [0, 1])
        await third.store.close()
        _ = try await StoreAdvance.run(third.places.places, wall: later, randomness: lot)
        let fourth = try await third.restarted()
        _ = try await fourth.realm.customers.changeCustomer(
            try #require(try await fourth.realm.customers.listCustomers().first?.customerId),
            ChangeCustomerRequest(storefront: "FRA"), TestWorld.context)

        #expect(try await ClusterTests.count(ClusterTests.sold, fourth) == [0, 1])
        #expect(try await fourth.realm.auditEntries().entries.count > before)
        #expect(
            try await fourth.realm.auditEntries().entries.contains {
                $0.after("storefront") == "FRA"
            })
    }

    @Test func `a name is free again whose customer a cluster has lost`() async throws {
        let world = try await ClusterTests.world()
        var made: [CustomerSummary] = []
        for number in 0..<4 {
            made.append(
                try await world.realm.customers.createCustomer(
                    CreateCustomerRequest(name: "c\(number)")))
        }
        let lost = try #require(made.first { isFar($0, world) })
        try await world.realm.clusters[1].write {
            try $0.execute(
                Statement("test.lose", [.text], "DELETE FROM customers WHERE name = $1"),
                [.text(lost.name)])
        }
        await world.store.close()

        let summary = try await StoreAdvance.run(world.places.places, wall: later, randomness: lot)
        let after = try await world.restarted()
        let again = try await after.realm.customers.createCustomer(
            CreateCustomerRequest(name: lost.name))

        #expect(summary.namesFound == 0 && summary.namesFreed == 1)
        #expect(again.customerId != lost.customerId)
    }
}
