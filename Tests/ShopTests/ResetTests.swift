// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StorageSQLite
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop

/// A sandbox that forgets what was bought in it.
@Suite(.timeLimit(.minutes(5))) struct ResetTests {
    private func reset(_ world: TestWorld) async throws -> RealmReset {
        try await world.store.resetRealm(
            named: world.realm.description.name, TestWorld.context)
    }

    @Test func `what was bought is gone, what was set up stays`() async throws {
        let world = try await TestWorld.open()
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "blob", password: "secret"))
        let key = try await world.realm.merchant.createServerKey(bundleID: TestWorld.bundleID.value)
        try await world.realm.catalogue.setNotificationURL(
            "http://127.0.0.1:9/", bundleID: TestWorld.bundleID.value, TestWorld.context)
        try await world.buy("credits.5", purchaseID(1))
        try await world.buy("pro", purchaseID(2))
        let before = try await world.realm.customers.listCustomers()

        let told = try await reset(world)

        #expect([told.purchases, told.transactions, told.sessions] == [2, 2, 2])
        let realm = world.realm
        #expect(try await realm.purchases.listTransactions().transactions.isEmpty)
        #expect(
            try await realm.purchases.listPurchases(state: nil, after: nil, limit: 9).purchases
                == [])
        #expect(try await realm.customers.listSessions().sessions.isEmpty)
        #expect(try await !realm.keeping.owesWork())
        #expect(try await realm.customers.listCustomers() == before)
        #expect(try await realm.merchant.serverKeys().map(\.keyId) == [key.keyId])
        #expect(
            try await realm.catalogue.appSummaries().map(\.notificationUrl) == [
                "http://127.0.0.1:9/"
            ])
        let entry = try #require(try await realm.auditEntries().entries.last)
        #expect(
            [entry.deed, entry.subject, entry.shown] == [
                "realm.reset", "default",
                "purchases: 2 > 0; transactions: 2 > 0; sessions: 2 > 0; generation: - > \(told.generation)",
            ])
        await world.store.close()
    }

    @Test func `sessions end, and signing in returns the new generation`() async throws {
        let world = try await TestWorld.open()
        let first = try await world.signIn()
        let recent = try await world.realm.customers.session(token: first.token)

        let told = try await reset(world)
        let second = try await world.signIn()

        let refused = [
            try await refusal { try await world.realm.customers.session(token: first.token) },
            // One that this process remembers does not buy either.
            try await refusal { try await world.buy("pro", purchaseID(1), session: recent) },
        ].map(\.error.code)
        #expect(refused == ["sessionUnknown", "sessionUnknown"])
        #expect(second.customerId == first.customerId)
        #expect(told.generation > first.realm.generation)
        #expect(second.realm.generation == told.generation)
        #expect(try await reset(world).generation > told.generation)
        await world.store.close()
    }

    @Test func `a waiting device is informed`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        let waiting = Task {
            try await world.realm.purchases.changes(
                since: session.revision, session,
                timeout: { try await StorePorts.sleepForEver(.zero) })
        }
        await until("a device that waits") { world.realm.hub.waiting > 0 }

        _ = try await reset(world)

        try await waiting.value
        await world.store.close()
    }

    @Test(arguments: [nil, 7] as [Int64?])
    func `no number comes again, in this process or the next`(seed: Int64?) async throws {
        var world = try await TestWorld.open(seed: seed)
        var numbers: [String] = []
        func buy(_ world: TestWorld) async throws {
            let signedIn = try await world.signIn()
            let session = try await world.realm.customers.session(token: signedIn.token)
            // The same purchase id: another world's.
            let sold = try await world.buy("pro", purchaseID(1), session: session)
            numbers.append(signedIn.appTransactionId)
            numbers.append(try #require(try world.verified(sold.signedTransaction).transactionId))
        }

        try await buy(world)
        _ = try await reset(world)
        try await buy(world)
        _ = try await reset(world)
        world = try await world.restarted()
        try await buy(world)

        #expect(numbers.count == 6)
        #expect(Set(numbers).count == 6)
        await world.store.close()
    }

    /// Databases of a store whose process dies with the realm's commit.
    private final class Killed: Sendable {
        private let isDead = Mutex(false)
        private let isArmed = Mutex(false)

        func arm() { isArmed.withLock { $0 = true } }

        func places(_ base: StoragePlaces) -> StoragePlaces {
            var places = base
            places.registry = {
                Watched(base: try await base.registry($0), kill: self, dies: false)
            }
            places.realm = {
                Watched(base: try await base.realm($0, $1), kill: self, dies: true)
            }
            return places
        }

        struct Watched: Storage {
            let base: any Storage
            let kill: Killed
            let dies: Bool

            func read<Answer: Sendable>(
                _ body: @escaping @Sendable (any Reading) throws -> Answer
            ) async throws -> Answer { try await base.read(body) }

            func write<Answer: Sendable>(
                _ body: @escaping @Sendable (any Writing) throws -> Answer
            ) async throws -> Answer {
                if kill.isDead.withLock({ $0 }) { throw StorageFault(.unavailable, "killed") }
                let answer = try await base.write(body)
                if dies, kill.isArmed.withLock({ $0 }) { kill.isDead.withLock { $0 = true } }
                return answer
            }

            func close() async throws { try await base.close() }
            func wake(_ word: String) { base.wake(word) }
            func wakes() -> AsyncStream<Wake> { base.wakes() }
        }
    }

    private func open(_ place: BackupPlace, _ places: StoragePlaces) async throws -> Store {
        try await Store.open(
            StorePorts(
                places: places, keys: try place.keys(), wall: place.wall.clock,
                randomness: .seeded(7), passwordCost: PasswordCost(rounds: 2)))
    }

    private func resets(_ store: Store) async throws -> [String] {
        try await store.auditEntries().entries.filter { $0.deed == "realm.reset" }
            .map { "\($0.who) \($0.subject) \($0.shown)" }
    }

    @Test(arguments: BackupEngine.allCases)
    func `a process that dies with a reset has it in the store's audit, once`(
        engine: BackupEngine
    ) async throws {
        let place = try await BackupPlace(engine)
        await (try await place.open(isNew: true)).close()
        let kill = Killed()
        let first = try await open(place, kill.places(place.places))
        kill.arm()
        _ = try? await first.resetRealm(named: Store.defaultRealm, TestWorld.context)
        await first.close()

        let second = try await open(place, place.places)
        let generation = try await second.realm(named: Store.defaultRealm).description.generation
        let told = try await resets(second)
        let again = try await second.resetRealm(named: Store.defaultRealm, TestWorld.context)
        await second.close()
        let third = try await open(place, place.places)

        let words = "\(TestWorld.context.actor) default generation: - > "
        #expect(generation > 1)
        #expect(told == [words + "\(generation)"])
        #expect(try await resets(third) == [told.first, words + "\(again.generation)"])
        await third.close()
    }

    @Test func `a reset that died is in the store's audit before its realm is deleted`()
        async throws
    {
        let place = try await BackupPlace(.sqlite)
        let store = try await place.open(isNew: true)
        _ = try await store.createRealm(CreateRealmRequest(name: "spare"))
        let realm = try await store.realm(named: "spare")
        let registry = store.registry
        // Without what comes after the realm's commit.
        let reset = try await realm.keeping.reset(TestWorld.context) { note in
            try await registry.write { try note.write($0) }
        }
        // What was announced, and never can be made.
        try await registry.write {
            try ResetNote(realm: realm.description.id, generation: 1).write($0)
        }
        #expect(try await resets(store).isEmpty)

        try await store.deleteRealm(named: "spare", TestWorld.context)

        let told = try await resets(store)
        #expect(
            told.count == 1 && told.first?.hasSuffix("generation: - > \(reset.generation)") == true)
        await store.close()
    }

    @Test func `a note of a reset that another outran goes`() async throws {
        let place = try await BackupPlace(.sqlite)
        let store = try await place.open(isNew: true)
        let realm = try await store.realm(named: Store.defaultRealm)
        let (registry, id) = (store.registry, realm.description.id)
        _ = try await realm.keeping.reset(TestWorld.context) { _ in }
        try await registry.write { try ResetNote(realm: id, generation: 1).write($0) }

        try await store.auditResets(of: realm)

        let left = try await registry.read {
            try $0.query(Statement.ResetNotes.list, [.text(id)]).count
        }
        #expect(left == 0)
        #expect(try await resets(store).isEmpty)
        await store.close()
    }

    @Test func `a reset that is about to be made is left to its process`() async throws {
        let place = try await BackupPlace(.sqlite)
        let store = try await place.open(isNew: true)
        let realm = try await store.realm(named: Store.defaultRealm)
        let registry = store.registry

        _ = try await realm.keeping.reset(TestWorld.context) { note in
            try await registry.write { try note.write($0) }
            try await store.auditResets(of: realm)
        }
        #expect(try await resets(store).isEmpty)
        try await store.auditResets(of: realm)
        try await store.auditResets(of: realm)

        #expect(try await resets(store).count == 1)
        await store.close()
    }

    @Test func `a production realm is not reset, nor one that does not exist`() async throws {
        let world = try await TestWorld.open(realm: "live", environment: .production)

        let production = try await refusal { try await reset(world) }
        let missing = try await refusal {
            try await world.store.resetRealm(named: "nowhere", TestWorld.context)
        }

        #expect(production.kind == .conflict)
        #expect(
            [production.error.code, production.error.field, production.error.rule] == [
                "realmIsProduction", "realm", "only a sandbox is reset",
            ])
        #expect(production.error.remedy != nil)
        #expect(missing.error.code == "realmNotFound")
        await world.store.close()
    }

    @Test func `while a processor is owed a question nothing is forgotten`() async throws {
        let world = try await TestWorld.open()
        try await world.buy("credits.5", purchaseID(1))
        try await world.realm.storage.write { writing in
            try writing.execute(
                Statement(
                    "test.owe",
                    """
                    INSERT INTO errands (customer_id, kind, subject, lane, due_at, attempt, fence)
                    VALUES (10, 'settle', 's', 'processor', 0, 0, 0)
                    """), [])
        }

        let refused = try await refusal { try await reset(world) }

        #expect(refused.error.code == "processorIsOwed")
        #expect(try await world.realm.purchases.listTransactions().transactions.count == 1)
        await world.store.close()
    }

    @Test func `every table of a realm is kept or cleared by name`() async throws {
        let storage = try await SQLiteStorage.open(file: nil, migrations: RealmSchema.migrations)
        let names = try await storage.read { reading in
            try reading.query(
                Statement(
                    "test.tables",
                    """
                    SELECT name FROM sqlite_master WHERE type = 'table'
                        AND name NOT LIKE 'sqlite_%' AND name <> 'schema_migrations'
                    """), []
            ).map { try $0.text("name") }
        }
        try await storage.close()

        let known = RealmSchema.tables.map(\.table.name)
        #expect(Set(known).count == known.count)
        #expect(Set(names) == Set(known))
    }
}
