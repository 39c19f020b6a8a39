// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire
import Synchronization
import Testing

@testable import Shop

@Suite(.timeLimit(.minutes(5))) struct RealmTests {
    @Test func `a new store has a sandbox and the keys of its doors`() async throws {
        let world = try await TestWorld.open()

        let realms = try await world.store.realms()

        #expect(realms.map(\.name) == ["default"])
        #expect(realms.map(\.environment) == [.sandbox])
        let operators = try await world.store.doorKey(.operator)
        let control = try await world.store.doorKey(.control)
        #expect(operators.utf8.count == 64 && operators != control)
        #expect(
            try await world.store.knock(operators, at: .operator, TestWorld.context)
                == .admitted(as: "operator"))
        #expect(
            try await world.store.knock(operators, at: .control, TestWorld.context) == .otherDoor)
        #expect(try await world.store.knock("", at: .operator, TestWorld.context) == .refused)
    }

    @Test func `a store comes back as it was`() async throws {
        let world = try await TestWorld.open()
        let key = try await world.store.doorKey(.control)
        let token = try await world.signIn().token
        let sold = try await world.buy(purchaseID(1))

        let next = try await world.restarted()

        #expect(next.realm.description == world.realm.description)
        #expect(try await next.store.doorKey(.control) == key)
        #expect(try await next.realm.catalogue.apps().count == 1)
        let session = try await next.realm.customers.session(token: token)
        let again = try await next.buy(purchaseID(1), session: session)
        #expect(
            try next.verified(again.signedTransaction).transactionId
                == world.verified(sold.signedTransaction).transactionId)
        let other = try await next.buy(purchaseID(2), session: session)
        #expect(
            try next.verified(other.signedTransaction).transactionId
                != world.verified(sold.signedTransaction).transactionId)
    }

    @Test func `realms see nothing of one another`() async throws {
        let world = try await TestWorld.open()
        try await world.buy(purchaseID(1))
        let other = try await TestWorld.open(
            places: world.places, wall: world.wall, realm: "other")

        let sold = try await other.buy(purchaseID(1))

        #expect(sold.state == "sold")
        #expect(other.realm.description.id != world.realm.description.id)
        let here = try await world.realm.purchases.listTransactions().transactions
        let there = try await other.realm.purchases.listTransactions().transactions
        #expect(here.count == 1 && there.count == 1)
        #expect(here[0].payload.transactionId != there[0].payload.transactionId)
    }

    @Test func `a realm that is deleted is gone, and its name free`() async throws {
        let world = try await TestWorld.open()
        let first = try await world.store.createRealm(CreateRealmRequest(name: "test-1"))

        try await world.store.deleteRealm(named: "test-1")

        let missing = try await refusal { try await world.store.realm(named: "test-1") }
        #expect(missing.kind == .notFound)
        #expect(missing.error.code == "realmNotFound")
        #expect(world.places.deleted.withLock { $0 } == [first.id])
        let second = try await world.store.createRealm(CreateRealmRequest(name: "test-1"))
        #expect(second.id != first.id)
        #expect(try await world.store.realms().map(\.name) == ["default", "test-1"])
    }

    @Test func `a deletion that was cut short is finished at the next start`() async throws {
        let world = try await TestWorld.open()
        let made = try await world.store.createRealm(CreateRealmRequest(name: "test-1"))
        _ = try await world.store.registry.write {
            try $0.first(Statement.Registry.deleteRealm, [.text("test-1"), .integer(1)])
        }

        _ = try await world.restarted()

        #expect(world.places.deleted.withLock { $0 } == [made.id])
    }

    @Test(arguments: [
        "", "Test", "a b", "a_b", "å", "a/b", "..", String(repeating: "a", count: 41), "a\0",
    ])
    func `a realm's name is short and plain`(name: String) async throws {
        let world = try await TestWorld.open()

        let made = try await refusal {
            try await world.store.createRealm(CreateRealmRequest(name: name))
        }
        let asked = try await refusal { try await world.store.realm(named: name) }

        #expect(made.error.code == "realmNameInvalid")
        #expect(made.error.field == "name")
        #expect(asked.error.code == "realmNotFound")
    }

    @Test func `realms are refused in a documented order`() async throws {
        let world = try await TestWorld.open()

        let environment = try await refusal {
            try await world.store.createRealm(
                CreateRealmRequest(name: "x", environment: Environment(rawValue: "Moon")))
        }
        let seed = try await refusal {
            try await world.store.createRealm(
                CreateRealmRequest(name: "x", environment: .production, seed: 1))
        }
        let taken = try await refusal {
            try await world.store.createRealm(CreateRealmRequest(name: "default"))
        }
        let kept = try await refusal { try await world.store.deleteRealm(named: "default") }
        let missing = try await refusal { try await world.store.deleteRealm(named: "nothing") }

        #expect(environment.error.code == "environmentUnknown")
        #expect(seed.error.code == "seedOfProduction")
        #expect(taken.error.code == "realmExists")
        #expect(kept.error.code == "defaultRealm")
        #expect(missing.error.code == "realmNotFound")
    }

    @Test func `the same seed and the same commands give the same ids`() async throws {
        func story(_ randomness: UInt64) async throws -> [String] {
            let world = try await TestWorld.open(seed: 42, randomness: randomness)
            let session = try await world.session()
            try await world.buy("credits.5", purchaseID(1), quantity: 2, session: session)
            try await world.buy("pro", purchaseID(2), session: session)
            try await world.buy("nothing", purchaseID(3), session: session)
            let next = try await world.restarted()
            try await next.buy("credits.10", purchaseID(4))
            let records = try await next.realm.purchases.listTransactions().transactions
            let uuids = try await next.outbox().map { try $0.text("notification_uuid") }
            return records.map { "\($0.payload)" } + uuids
        }

        let first = try await story(1)
        let second = try await story(2)

        #expect(first == second)
        #expect(first.count == 6)
        #expect(first[0].contains("2000000000000000"))
    }

    @Test func `a seeded realm never gives a number twice`() async throws {
        var world = try await TestWorld.open(seed: 42)
        var ids: Set<String> = []
        for n in 0..<3 {
            let sold = try await world.buy(purchaseID(n))
            ids.insert(try #require(try world.verified(sold.signedTransaction).transactionId))
            world = try await world.restarted(randomness: UInt64(50 + n))
        }

        #expect(ids == ["2000000000000000", "2000000000001000", "2000000000002000"])
    }

    @Test func `ids are unique across the realms of a store`() async throws {
        let world = try await TestWorld.open()
        var ids: Set<String> = []
        for name in ["a", "b", "c"] {
            let realm = try await TestWorld.open(
                places: world.places, wall: world.wall, randomness: 5, realm: name)
            let sold = try await realm.buy(purchaseID(1))
            ids.insert(try #require(try realm.verified(sold.signedTransaction).transactionId))
        }

        #expect(ids.count == 3)
    }

    @Test func `production has another root, made with its first realm`() async throws {
        let world = try await TestWorld.open(realm: "live", environment: .production)

        let production = try await world.store.rootCertificate(.production)
        let sandbox = try await world.store.rootCertificate(.sandbox)

        #expect(production.der != sandbox.der)
        #expect(production.der == world.realm.authority.root)
        #expect(sandbox.pem.hasPrefix("-----BEGIN CERTIFICATE-----"))
        #expect(sandbox.fingerprint.utf8.count == 64)
    }
}
