// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop
@testable import Work

@Suite(.timeLimit(.minutes(5))) struct ProcessorTests {
    private let price = Money(
        Amount(milliunits: 990), Currency(code: "USD") ?? Storefront.all[0].currency)

    @Test func `an approved charge sells`() async throws {
        let processor = ScriptedProcessor([.approve])
        let world = try await TestWorld.open(processor: processor)

        let response = try await world.buy(purchaseID(1))

        #expect(response.state == "sold")
        #expect(processor.calls == ["authorise"])
        #expect(processor.charged == [price])
        #expect(try await world.outbox().count == 1)
    }

    @Test func `a declined charge is a recorded refusal`() async throws {
        let processor = ScriptedProcessor([.decline])
        let world = try await TestWorld.open(processor: processor)
        let session = try await world.session()

        let response = try await world.buy(purchaseID(1), session: session)
        let again = try await world.buy(purchaseID(1), session: session)

        #expect(response.refusal?.code == "declined")
        #expect(response.product == nil, "only a changed price brings the product")
        #expect(again == response)
        #expect(processor.calls == ["authorise"])
        #expect(try await world.outbox().isEmpty)
    }

    @Test func `a lost answer stays authorising and is asked for, never charged again`()
        async throws
    {
        let processor = ScriptedProcessor([.chargeAndLoseAnswer])
        let world = try await TestWorld.open(processor: processor)

        let first = try await world.buy(purchaseID(1))
        let second = try await world.buy(purchaseID(1))

        #expect(first.state == "authorising")
        #expect(first.signedTransaction == nil)
        #expect(second.state == "sold")
        #expect(processor.calls == ["authorise", "outcome"])
        #expect(processor.charged == [price])
    }

    @Test func `the worker takes over a charge without an answer`() async throws {
        let world = try await TestWorld.open(processor: ScriptedProcessor([.loseRequest]))
        let session = try await world.session()
        let bell = world.realm.bells[0]
        // What rang before is heard first.
        bell.ring()
        await bell.wait()

        let response = try await world.buy(purchaseID(1), session: session)

        let isHeard = Mutex(false)
        let waiting = Task {
            await bell.wait()
            isHeard.withLock { $0 = true }
        }
        await until("a ring for the worker") { isHeard.withLock { $0 } }
        waiting.cancel()
        await waiting.value
        #expect(response.state == "authorising")
    }

    @Test func `a charge that never arrived is made under the same key`() async throws {
        let processor = ScriptedProcessor([.loseRequest, .approve])
        let world = try await TestWorld.open(processor: processor)

        let first = try await world.buy(purchaseID(1))
        let second = try await world.buy(purchaseID(1))

        #expect(first.state == "authorising")
        #expect(second.state == "sold")
        #expect(processor.calls == ["authorise", "outcome", "authorise"])
        #expect(processor.charged == [price])
    }

    @Test func `a processor that cannot be asked leaves it authorising`() async throws {
        let processor = ScriptedProcessor([.chargeAndLoseAnswer])
        let world = try await TestWorld.open(processor: processor)
        try await world.buy(purchaseID(1))
        processor.make(asksFail: true)

        let again = try await world.buy(purchaseID(1))

        #expect(again.state == "authorising")
        #expect(processor.calls == ["authorise", "outcome"])
    }

    @Test func `what a dead process left authorising is settled at start`() async throws {
        let processor = ScriptedProcessor([.chargeAndLoseAnswer, .loseRequest, .approve])
        let world = try await TestWorld.open(processor: processor)
        try await world.buy(purchaseID(1))
        try await world.buy("credits.10", purchaseID(2))

        let next = try await world.restarted(processor: processor)

        #expect(
            Set(processor.charged.map(\.amount.milliunits)) == [price.amount.milliunits, 1990])
        #expect(try await next.realm.purchases.listTransactions().transactions.count == 2)
        #expect(try await next.unsettled() == 0)
        #expect(try await next.buy(purchaseID(1)).state == "sold")
        #expect(try await next.outbox().count == 2)
    }

    @Test func `a store opens although its database loses an answer about what was left`()
        async throws
    {
        let processor = ScriptedProcessor([.chargeAndLoseAnswer, .approve])
        let world = try await TestWorld.open(processor: processor)
        try await world.buy(purchaseID(1))

        let next = try await world.reopened(
            LosingStorage.losing("errands.take", in: world.places.places), processor)

        #expect(world.logged.count("what was left is not settled yet") == 1)
        #expect(try await next.unsettled() == 1)
        #expect(try await next.buy("credits.10", purchaseID(2)).state == "sold")
    }

    @Test func `a store opens although the processor is silent`() async throws {
        let processor = ScriptedProcessor([.chargeAndLoseAnswer])
        let world = try await TestWorld.open(processor: processor)
        try await world.buy(purchaseID(1))
        processor.make(asksFail: true)

        let next = try await world.restarted(processor: processor)

        #expect(try await next.unsettled() == 1)
        processor.make(asksFail: false)
        #expect(try await next.buy(purchaseID(1)).state == "sold")
        #expect(processor.charged == [price])
    }

    @Test func `a start settles what it reaches, and passes over a cluster that is away alone`()
        async throws
    {
        let processor = ScriptedProcessor([.chargeAndLoseAnswer, .chargeAndLoseAnswer])
        let world = try await ClusterTests.world(processor: processor)
        let near = try await world.session(customer: "neighbour")
        try await world.buy(purchaseID(1))
        try await world.buy(purchaseID(1), session: near)
        processor.make(asksFail: true)
        let faults = Faults()
        let next = try await world.reopened(faults.places(world.places.places), processor)
        processor.make(asksFail: false)
        func settle(_ home: StorageFault.Code?, _ far: StorageFault.Code?) async -> String? {
            faults.codes.withLock { $0 = [home, far] }
            defer { faults.codes.withLock { $0 = [nil, nil] } }
            return await ClusterTests.fault {
                try await next.realm.purchases.settleAll(TestWorld.context)
            }?
            .code.rawValue
        }

        let homeIsAway = await settle(.unavailable, nil)
        let isDamaged = await settle(nil, .malformedRow)
        let isAway = await settle(nil, .unavailable)

        #expect([homeIsAway, isDamaged, isAway] == ["unavailable", "malformedRow", nil])
        #expect(next.logged.count("what a cluster's customers owe is not settled yet") == 1)
        #expect(try await next.unsettled() == 1, "the neighbour's is settled")
        #expect(await settle(nil, nil) == nil)
        #expect(try await next.unsettled() == 0)
        #expect(processor.charged == [price, price])
    }

    /// The sum could be neither taken nor given back once the realm is gone.
    @Test func `a realm whose processor is owed an answer is not deleted`() async throws {
        let processor = ScriptedProcessor([.chargeAndLoseAnswer])
        let world = try await TestWorld.open(processor: processor, realm: "paid")
        _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: "kid"))
        let session = try await world.session(customer: "kid")
        let asked = try await world.buy(purchaseID(1), session: session)
        #expect(asked.state == "authorising")

        await #expect(throws: ClearedRows.processorIsOwed) {
            try await world.store.deleteRealm(named: "paid")
        }

        #expect(try await world.buy(purchaseID(1), session: session).state == "sold")
        await #expect(throws: ClearedRows.processorIsOwed, "the sum is not taken yet") {
            try await world.store.deleteRealm(named: "paid")
        }
    }

    /// As in a backup that was changed by hand.
    @Test func `an errand that its purchase does not owe calls no processor`() async throws {
        let processor = ScriptedProcessor([.approve])
        let world = try await TestWorld.open(processor: processor)
        let session = try await world.session()
        #expect(try await world.buy(purchaseID(1), session: session).state == "sold")
        let forge = Statement(
            "test.forge", "UPDATE errands SET kind = 'void' WHERE kind = 'capture'")
        try await world.realm.storage(of: session.customer).write { try $0.execute(forge, []) }

        try await world.realm.keeping.workOnce()

        #expect(processor.calls == ["authorise"])
        #expect(world.logged.count("an errand contradicts its purchase, and is dropped") == 1)
    }

    /// As a database that answers what it does not hold: nothing is sold by its word.
    @Test(arguments: [false, true])
    func `a purchase whose row does not move is not sold`(isApproved: Bool) async throws {
        let processor = ScriptedProcessor([.approve])
        let world = try await TestWorld.open(processor: processor)
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "kid", asksToBuy: isApproved))
        let next = try await world.reopened(
            LosingStorage.silent("purchases.move", in: world.places.places), processor)
        let kid = try await next.session(customer: "kid")

        let fault = await ClusterTests.fault {
            let asked = try await next.buy(purchaseID(1), session: kid)
            guard asked.state == "waiting" else { return }
            _ = try await next.realm.purchases.answerApproval(
                purchaseID(1), AnswerApprovalRequest(answer: "approved"), TestWorld.context)
        }

        #expect(try await next.realm.purchases.listTransactions().transactions.isEmpty)
        #expect(fault?.code == .malformedRow)
        #expect(processor.calls == (isApproved ? [] : ["authorise"]))
    }

    @Test func `a sum is given back when the second decision refuses`() async throws {
        let realm = Mutex<Realm?>(nil)
        let processor = ScriptedProcessor([.approve]) {
            try await realm.withLock { $0 }?.catalogue.putCatalogue(
                TestWorld.catalogue(price: 1290),
                app: AppDescription(bundleID: TestWorld.bundleID))
        }
        let world = try await TestWorld.open(processor: processor)
        realm.withLock { $0 = world.realm }
        let session = try await world.session()

        let response = try await world.buy(purchaseID(1), session: session)

        #expect(response.refusal?.code == "priceChanged")
        #expect(response.product?.price == 1290)
        #expect(try await world.unsettled() == 1)
        try await world.realm.keeping.workOnce()
        #expect(processor.calls == ["authorise", "void"])
        #expect(processor.charged == [])
        #expect(try await world.unsettled() == 0)
        #expect(try await world.outbox().isEmpty)
    }

    @Test func `a void that fails is owed until it holds`() async throws {
        let realm = Mutex<Realm?>(nil)
        let processor = ScriptedProcessor([.approve], voidFailures: 2) {
            try await realm.withLock { $0 }?.catalogue.putCatalogue(
                TestWorld.catalogue(price: 1290),
                app: AppDescription(bundleID: TestWorld.bundleID))
        }
        let world = try await TestWorld.open(processor: processor)
        realm.withLock { $0 = world.realm }

        let response = try await world.buy(purchaseID(1))
        #expect(response.refusal?.code == "priceChanged")
        try await world.realm.keeping.workOnce()
        try await world.realm.keeping.workOnce()
        #expect(processor.calls == ["authorise", "void"])
        world.wall.advance(seconds: 1)
        try await world.realm.keeping.workOnce()
        #expect(try await world.unsettled() == 1)

        let next = try await world.restarted(processor: processor)
        #expect(try await next.unsettled() == 0)
        #expect(processor.charged == [])
        #expect(processor.calls == ["authorise", "void", "void", "void"])
    }

    @Test func `two payments for what is bought once end in one charge`() async throws {
        let world = Mutex<TestWorld?>(nil)
        let isFirst = Mutex(true)
        let processor = ScriptedProcessor([.approve, .approve]) {
            let inner = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst ? world.withLock { $0 } : nil
            }
            try await inner?.buy("pro", purchaseID(2))
        }
        let opened = try await TestWorld.open(processor: processor)
        world.withLock { $0 = opened }

        let outer = try await opened.buy("pro", purchaseID(1))

        let inner = try await opened.buy("pro", purchaseID(2))
        try await opened.realm.keeping.workOnce()
        #expect(outer.state == "sold" && inner.state == "sold")
        #expect(
            try opened.verified(outer.signedTransaction).transactionId
                == opened.verified(inner.signedTransaction).transactionId)
        #expect(processor.charged.count == 1)
        #expect(try await opened.outbox().count == 1)
    }

    @Test func `a second request does not disturb a charge under way`() async throws {
        let world = Mutex<TestWorld?>(nil)
        let seen = Mutex<String?>(nil)
        let processor = ScriptedProcessor([.approve]) {
            let state = try await world.withLock { $0 }?.buy(purchaseID(1)).state
            seen.withLock { $0 = state }
        }
        let opened = try await TestWorld.open(processor: processor)
        world.withLock { $0 = opened }

        let response = try await opened.buy(purchaseID(1))

        #expect(seen.withLock { $0 } == "authorising")
        #expect(response.state == "sold")
        #expect(processor.calls == ["authorise"])
    }

    @Test func `a processor's answer is written although the caller has gone`() async throws {
        let processor = ScriptedProcessor([.approve]) { withUnsafeCurrentTask { $0?.cancel() } }
        let world = try await TestWorld.open(processor: processor)
        let session = try await world.session()

        _ = await Task { try await world.buy(purchaseID(1), session: session) }.result

        #expect(processor.calls == ["authorise"])
        #expect(try await world.realm.purchases.listPurchases().purchases.map(\.state) == ["sold"])
        #expect(try await world.outbox().count == 1)
    }

    @Test func `a caller that has gone leaves an unanswered charge to the next`() async throws {
        let processor = ScriptedProcessor([.chargeAndLoseAnswer]) {
            withUnsafeCurrentTask { $0?.cancel() }
        }
        let world = try await TestWorld.open(processor: processor)
        let session = try await world.session()

        _ = await Task { try await world.buy(purchaseID(1), session: session) }.result
        let again = try await world.buy(purchaseID(1), session: session)

        #expect(again.state == "sold")
        #expect(processor.calls == ["authorise", "outcome"])
    }

    @Test func `a fault in settling lets go of the lease, and the next request settles`()
        async throws
    {
        let processor = ScriptedProcessor([.approve])
        let world = try await TestWorld.open(processor: processor)
        let next = try await world.reopened(
            LosingStorage.failing("purchases.move", in: world.places.places), processor)

        let fault = await #expect(throws: StorageFault.self) { try await next.buy(purchaseID(1)) }
        // No time has passed: a lease that was kept would still stand.
        let again = try await next.buy(purchaseID(1))

        #expect(fault?.code == .busy)
        #expect(again.state == "sold")
        #expect(processor.calls == ["authorise", "outcome"])
    }

    @Test func `one customer cannot claim a charge of another`() async throws {
        let processor = ScriptedProcessor([.approve, .decline])
        let world = try await TestWorld.open(processor: processor)
        _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: "thief"))
        let thief = try await world.session(customer: "thief")

        let honest = try await world.buy(purchaseID(1))
        let stolen = try await world.buy(purchaseID(1), session: thief)

        #expect(honest.state == "sold")
        #expect(stolen.refusal?.code == "declined")
    }

    @Test func `a production realm with a processor sells`() async throws {
        let world = try await TestWorld.open(
            processor: ScriptedProcessor([.approve]), realm: "live",
            environment: .production)
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "ann", password: "correct horse"))
        let answer = try await world.signIn(customer: "ann", password: "correct horse")
        let session = try await world.realm.customers.session(token: answer.token)

        let response = try await world.buy(purchaseID(1), session: session)

        #expect(try world.verified(response.signedTransaction).environment == "Production")
        #expect(answer.appAppleId == 1234)
        let receipt = try await world.receipt(session)
        #expect(receipt.environment == "Production")
        #expect(receipt.appItemID == 1234)
    }
}

extension TestWorld {
    /// A new process on these databases.
    func reopened(
        _ places: StoragePlaces, _ processor: ScriptedProcessor,
        sleep: @escaping @Sendable (Duration) async throws -> Void = StorePorts.sleepForEver
    ) async throws -> TestWorld {
        await store.close()
        let store = try await Store.open(
            StorePorts(
                places: places, keys: try await TestWorld.keys.value, wall: wall.clock,
                randomness: .seeded(99), authoriser: { _ in processor },
                passwordCost: PasswordCost(rounds: 2), log: logged.log, sleep: sleep))
        return TestWorld(
            places: self.places, wall: wall, logged: logged, store: store,
            realm: try await store.realm(named: Store.defaultRealm))
    }

    /// Purchases that a processor has still to be asked about.
    func unsettled() async throws -> Int {
        let unsettled = Statement(
            "test.unsettled",
            """
            SELECT purchase_id FROM purchases
            WHERE state = 'authorising' OR void_owed_at IS NOT NULL
            """)
        return try await realm.rows(unsettled).count
    }
}

/// Faults of a realm's home and of its other cluster. A class, because both share it.
private final class Faults: Sendable {
    let codes = Mutex<[StorageFault.Code?]>([nil, nil])

    func places(_ places: StoragePlaces) -> StoragePlaces {
        var faulty = places
        let (home, far) = (places.realm, places.clusters[0].realm)
        faulty.realm = { id, migrations in
            TestPlaces.Fallible(storage: try await home(id, migrations)) { try self.check(0) }
        }
        faulty.clusters[0].realm = { id, migrations in
            TestPlaces.Fallible(storage: try await far(id, migrations)) { try self.check(1) }
        }
        return faulty
    }

    private func check(_ index: Int) throws {
        if let code = codes.withLock({ $0[index] }) { throw StorageFault(code, "as asked") }
    }
}

/// Commits what runs a statement, and says that it does not know; or gives it
/// up, once.
private struct LosingStorage: Storage {
    let storage: any Storage
    let losing: String
    /// Whether a write is still to be given up; nil where all are committed.
    let willFail: Shared<Bool>?
    /// What is not run.
    var silent: String?

    /// A class, because the clusters of a realm share it.
    final class Shared<Value: Sendable>: Sendable {
        let value: Mutex<Value>
        init(_ value: Value) { self.value = Mutex(value) }
    }

    static func losing(_ name: String, in places: StoragePlaces) -> StoragePlaces {
        wrapped(places) { LosingStorage(storage: $0, losing: name, willFail: nil) }
    }

    /// This statement writes nothing and answers nothing.
    static func silent(_ name: String, in places: StoragePlaces) -> StoragePlaces {
        wrapped(places) {
            LosingStorage(storage: $0, losing: "", willFail: nil, silent: name)
        }
    }

    /// The first write with this statement fails, and nothing of it is kept.
    static func failing(_ name: String, in places: StoragePlaces) -> StoragePlaces {
        let willFail = Shared(true)
        return wrapped(places) { LosingStorage(storage: $0, losing: name, willFail: willFail) }
    }

    private static func wrapped(
        _ places: StoragePlaces, _ wrap: @escaping @Sendable (any Storage) -> LosingStorage
    ) -> StoragePlaces {
        var wrapped = places
        let home = places.realm
        wrapped.realm = { wrap(try await home($0, $1)) }
        for (index, cluster) in places.clusters.enumerated() {
            wrapped.clusters[index].realm = { wrap(try await cluster.realm($0, $1)) }
        }
        return wrapped
    }

    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer { try await storage.read(body) }

    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        let (losing, silent, fails) = (losing, silent, willFail?.value.withLock { $0 })
        let (answer, isLost) = try await storage.write { writing in
            let watched = Watched(writing: writing, silent: silent)
            let answer = try body(watched)
            let isMet = watched.names.contains(losing)
            guard let fails else { return (answer, isMet) }
            guard isMet, fails else { return (answer, false) }
            // Where a body is run twice, it fails twice.
            willFail?.value.withLock { $0 = false }
            throw StorageFault(.busy, "another writer holds the database")
        }
        if isLost { throw StorageFault(.outcomeUnknown, "the answer to COMMIT is lost") }
        return answer
    }

    func wake(_ word: String) { storage.wake(word) }

    func wakes() -> AsyncStream<Wake> { storage.wakes() }

    func close() async throws { try await storage.close() }

    /// Names what is run. Used on one thread, in one transaction.
    private final class Watched: Writing {
        let writing: any Writing
        let silent: String?
        var names: Set<String> = []

        init(writing: any Writing, silent: String?) {
            self.writing = writing
            self.silent = silent
        }

        func query(_ statement: Statement, _ values: [SQLValue]) throws -> [Row] {
            if statement.name == silent { return [] }
            names.insert(statement.name)
            return try writing.query(statement, values)
        }

        func databaseTime() throws -> Int64 { try writing.databaseTime() }

        func execute(_ statement: Statement, _ values: [SQLValue]) throws {
            names.insert(statement.name)
            try writing.execute(statement, values)
        }

        func claim(_ statement: Statement, _ values: [SQLValue]) throws -> [Row] {
            names.insert(statement.name)
            return try writing.claim(statement, values)
        }

        func insertMany(_ statement: Statement, _ rows: [[SQLValue]]) throws {
            names.insert(statement.name)
            try writing.insertMany(statement, rows)
        }
    }
}
