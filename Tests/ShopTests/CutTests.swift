// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop

/// Kills the store before and after every call that it makes of a port, and
/// asks a new one for the same purchase.
@Suite(.unforgiven, .timeLimit(.minutes(10))) struct CutTests {
    @Test func `a store that dies at any call sells once by rule`() async throws {
        try await cut(more: 10) { Story(cut: $0, hasProcessor: false) }
    }

    @Test(arguments: [false, true])
    func `a store that dies at any call sells once on another cluster`(
        hasProcessor: Bool
    ) async throws {
        try await cut(more: 20) {
            Story(cut: $0, hasProcessor: hasProcessor, far: [TestClusters.far])
        }
    }

    @Test func `a store that dies at any call charges once`() async throws {
        try await cut(more: 12) { Story(cut: $0, hasProcessor: true) }
    }

    @Test func `a sum is given back wherever the store dies`() async throws {
        try await cut(more: 12) { Story(cut: $0, hasProcessor: true, changesPrice: true) }
    }

    @Test(
        arguments: [(.approved, false), (.approved, true), (.declined, true), (.timedOut, true)]
            as [(ParentsAnswer, Bool)])
    func `a payment that waits is answered once wherever the store dies`(
        answer: ParentsAnswer, hasProcessor: Bool
    ) async throws {
        try await cut(more: 10) {
            Story(cut: $0, hasProcessor: hasProcessor, parent: answer)
        }
    }

    /// Each story on both sides of a third of its calls that the run's seed
    /// draws.
    private func cut(
        more than: Int,
        _ story: (Knife.Cut?) -> Story
    ) async throws {
        let calls = try await story(nil).run()
        #expect(calls > than)

        var fired = 0
        let cuts = SeededShare.of(0..<calls, oneIn: TestPlaces.isOnPostgres ? 9 : 3)
        for call in cuts {
            for side in Knife.Side.allCases {
                let story = story((call, side))
                _ = try await story.run()
                fired += story.knife.fired
            }
        }

        #expect(fired == 2 * cuts.count)
    }
}

/// What becomes of a payment that waits for approval.
enum ParentsAnswer: String, Sendable {
    case approved, declined, timedOut
}

/// One customer's way from opening the store to a finished transaction,
/// walked until it is done however often the store dies on the way.
private final class Story: Sendable {
    let knife: Knife
    private let places: TestPlaces
    private let wall = TestWall()
    private let processor: ScriptedProcessor?
    private let changesPrice: Bool
    /// Nil: nobody has to be asked.
    private let parent: ParentsAnswer?
    private let restarts = Mutex<UInt64>(1)

    init(
        cut: Knife.Cut?, hasProcessor: Bool, changesPrice: Bool = false,
        parent: ParentsAnswer? = nil, far: [String]? = nil
    ) {
        places = TestPlaces(isOneProcess: true, far: far)
        knife = Knife(cut)
        processor = hasProcessor ? ScriptedProcessor([]) : nil
        self.changesPrice = changesPrice
        self.parent = parent
    }

    /// Whether the story ends with a transaction.
    private var isSold: Bool { !changesPrice && [nil, .approved].contains(parent) }

    /// Answers how many calls of ports were made.
    func run() async throws -> Int {
        let calls = try await knife.walk(deathsMax: 3) { try await walk() }
        try await audit()
        return calls
    }

    private func open(_ knife: Knife) async throws -> Store {
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
        if try await realm.catalogue.apps().isEmpty { try await put(990, realm) }
        if parent != nil { try await makeKid(realm) }
        let signedIn = try await realm.customers.signIn(
            SignInRequest(
                deviceUUID: TestWorld.deviceUUID, customer: parent == nil ? nil : Self.kid),
            TestWorld.context)
        let session = try await realm.customers.session(token: signedIn.token)
        var answer = try await buy(realm, session)
        try knife.check()
        if answer.state == "waiting" {
            try await ask(realm)
            answer = try await buy(realm, session)
            try knife.check()
        }
        if isSold {
            try #require(answer.state == "sold")
            let transactions = try await realm.purchases.transactions(
                since: 0, session, TestWorld.context)
            let sold = try #require(transactions.transactions.first)
            let payload = try TestWorld.payload(sold.signedTransaction, realm)
            _ = try await realm.purchases.receipt(ifNoneMatch: nil, session, TestWorld.context)
            _ = try await realm.purchases.finish(
                try #require(payload.transactionId), session, TestWorld.context)
        }
        // Due work logs a fault and leaves the rest to the next who looks.
        try await realm.keeping.workOnce()
        try knife.check()
        await store.close()
    }

    private static let kid = "kid"

    private func makeKid(_ realm: Realm) async throws {
        let request = CreateCustomerRequest(name: Self.kid, asksToBuy: true)
        do { _ = try await realm.customers.createCustomer(request) } catch let refusal as Refusal {
            // An earlier life made it.
            guard refusal.kind == .conflict else { throw refusal }
        }
    }

    private func ask(_ realm: Realm) async throws {
        if let parent, parent != .timedOut {
            _ = try await realm.purchases.answerApproval(
                purchaseID(1), AnswerApprovalRequest(answer: parent.rawValue), TestWorld.context)
        } else {
            _ = try await realm.moveClock(
                MoveClockRequest(advanceMilliseconds: ApprovalAnswer.limitMilliseconds),
                TestWorld.context)
        }
        try knife.check()
    }

    private func buy(
        _ realm: Realm, _ session: DeviceSession
    ) async throws -> PurchaseResponse {
        let request = PurchaseRequest(
            productId: "credits.5", quantity: 1, unitPrice: 990, currency: "USD")
        if changesPrice, processor?.calls.isEmpty == true {
            processor?.whenAuthorising { try await self.put(1290, realm) }
        }
        return try await realm.purchases.purchase(
            purchaseID(1), request, session, TestWorld.context)
    }

    private func put(_ price: Int64, _ realm: Realm) async throws {
        try await realm.catalogue.putCatalogue(
            TestWorld.catalogue(price: price), app: AppDescription(bundleID: TestWorld.bundleID))
    }

    /// Whatever happened: paid once or not at all, and nothing left hanging.
    private func audit() async throws {
        let store = try await open(Knife(nil))
        let realm = try await store.realm(named: Store.defaultRealm)
        let world = TestWorld(
            places: places, wall: wall, logged: Logged(), store: store, realm: realm)
        wall.advance(seconds: 3600)
        try await realm.keeping.workOnce()
        let records = try await realm.purchases.listTransactions().transactions
        #expect(records.count == (isSold ? 1 : 0))
        #expect(try await realm.purchases.listPurchases(state: "waiting").purchases.isEmpty)
        if let parent {
            let approvals = try await realm.purchases.listPurchases().purchases.map(\.approval)
            #expect(approvals == [parent.rawValue])
        }
        #expect(try await !realm.keeping.owesWork())
        let owed = Statement("test.outbox", "SELECT * FROM outbox")
        let rows = try await realm.rows(owed)
        #expect(rows.count == records.count)
        #expect(try await world.unsettled() == 0)
        #expect(records.filter { !$0.isFinished }.isEmpty)
        if let processor {
            #expect(processor.charged.count == records.count)
            #expect(processor.captured.count == records.count)
        }
        await store.close()
    }
}

extension Knife {
    /// Storages whose every read and commit is a call.
    func cutting(_ places: StoragePlaces) -> StoragePlaces {
        var cut = StoragePlaces(
            registry: { migrations in
                CutStorage(storage: try await places.registry(migrations), knife: self)
            },
            realm: { id, migrations in
                CutStorage(storage: try await places.realm(id, migrations), knife: self)
            },
            deleteRealm: places.deleteRealm, isOneProcess: places.isOneProcess)
        cut.clusters = places.clusters.map { cluster in
            ClusterPlace(
                buckets: cluster.buckets,
                realm: { id, migrations in
                    CutStorage(storage: try await cluster.realm(id, migrations), knife: self)
                }, deleteRealm: cluster.deleteRealm)
        }
        return cut
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

struct CutAuthoriser: Authoriser {
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

    func refund(_ refund: RefundCharge) async throws {
        try await knife.call { try await authoriser.refund(refund) }
    }

    func takeBack(_ refund: RefundCharge) async throws {
        try await knife.call { try await authoriser.takeBack(refund) }
    }
}
