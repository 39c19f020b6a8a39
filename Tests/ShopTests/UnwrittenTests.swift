// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Synchronization
import Testing

@testable import Shop
@testable import Work

/// A processor has approved, and the database refuses the sale.
@Suite(.timeLimit(.minutes(5))) struct UnwrittenTests {
    /// A store on the same databases, which refuse to write sales while it is told so.
    private func world(
        _ processor: ScriptedProcessor, _ refusing: RefusingStorage.Switch
    ) async throws -> TestWorld {
        let world = try await TestWorld.open(processor: processor)
        await world.store.close()
        let store = try await Store.open(
            StorePorts(
                places: RefusingStorage.places(world.places.places, refusing),
                keys: try await TestWorld.keys.value, wall: world.wall.clock,
                randomness: .seeded(99), authoriser: { _ in processor },
                passwordCost: PasswordCost(rounds: 2), log: world.logged.log))
        return TestWorld(
            places: world.places, wall: world.wall, logged: world.logged, store: store,
            realm: try await store.realm(named: Store.defaultRealm))
    }

    /// How many seconds pass until each further question to the processor.
    private func work(_ world: TestWorld, seconds: Int) async throws {
        for _ in 0..<seconds / 60 {
            try await world.realm.keeping.workOnce()
            world.wall.advance(seconds: 60)
        }
    }

    @Test func `it is tried again later and later, shown, and the sum is given back`()
        async throws
    {
        let processor = ScriptedProcessor([.approve])
        let world = try await world(processor, RefusingStorage.Switch(.constraint))
        let session = try await world.session()

        await #expect(throws: StorageFault.self) {
            try await world.buy(purchaseID(1), session: session)
        }
        // Workers and devices ask at once, and the processor is left alone.
        for _ in 1...5 {
            try await world.realm.keeping.workOnce()
            #expect(try await world.buy(purchaseID(1), session: session).state == "authorising")
        }
        #expect(processor.calls == ["authorise"])
        #expect(processor.charged.count == 1)
        let figures = try await world.store.figures().flatMap(\.errands)
        #expect(figures.map(\.kind) == ["unwritten"])
        #expect(figures.map(\.owed) == [1])

        try await work(world, seconds: 3600 * 3)

        let answer = try await world.buy(purchaseID(1), session: session)
        #expect(answer.refusal?.code == "notRecorded")
        #expect(processor.charged.isEmpty)
        #expect(try await world.unsettled() == 0)
        #expect(processor.calls.count { $0 == "void" } == 1)
        #expect(processor.calls.count { $0 == "outcome" } == PurchaseRoom.unwrittenAttemptsMax - 1)
        #expect(
            world.logged.count("a settlement cannot be written") == PurchaseRoom
                .unwrittenAttemptsMax + 1)
        #expect(
            world.logged.count("a sum is given back, since its sale cannot be written") == 1)
        #expect(try await world.store.figures().flatMap(\.errands).isEmpty)
    }

    @Test func `an errand for a purchase that is decided is done, and nobody is asked`()
        async throws
    {
        let processor = ScriptedProcessor([.approve])
        let world = try await TestWorld.open(processor: processor)
        let session = try await world.session()
        _ = try await world.buy("credits.5", purchaseID(1), session: session)
        try await world.realm.keeping.workOnce()
        let calls = processor.calls
        let now = world.wall.clock.now
        try await world.realm.storage(of: session.customer).write { writing in
            try Errands.add(
                kind: SettleErrands.asked,
                subject: "\(session.bundleID.value)/\(purchaseID(1))",
                lane: ProcessorErrands.lane, dueAt: now, customer: session.customer, writing)
        }
        #expect(try await world.realm.keeping.owesWork())

        try await world.realm.keeping.workOnce()

        #expect(try await !world.realm.keeping.owesWork())
        #expect(processor.calls == calls)
    }

    @Test func `an errand that was tried in vain is counted as failed, one that is held is not`()
        async throws
    {
        let processor = ScriptedProcessor([.loseRequest])
        let world = try await TestWorld.open(processor: processor)
        @Sendable func settling() async throws -> [Int64] {
            let errands = try await world.store.figures().flatMap(\.errands)
            guard let one = errands.first(where: { $0.kind == SettleErrands.asked }) else {
                return []
            }
            return [one.owed, one.failed]
        }
        let held = Mutex<[Int64]>([])
        processor.whenAuthorising {
            let figures = try await settling()
            held.withLock { $0 = figures }
        }

        let answer = try await world.buy("credits.5", purchaseID(1))

        #expect(answer.state == "authorising")
        #expect(held.withLock { $0 } == [1, 0])
        #expect(try await settling() == [1, 1])
    }

    @Test func `a purchase in an app that is gone is a fault`() async throws {
        let world = try await TestWorld.open(processor: ScriptedProcessor([.loseRequest]))
        let session = try await world.session()
        _ = try await world.buy("credits.5", purchaseID(1), session: session)
        let key = PurchaseKey(
            customer: session.customer, bundleID: "com.example.gone",
            purchaseID: PurchaseID(purchaseID(1)))
        try await world.realm.storage(of: session.customer).write { writing in
            for table in ["purchases", "app_accounts"] {
                let move = Statement(
                    "test.move", "UPDATE \(table) SET bundle_id = 'com.example.gone'")
                try writing.execute(move, [])
            }
        }
        let row = try #require(try await world.realm.purchases.purchaseRow(key))

        let fault = await #expect(throws: StorageFault.self) {
            _ = try await world.realm.purchases.commit(of: row)
        }

        #expect(fault?.code == .malformedRow)
    }

    @Test func `a sale that can be written after all is sold`() async throws {
        let processor = ScriptedProcessor([.approve])
        let refusing = RefusingStorage.Switch(.constraint)
        let world = try await world(processor, refusing)
        let session = try await world.session()
        _ = try? await world.buy(purchaseID(1), session: session)
        try await work(world, seconds: 300)
        refusing.set(nil)

        try await work(world, seconds: 3600)

        #expect(try await world.buy(purchaseID(1), session: session).state == "sold")
        #expect(processor.charged.count == 1)
        #expect(!processor.calls.contains("void"))
    }

    @Test func `a renewal whose answer is refused is tried a few times, and given back`()
        async throws
    {
        let processor = ScriptedProcessor([])
        let refusing = RefusingStorage.Switch(.constraint)
        let world = try await world(processor, refusing)
        try await world.realm.catalogue.importCatalogue(
            TestWorld.withSubscriptions(), app: AppDescription(bundleID: TestWorld.bundleID),
            TestWorld.context)
        refusing.set(nil)
        let session = try await world.session()
        try await world.buy("news", purchaseID(1), session: session)
        try await world.realm.keeping.workOnce()
        refusing.set(.constraint)
        func kinds() async throws -> [String] {
            try await world.realm.subscriptions.history(of: session.customer.description)
                .events.map(\.kind)
        }
        func owed() async throws -> [String] {
            try await world.store.figures().flatMap(\.errands).map(\.kind)
        }

        let moved = try await world.realm.moveClock(
            MoveClockRequest(advancePeriod: "P1M"), TestWorld.context)

        #expect(moved.jump == nil, "a jump does not wait for what cannot be written")
        #expect(try await owed() == [WorkKind.renewalUnwritten])
        #expect(try await kinds() == ["subscribed"])
        let calls = processor.calls.count
        for _ in 1...5 { try await world.realm.keeping.workOnce() }
        #expect(processor.calls.count == calls)
        try await work(world, seconds: 3600 * 3)
        #expect(try await kinds().prefix(2) == ["subscribed", "chargeDeclined"])
        #expect(
            world.logged.count("a sum is given back, since its renewal cannot be written") >= 1)
        refusing.set(nil)
        try await work(world, seconds: 3600 * 4)
        try await world.jump(Period(3, .day))
        try await world.realm.keeping.workOnce()
        #expect(["recovered", "renewed"].contains(try await kinds().last))
        #expect(try await owed().isEmpty)
        let sold = try await world.realm.purchases.listTransactions().transactions
        #expect(processor.charged.count == sold.count && processor.captured.count == sold.count)
        try await world.checkFolds()
    }

    @Test func `a database that does not answer is waited for, without end`() async throws {
        let processor = ScriptedProcessor([.approve])
        let refusing = RefusingStorage.Switch(.unavailable)
        let world = try await world(processor, refusing)
        let session = try await world.session()
        _ = try? await world.buy(purchaseID(1), session: session)

        for _ in 1...5 { try await world.realm.keeping.workOnce() }
        #expect(processor.calls == ["authorise"])
        try await work(world, seconds: 3600 * 12)
        #expect(processor.charged.count == 1)
        refusing.set(nil)
        try await work(world, seconds: 3600 * 2)

        #expect(try await world.buy(purchaseID(1), session: session).state == "sold")
        #expect(!processor.calls.contains("void"))
    }
}

/// Refuses to insert transactions while it is told so.
private struct RefusingStorage: Storage {
    /// A class, because a test and its databases share it.
    final class Switch: Sendable {
        private let state: Mutex<StorageFault.Code?>

        init(_ code: StorageFault.Code) { state = Mutex(code) }

        func set(_ code: StorageFault.Code?) { state.withLock { $0 = code } }

        func check(_ statement: Statement) throws {
            guard statement.name == "transactions.insert", let code = state.withLock({ $0 }) else {
                return
            }
            throw StorageFault(code, "no such sale")
        }
    }

    let storage: any Storage
    let refusing: Switch

    static func places(_ places: StoragePlaces, _ refusing: Switch) -> StoragePlaces {
        var answer = places
        let home = places.realm
        answer.realm = { RefusingStorage(storage: try await home($0, $1), refusing: refusing) }
        for (index, cluster) in places.clusters.enumerated() {
            answer.clusters[index].realm = {
                RefusingStorage(storage: try await cluster.realm($0, $1), refusing: refusing)
            }
        }
        return answer
    }

    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer { try await storage.read(body) }

    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        let refusing = refusing
        return try await storage.write { writing in
            try body(Watched(writing: writing, refusing: refusing))
        }
    }

    func wake(_ word: String) { storage.wake(word) }

    func wakes() -> AsyncStream<Wake> { storage.wakes() }

    func close() async throws { try await storage.close() }

    private struct Watched: Writing {
        let writing: any Writing
        let refusing: Switch

        func query(_ statement: Statement, _ values: [SQLValue]) throws -> [Row] {
            try refusing.check(statement)
            return try writing.query(statement, values)
        }

        func databaseTime() throws -> Int64 { try writing.databaseTime() }

        func execute(_ statement: Statement, _ values: [SQLValue]) throws {
            try refusing.check(statement)
            try writing.execute(statement, values)
        }

        func claim(_ statement: Statement, _ values: [SQLValue]) throws -> [Row] {
            try writing.claim(statement, values)
        }

        func insertMany(_ statement: Statement, _ rows: [[SQLValue]]) throws {
            try writing.insertMany(statement, rows)
        }
    }
}

extension TestWorld {
    @discardableResult
    fileprivate func buy(_ id: String, session: DeviceSession) async throws -> PurchaseResponse {
        try await buy("credits.5", id, session: session)
    }
}
