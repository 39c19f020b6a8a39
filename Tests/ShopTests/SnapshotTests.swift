// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Synchronization
import Testing

@testable import Shop
@testable import Work

/// Snapshots: a sandbox becomes again what it was, and nothing in between.
@Suite(.timeLimit(.minutes(5)), .enabled(if: !TestClusters.areShared))
struct SnapshotTests {
    private let context = TestWorld.context

    /// A realm with a customer, a subscription, a sale and what it owed.
    private func world(_ courier: ScriptedCourier? = nil) async throws -> TestWorld {
        let world = try await TestWorld.open(courier: courier)
        try await world.realm.catalogue.importCatalogue(
            TestWorld.withSubscriptions(), app: AppDescription(bundleID: TestWorld.bundleID),
            context)
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: TestWorld.bundleID.value, context)
        try await world.buy("news", purchaseID(1))
        try await world.buy("credits.5", purchaseID(2))
        return world
    }

    private func save(_ name: String, _ world: TestWorld) async throws -> SnapshotSummary {
        try await world.realm.keeping.saveSnapshot(SaveSnapshotRequest(name: name), context)
    }

    /// Every row that a snapshot has.
    private func rows(_ realm: Realm) async throws -> [String: [[SQLValue]]] {
        try await realm.home.read { reading in
            var all: [String: [[SQLValue]]] = [:]
            for table in SnapshotTable.all {
                try table.forEachPage(reading) { all[table.table.name, default: []] += $0 }
            }
            return all
        }
    }

    @Test func `a load brings back every row and the time`() async throws {
        let world = try await world()
        _ = try await world.realm.moveClock(MoveClockRequest(rate: 60), context)
        let before = try await rows(world.realm)
        let saved = try await save("a", world)
        let clock = try await world.realm.clock()
        try await world.jump(Period(3, .month))
        _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: "new"))
        try await world.buy("pro", purchaseID(3), session: try await world.session(customer: "new"))
        try await world.realm.catalogue.putCatalogue(
            TestWorld.catalogue(price: 1), app: AppDescription(bundleID: "com.example.later"))
        world.wall.advance(seconds: 3600)
        #expect(try await rows(world.realm) != before)

        let loaded = try await world.realm.keeping.loadSnapshot("a", context)

        #expect(try await rows(world.realm) == before)
        let now = try await world.realm.clock()
        #expect(now.now == clock.now && now.rate == 60 && !now.isStanding)
        #expect(loaded.now == saved.now && loaded.rows == saved.rows)
        #expect(saved.rows == Int64(before.values.reduce(0) { $0 + $1.count }))
        world.wall.advance(seconds: 1)
        #expect(try await world.realm.clock().now == clock.now.adding(seconds: 60))
        try await world.checkFolds()
    }

    @Test func `devices sign in again, read everything, and no number is used twice`()
        async throws
    {
        let world = try await world()
        let old = try await world.signIn()
        let generation = try await world.realm.customers.session(token: old.token).generation
        _ = try await save("a", world)
        let lost = try world.verified(try await world.buy("pro", purchaseID(3)).signedTransaction)

        _ = try await world.realm.keeping.loadSnapshot("a", context)

        let ended = try await refusal {
            try await world.realm.customers.session(token: old.token)
        }
        #expect(ended.error.code == "sessionUnknown")
        let session = try await world.session()
        #expect(session.generation > generation)
        let page = try await world.realm.purchases.transactions(
            since: 0, after: nil, session, context)
        #expect(page.transactions.count == 2)
        let again = try world.verified(
            try await world.buy("pro", purchaseID(3), session: session).signedTransaction)
        let number = try #require(Int64(lost.transactionId ?? ""))
        #expect(try #require(Int64(again.transactionId ?? "")) > number)
    }

    @Test(arguments: [nil, 7] as [Int64?])
    func `a seeded realm does not use a number twice either`(seed: Int64?) async throws {
        let world = try await TestWorld.openWithSubscriptions(seed: seed)
        _ = try await save("a", world)
        var numbers: [String] = []
        for n in 0..<3 {
            let sold = try await world.buy("credits.5", purchaseID(n)).signedTransaction
            numbers.append(try world.verified(sold).transactionId ?? "")
            _ = try await world.realm.keeping.loadSnapshot("a", context)
        }
        let next = try await world.restarted()
        let sold = try await next.buy("credits.5", purchaseID(9)).signedTransaction
        numbers.append(try next.verified(sold).transactionId ?? "")

        #expect(Set(numbers).count == 4)
    }

    @Test func `what was owed is not sent, and what happens again is sent anew`() async throws {
        let courier = ScriptedCourier()
        let world = try await world(courier)
        _ = try await save("a", world)
        try await world.realm.keeping.workOnce()
        #expect(courier.parcels.count == 2)

        _ = try await world.realm.keeping.loadSnapshot("a", context)
        try await world.realm.keeping.workOnce()
        #expect(courier.parcels.count == 2)
        try await world.jump(Period(1, .month))
        try await world.realm.keeping.workOnce()
        _ = try await world.realm.keeping.loadSnapshot("a", context)
        try await world.jump(Period(1, .month))
        try await world.realm.keeping.workOnce()

        let told = try courier.parcels.dropFirst(2).map { try world.opened($0) }
        #expect(told.map(\.notificationType) == ["DID_RENEW", "DID_RENEW"])
        #expect(Set(told.map(\.notificationUUID)).count == 2)
    }

    @Test func `saving and loading are one commit each`() async throws {
        let world = try await world()
        world.places.counter.reset()
        _ = try await save("a", world)
        #expect(world.places.counter.commits == 1)

        world.places.counter.reset()
        _ = try await world.realm.keeping.loadSnapshot("a", context)
        #expect(world.places.counter.commits == 1)
    }

    @Test func `snapshots outlive the process and a load`() async throws {
        let world = try await world()
        let first = try await save("a", world)
        try await world.jump(Period(1, .month))
        let second = try await save("b", world)
        _ = try await world.realm.keeping.loadSnapshot("a", context)

        let next = try await world.restarted()
        #expect(try await next.realm.keeping.listSnapshots().snapshots == [first, second])
        let loaded = try await next.realm.keeping.loadSnapshot("b", context)
        #expect(loaded.now == second.now)
        try await next.realm.keeping.deleteSnapshot("b", context)
        #expect(try await next.realm.keeping.listSnapshots().snapshots == [first])
        let pages = Statement("test.pages", [], "SELECT count(*) AS n FROM snapshot_pages")
        let left = try await next.realm.sum(pages)
        try await next.realm.keeping.deleteSnapshot("a", context)
        #expect(left > 0)
        #expect(try await next.realm.sum(pages) == 0)
    }

    @Test func `a branch is a realm of its own`() async throws {
        let world = try await world()
        _ = try await save("a", world)

        let made = try await world.store.branchRealm(
            named: "default", BranchRealmRequest(snapshot: "a", name: "twin"), context)

        let twin = try await world.store.realm(named: "twin")
        #expect(made.name == "twin" && made.seed == nil)
        #expect(try await rows(twin) == rows(world.realm))
        #expect(try await twin.clock() == world.realm.clock())
        let branch = TestWorld(
            places: world.places, wall: world.wall, logged: world.logged, store: world.store,
            realm: twin)
        let there = try await branch.buy("pro", purchaseID(5)).signedTransaction
        let here = try await world.buy("pro", purchaseID(5)).signedTransaction
        let numbers = [
            try branch.verified(there).transactionId, try world.verified(here).transactionId,
        ]
        #expect(Set(numbers).count == 2)
        try await branch.jump(Period(1, .month))
        #expect(try await twin.clock().now > world.realm.clock().now)
        #expect(try await world.realm.purchases.listTransactions().transactions.count == 3)
        #expect(try await twin.purchases.listTransactions().transactions.count == 4)
        // It outlives the process.
        let next = try await world.restarted()
        #expect(try await next.store.realms().map(\.name) == ["default", "twin"])
    }

    /// A process dies after the first commit of a branch.
    @Test func `half a branch is removed by the next start`() async throws {
        let world = try await world()
        let row = try await world.store.reserveBranch("twin")
        _ = try await world.places.places.realm(row.id, RealmSchema.migrations)
        #expect(try await world.store.realms().map(\.name) == ["default"])

        let next = try await world.restarted()

        #expect(try await next.store.realms().map(\.name) == ["default"])
        #expect(world.places.deleted.withLock { $0 } == [row.id])
        _ = try await save("a", next)
        _ = try await next.store.branchRealm(
            named: "default", BranchRealmRequest(snapshot: "a", name: "twin"), context)
        #expect(try await next.store.realms().map(\.name) == ["default", "twin"])
    }

    @Test func `what cannot be saved, loaded or branched is refused`() async throws {
        let world = try await world()
        let live = try await TestWorld.open(realm: "live", environment: .production)
        _ = try await save("a", world)
        func code<Answer>(_ body: () async throws -> Answer) async throws -> String {
            let refused = try await refusal(of: body)
            #expect(refused.error.field != nil && refused.error.rule != nil)
            #expect(refused.error.remedy != nil)
            return refused.error.code
        }
        func branch(_ snapshot: String, _ name: String) async throws -> String {
            try await code {
                try await world.store.branchRealm(
                    named: "default", BranchRealmRequest(snapshot: snapshot, name: name),
                    context)
            }
        }

        #expect(try await code { try await save("a", live) } == "sandboxOnly")
        #expect(try await code { try await save("a", world) } == "snapshotExists")
        for name in ["", "A", "a b", "ä", "../a", String(repeating: "a", count: 41)] {
            #expect(try await code { try await save(name, world) } == "snapshotNameInvalid")
        }
        for name in ["b", "", "A/B", "a\u{0}"] {
            let loaded = try await code {
                try await world.realm.keeping.loadSnapshot(name, context)
            }
            #expect(loaded == "snapshotNotFound")
            let deleted = try await code {
                try await world.realm.keeping.deleteSnapshot(name, context)
            }
            #expect(deleted == "snapshotNotFound")
        }
        #expect(try await branch("b", "twin") == "snapshotNotFound")
        #expect(try await branch("a", "Twin") == "realmNameInvalid")
        #expect(try await branch("a", "default") == "realmExists")
        for n in 1..<SnapshotLimits.countMax { _ = try await save("n\(n)", world) }
        #expect(try await code { try await save("more", world) } == "snapshotsTooMany")
    }

    @Test func `a jump that is under way is not saved`() async throws {
        let world = try await world()
        let newer = DueWork(
            customer: try await world.session().customer, kind: "newer", subject: "x",
            dueAt: TestWall.start.adding(seconds: 60))
        try await world.realm.home.write { try newer.add($0) }
        try await world.jump(Period(1, .day))

        let refusal = try await refusal { try await save("a", world) }

        #expect(refusal.error.code == "jumpUnderWay")
    }

    @Test func `every change of a snapshot is audited`() async throws {
        let world = try await world()
        _ = try await save("a", world)
        _ = try await world.realm.keeping.loadSnapshot("a", context)
        try await world.realm.keeping.deleteSnapshot("a", context)

        let deeds = try await world.realm.auditEntries().entries.map(\.deed)

        #expect(deeds.suffix(3) == ["snapshot.save", "snapshot.load", "snapshot.delete"])
    }
}
