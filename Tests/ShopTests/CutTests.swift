// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Synchronization
import Testing

@testable import Shop

/// Kills the store before and after every call that it makes of a port, and
/// asks a new one for the same purchase.
@Suite struct CutTests {
    @Test func `a store that dies at any call sells once by rule`() async throws {
        let calls = try await Story(cut: nil, hasProcessor: false).run()
        #expect(calls > 10)

        var fired = 0
        for call in 0..<calls {
            for side in Knife.Side.allCases {
                let story = Story(cut: (call, side), hasProcessor: false)
                _ = try await story.run()
                fired += story.knife.fired
            }
        }

        #expect(fired == 2 * calls)
    }

    @Test func `a store that dies at any call charges once`() async throws {
        let calls = try await Story(cut: nil, hasProcessor: true).run()
        #expect(calls > 12)

        var fired = 0
        for call in 0..<calls {
            for side in Knife.Side.allCases {
                let story = Story(cut: (call, side), hasProcessor: true)
                _ = try await story.run()
                fired += story.knife.fired
            }
        }

        #expect(fired == 2 * calls)
    }

    @Test func `a sum is given back wherever the store dies`() async throws {
        let calls = try await Story(cut: nil, hasProcessor: true, changesPrice: true).run()

        var fired = 0
        for call in 0..<calls {
            for side in Knife.Side.allCases {
                let story = Story(cut: (call, side), hasProcessor: true, changesPrice: true)
                _ = try await story.run()
                fired += story.knife.fired
            }
        }

        #expect(fired == 2 * calls)
    }
}

/// One customer's way from opening the store to a finished transaction,
/// walked until it is done however often the store dies on the way.
private final class Story: Sendable {
    let knife: Knife
    private let places = TestPlaces(isOneProcess: true)
    private let wall = TestWall()
    private let processor: ScriptedProcessor?
    private let changesPrice: Bool
    private let restarts = Mutex<UInt64>(1)

    init(cut: (Int, Knife.Side)?, hasProcessor: Bool, changesPrice: Bool = false) {
        knife = Knife(cut)
        processor = hasProcessor ? ScriptedProcessor([]) : nil
        self.changesPrice = changesPrice
    }

    /// Answers how many calls of ports were made.
    func run() async throws -> Int {
        var deaths = 0
        while true {
            do {
                try await walk()
                break
            } catch is Knife.Died {
                deaths += 1
                try #require(deaths < 3)
            }
        }
        try await audit()
        return knife.calls
    }

    private func open(_ knife: Knife) async throws -> Store {
        knife.revive()
        let randomness = restarts.withLock { restarts in
            restarts += 1
            return restarts
        }
        let cutting = processor.map { CutAuthoriser(authoriser: $0, knife: knife) }
        return try await Store.open(
            StorePorts(
                places: knife.cutting(places.places), keys: try await TestWorld.keys.value,
                wall: wall.clock, randomness: .seeded(randomness), authoriser: { _ in cutting },
                passwordCost: PasswordCost(rounds: 2)))
    }

    private func walk() async throws {
        let store = try await open(knife)
        let realm = try await store.realm(named: Store.defaultRealm)
        if try await realm.apps().isEmpty { try await put(990, realm) }
        let signedIn = try await realm.signIn(
            SignInRequest(deviceUUID: TestWorld.deviceUUID), TestWorld.context)
        let session = try await realm.session(token: signedIn.token)
        let answer = try await buy(realm, session)
        try knife.check()
        if !changesPrice {
            try #require(answer.state == "sold")
            let transactions = try await realm.transactions(
                since: 0, session, TestWorld.context)
            let sold = try #require(transactions.transactions.first)
            let payload = try TestWorld.payload(sold.signedTransaction, realm)
            _ = try await realm.receipt(ifNoneMatch: nil, session, TestWorld.context)
            _ = try await realm.finish(
                try #require(payload.transactionId), session, TestWorld.context)
        }
        // Due work logs a fault and leaves the rest to the next who looks.
        try await realm.workOnce()
        try knife.check()
        await store.close()
    }

    private func buy(
        _ realm: Realm, _ session: DeviceSession
    ) async throws -> PurchaseResponse {
        let request = PurchaseRequest(
            productId: "credits.5", quantity: 1, unitPrice: 990, currency: "USD")
        if changesPrice, processor?.calls.isEmpty == true {
            processor?.whenAuthorising { try await self.put(1290, realm) }
        }
        return try await realm.purchase(purchaseID(1), request, session, TestWorld.context)
    }

    private func put(_ price: Int64, _ realm: Realm) async throws {
        try await realm.putCatalogue(
            TestWorld.catalogue(price: price), app: AppDescription(bundleID: TestWorld.bundleID))
    }

    /// Whatever happened: paid once or not at all, and nothing left hanging.
    private func audit() async throws {
        let store = try await open(Knife(nil))
        let realm = try await store.realm(named: Store.defaultRealm)
        let world = TestWorld(
            places: places, wall: wall, logged: Logged(), store: store, realm: realm)
        wall.advance(seconds: 3600)
        try await realm.workOnce()
        let records = try await realm.listTransactions().transactions
        #expect(records.count == (changesPrice ? 0 : 1))
        #expect(try await world.outbox().count == records.count)
        #expect(try await world.unsettled() == 0)
        #expect(records.filter { !$0.isFinished }.isEmpty)
        if let processor {
            #expect(processor.charged.count == records.count)
            #expect(processor.captured.count == records.count)
        }
        await store.close()
    }
}

/// Counts calls of ports and, at one of them, dies: that call and all later
/// ones throw until the store is opened anew.
final class Knife: Sendable {
    enum Side: CaseIterable { case before, after }
    struct Died: Error {}

    private struct State {
        var calls = 0
        var fired = 0
        var isDead = false
    }

    private let cut: (call: Int, side: Side)?
    private let state = Mutex(State())

    init(_ cut: (Int, Side)?) {
        self.cut = cut
    }

    var calls: Int { state.withLock { $0.calls } }
    var fired: Int { state.withLock { $0.fired } }

    /// A new process: calls go through again.
    func revive() { state.withLock { $0.isDead = false } }

    /// Throws when the store has died, also where it caught that itself.
    func check() throws {
        if state.withLock({ $0.isDead }) { throw Died() }
    }

    func call<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
        try check()
        let number = state.withLock { state in
            defer { state.calls += 1 }
            return state.calls
        }
        if let cut, cut.call == number, cut.side == .before { throw die() }
        let answer = try await body()
        if let cut, cut.call == number { throw die() }
        return answer
    }

    private func die() -> Died {
        state.withLock { state in
            state.fired += 1
            state.isDead = true
        }
        return Died()
    }

    func cutting(_ places: StoragePlaces) -> StoragePlaces {
        StoragePlaces(
            registry: { migrations in
                CutStorage(storage: try await places.registry(migrations), knife: self)
            },
            realm: { id, migrations in
                CutStorage(storage: try await places.realm(id, migrations), knife: self)
            },
            deleteRealm: places.deleteRealm, isOneProcess: places.isOneProcess)
    }
}

private struct CutStorage: Storage {
    let storage: any Storage
    let knife: Knife

    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer {
        try await knife.call { try await storage.read(body) }
    }

    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        try await knife.call { try await storage.write(body) }
    }

    func close() async throws { try await storage.close() }
}

private struct CutAuthoriser: Authoriser {
    let authoriser: any Authoriser
    let knife: Knife

    func authorise(_ charge: Charge) async throws -> ChargeOutcome {
        try await knife.call { try await authoriser.authorise(charge) }
    }

    func outcome(of key: String) async throws -> ChargeOutcome? {
        try await knife.call { try await authoriser.outcome(of: key) }
    }

    func capture(_ key: String) async throws {
        try await knife.call { try await authoriser.capture(key) }
    }

    func void(_ key: String) async throws {
        try await knife.call { try await authoriser.void(key) }
    }
}
