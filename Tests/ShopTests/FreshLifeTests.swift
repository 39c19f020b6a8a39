// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Shop

/// Several stores go on from one copy, or one store from a snapshot that is
/// put back again and again: none gives out what another has.
@Suite(.timeLimit(.minutes(5))) struct FreshLifeTests {
    /// When a store was made from the copy, and by which chance.
    struct Birth: Sendable {
        var seconds: Int64
        var chance: UInt64
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let births: [Birth]
        var testDescription: String { name }

        static let all = [
            Case(
                name: "one after the other",
                births: [Birth(seconds: 60, chance: 1), Birth(seconds: 3600, chance: 2)]),
            Case(
                name: "in one second",
                births: [Birth(seconds: 60, chance: 1), Birth(seconds: 60, chance: 2)]),
            Case(
                name: "by the same chance, an hour apart",
                births: [Birth(seconds: 60, chance: 1), Birth(seconds: 3660, chance: 1)]),
            Case(
                name: "with a clock that was set back for years",
                births: [
                    Birth(seconds: 60, chance: 1), Birth(seconds: -100_000_000, chance: 2),
                ]),
        ]
    }

    /// What a store had given out when it was looked at.
    private struct Seen {
        var numbers: Set<Int64>
        var generation: Int64
    }

    private static let numbers = Statement(
        "test.numbers",
        """
        SELECT customer_id AS number FROM customers
        UNION ALL SELECT transaction_id FROM transactions
        UNION ALL SELECT device_id FROM devices
        UNION ALL SELECT app_transaction_id FROM app_accounts
        """)

    private func seen(_ realm: Realm) async throws -> Seen {
        let rows = try await realm.home.read { try $0.query(Self.numbers, []) }
        return Seen(
            numbers: Set(try rows.map { try $0.integer("number") }),
            generation: realm.description.generation)
    }

    /// Two customers more, each with a device and three purchases.
    private func live(_ place: BackupPlace, isNew: Bool = false) async throws -> Seen {
        let store = try await place.open(isNew: isNew)
        let realm = try await store.realm(named: Store.defaultRealm)
        if isNew {
            try await realm.catalogue.putCatalogue(
                TestWorld.catalogue(), app: AppDescription(bundleID: TestWorld.bundleID))
        }
        for name in ["one", "two"] {
            let name = "\(name) \(try await realm.customers.listCustomers().count)"
            _ = try await realm.customers.createCustomer(CreateCustomerRequest(name: name))
            for customer in [name, Realm.defaultCustomer] {
                try await buy(realm, customer)
            }
        }
        let seen = try await seen(realm)
        await store.close()
        return seen
    }

    private func buy(_ realm: Realm, _ customer: String) async throws {
        let token = try await realm.customers.signIn(
            SignInRequest(
                appVersion: "1", deviceUUID: UUID().uuidString.lowercased(),
                customer: customer), TestWorld.context
        ).token
        let session = try await realm.customers.session(token: token)
        for _ in 0..<3 {
            let sold = try await realm.purchases.purchase(
                UUID().uuidString.lowercased(),
                PurchaseRequest(
                    productId: "credits.5", quantity: 1, unitPrice: 990, currency: "USD"),
                session, TestWorld.context)
            #expect(sold.state == "sold" && sold.isRepeat == nil)
            try await realm.finishQuietly("credits.5", of: session.customer, before: "none")
        }
    }

    /// What each has beyond the copy is its own, and so is its generation.
    private func expectApart(_ lives: [Seen], beyond copy: Set<Int64>) {
        var all = copy
        for life in lives {
            let own = life.numbers.subtracting(copy)
            #expect(own.count == 20, "2 customers, 4 devices, 2 accounts, 12 purchases: \(own)")
            #expect(all.isDisjoint(with: own), "came again: \(all.intersection(own).sorted())")
            #expect(own.allSatisfy { NumberLayout(number: $0) != nil && $0 < 1 << 53 })
            all.formUnion(own)
        }
        #expect(Set(lives.map(\.generation)).count == lives.count)
    }

    @Test(arguments: Case.all)
    func `stores that go on from one copy give out no number twice`(trial: Case) async throws {
        let here = try await BackupPlace(.sqlite)
        let copied = try await live(here, isNew: true)
        let archive = try await here.backup("copy")
        // The one that was copied sells on as well.
        var lives = [try await live(here)]

        for birth in trial.births {
            let there = try await BackupPlace(.sqlite)
            _ = try await there.restore(
                archive, wall: TestWall.start.adding(seconds: birth.seconds),
                chance: .seeded(birth.chance))
            lives.append(try await live(there))
        }

        expectApart(lives, beyond: copied.numbers)
    }

    @Test(arguments: BackupEngine.allCases)
    func `a store that was restored is copied and restored, and again`(
        engine: BackupEngine
    ) async throws {
        let here = try await BackupPlace(engine)
        let copied = try await live(here, isNew: true)
        let archive = try await here.backup("copy")
        let child = try await BackupPlace(engine)
        _ = try await child.restore(archive, chance: .seeded(1))
        let childs = try await live(child)
        let second = try await child.backup("copy")

        var lives: [Seen] = []
        for chance in [2, 3] as [UInt64] {
            let grandchild = try await BackupPlace(engine)
            _ = try await grandchild.restore(second, chance: .seeded(chance))
            var own = try await live(grandchild)
            #expect(own.generation > childs.generation)
            own.numbers.subtract(childs.numbers.subtracting(copied.numbers))
            lives.append(own)
        }
        lives.append(childs)

        expectApart(lives, beyond: copied.numbers)
    }

    @Test func `a snapshot that is put back twice and advanced gives out no number twice`()
        async throws
    {
        let place = try await BackupPlace(.sqlite)
        let copied = try await live(place, isNew: true)
        let base = place.folder.file("")
        let snapshot = place.folder.file("snapshot")
        try FileManager.default.createDirectory(
            atPath: snapshot, withIntermediateDirectories: true)
        try copy(from: base, to: snapshot)

        var lives = [try await live(place)]
        for chance in [1, 2] as [UInt64] {
            try copy(from: snapshot, to: base)
            _ = try await StoreAdvance.run(
                place.places, wall: TestWall.start, randomness: .seeded(chance))
            lives.append(try await live(place))
        }

        expectApart(lives, beyond: copied.numbers)
    }

    private func copy(from: String, to: String) throws {
        for name in ["store.sqlite", "realms"] {
            try? FileManager.default.removeItem(atPath: to + "/" + name)
            try FileManager.default.copyItem(atPath: from + "/" + name, toPath: to + "/" + name)
        }
    }
}
