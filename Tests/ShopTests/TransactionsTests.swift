// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop

@Suite(.timeLimit(.minutes(5))) struct TransactionsTests {
    private func since(
        _ revision: Int64, _ world: TestWorld, _ session: DeviceSession
    ) async throws -> TransactionsResponse {
        try await world.realm.purchases.transactions(since: revision, session, TestWorld.context)
    }

    @Test func `what is new since a revision comes in the order of commits`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        let first = try await world.buy(purchaseID(1), session: session)
        let second = try await world.buy("pro", purchaseID(2), session: session)

        let all = try await since(0, world, session)
        let rest = try await since(first.revision, world, session)

        #expect(all.transactions.map(\.purchaseId) == [purchaseID(1), purchaseID(2)])
        #expect(all.transactions.map(\.revision) == [first.revision, second.revision])
        #expect(all.transactions.allSatisfy { !$0.isFinished })
        #expect(all.revision == second.revision)
        #expect(!all.hasMore)
        #expect(rest.transactions.map(\.purchaseId) == [purchaseID(2)])
        #expect(try await since(rest.revision, world, session).transactions.isEmpty)
        #expect(
            try world.verified(rest.transactions[0].signedTransaction).transactionId
                == world.verified(second.signedTransaction).transactionId)
    }

    @Test func `a finished transaction comes again, finished`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        let sold = try await world.buy(purchaseID(1), session: session)
        let id = try #require(try world.verified(sold.signedTransaction).transactionId)

        let finished = try await world.realm.purchases.finish(id, session, TestWorld.context)

        let answer = try await since(sold.revision, world, session)
        #expect(finished.transactionId == id)
        #expect(finished.revision > sold.revision)
        #expect(answer.transactions.map(\.isFinished) == [true])
        #expect(answer.transactions.map(\.revision) == [finished.revision])
    }

    @Test func `finishing again returns the same and writes nothing`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        let sold = try await world.buy(purchaseID(1), session: session)
        let id = try #require(try world.verified(sold.signedTransaction).transactionId)
        let first = try await world.realm.purchases.finish(id, session, TestWorld.context)
        world.places.counter.reset()

        let again = try await world.realm.purchases.finish(id, session, TestWorld.context)

        #expect(again == first)
        #expect(world.places.counter.commits == 0)
    }

    @Test(arguments: ["", "x", "-1", "1", "2000000000000999", "99999999999999999999", "2\0"])
    func `what is no transaction of theirs is not found`(id: String) async throws {
        let world = try await TestWorld.open()

        let refusal = try await refusal {
            try await world.realm.purchases.finish(id, try await world.session(), TestWorld.context)
        }

        #expect(refusal.kind == .notFound)
        #expect(refusal.error.code == "transactionNotFound")
        #expect(refusal.error.field == "transactionId")
    }

    @Test func `another customer's or app's transaction is not found`() async throws {
        let world = try await TestWorld.open()
        try await world.realm.catalogue.putCatalogue(
            TestWorld.catalogue(), app: AppDescription(bundleID: "com.example.second"))
        _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: "other"))
        let mine = try await world.session(bundleID: "com.example.monkeys")
        let sold = try await world.buy(purchaseID(1), session: mine)
        let id = try #require(try world.verified(sold.signedTransaction).transactionId)
        let theirs = try await world.session(customer: "other", bundleID: "com.example.monkeys")
        let otherApp = try await world.session(bundleID: "com.example.second")

        for session in [theirs, otherApp] {
            let refusal = try await refusal {
                try await world.realm.purchases.finish(id, session, TestWorld.context)
            }
            #expect(refusal.kind == .notFound)
            #expect(try await since(0, world, session).transactions.isEmpty)
        }
        #expect(try await since(0, world, mine).transactions.map(\.isFinished) == [false])
    }

    @Test func `a long history comes in pages and loses nothing`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        for n in 0..<TransactionsResponse.pageMax + 5 {
            try await world.buy(purchaseID(n), session: session)
        }

        let first = try await since(0, world, session)
        let second = try await since(first.revision, world, session)

        #expect(first.transactions.count == TransactionsResponse.pageMax)
        #expect(first.hasMore)
        #expect(second.transactions.count == 5)
        #expect(!second.hasMore)
        let ids = (first.transactions + second.transactions).map(\.purchaseId)
        #expect(ids == (0..<TransactionsResponse.pageMax + 5).map { purchaseID($0) })
    }

    @Test func `a history of exactly a page has no second one`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        for n in 0..<TransactionsResponse.pageMax {
            try await world.buy(purchaseID(n), session: session)
        }

        let page = try await since(0, world, session)

        #expect(page.transactions.count == TransactionsResponse.pageMax)
        #expect(!page.hasMore)
    }

    @Test func `a commit larger than a page comes in pages and loses nothing`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        let count = 2 * TransactionsResponse.pageMax + 5
        for n in 0..<count { try await world.buy(purchaseID(n), session: session) }
        try await world.writeAsOneCommit(session)

        var (ids, since, after): ([String?], Int64, Int64?) = ([], 0, nil)
        for page in 1...3 {
            let answer = try await world.realm.purchases.transactions(
                since: since, after: after, session, TestWorld.context)
            ids += answer.transactions.map(\.purchaseId)
            (since, after) = (answer.revision, answer.after.flatMap { Int64($0) })
            #expect(answer.hasMore == (page < 3))
            #expect((after != nil) == (page < 3))
        }

        #expect(ids == (0..<count).map { purchaseID($0) })
        #expect(try await self.since(since, world, session).transactions.isEmpty)
    }

    @Test func `a revision below zero is refused`() async throws {
        let world = try await TestWorld.open()

        let refusal = try await refusal {
            try await since(-1, world, try await world.session())
        }

        #expect(refusal.error.code == "revisionInvalid")
    }

    @Test func `a change wakes its waiter`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        let never = NoTimeout()

        async let waiting: Void = world.realm.purchases.changes(
            since: session.revision, session, timeout: never.wait)
        await never.started()
        try await world.buy(purchaseID(1), session: session)

        try await waiting
        #expect(never.wasCancelled)
    }

    @Test func `a finish on one device wakes the customer's other device`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        let sold = try await world.buy(purchaseID(1), session: session)
        let id = try #require(try world.verified(sold.signedTransaction).transactionId)
        let other = try await world.session(device: purchaseID(2))
        let never = NoTimeout()

        async let waiting: Void = world.realm.purchases.changes(
            since: sold.revision, other, timeout: never.wait)
        await never.started()
        _ = try await world.realm.purchases.finish(id, session, TestWorld.context)

        try await waiting
        #expect(never.wasCancelled)
    }

    @Test func `a session that is ended is not kept waiting for news`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        let never = NoTimeout()

        async let waiting: Void = world.realm.purchases.changes(
            since: session.revision, session, timeout: never.wait)
        await never.started()
        _ = try await world.realm.customers.endSessions(
            ofCustomer: session.customer.description, TestWorld.context)

        try await waiting
        #expect(never.wasCancelled)
    }

    @Test func `what has changed already is not waited for`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        try await world.buy(purchaseID(1), session: session)

        try await world.realm.purchases.changes(since: session.revision, session) {
            Issue.record("waited for what had happened")
        }
    }

    @Test func `a commit without news for a device wakes no waiter`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        try await world.realm.catalogue.putCatalogue(
            TestWorld.catalogue(), app: AppDescription(bundleID: "com.example.second"))
        let never = NoTimeout()

        async let waiting: Void = world.realm.purchases.changes(
            since: session.revision, session, timeout: never.wait)
        await never.started()
        let other = try await world.session(bundleID: "com.example.second")
        try await world.buy(purchaseID(1), session: other)
        #expect(!never.wasCancelled)
        #expect(try await since(session.revision, world, session).hasNews == false)
        try await world.buy(purchaseID(2), session: session)

        try await waiting
        #expect(try await since(session.revision, world, session).transactions.count == 1)
    }

    @Test func `waiting ends with its time-out`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()

        try await world.realm.purchases.changes(since: session.revision, session) {}

        #expect(try await since(session.revision, world, session).transactions.isEmpty)
    }

    @Test func `a customer's change wakes no other customer`() async throws {
        let hub = Waiters<CustomerID>()
        let ticket = hub.ticket(CustomerID(1))
        hub.wake(CustomerID(2))

        let woken = Mutex(false)
        let task = Task {
            let isWoken = await ticket.wait()
            woken.withLock { $0 = isWoken }
        }
        #expect(!woken.withLock { $0 })
        hub.wake(CustomerID(1))

        await until("the customer's own change") { woken.withLock { $0 } }
        task.cancel()
        hub.giveBack(ticket)
    }

    @Test func `a closing realm releases its waiters`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        let never = NoTimeout()

        async let waiting: Void = world.realm.purchases.changes(
            since: session.revision, session, timeout: never.wait)
        await never.started()
        await world.store.close()

        try await waiting
    }
}

extension TestWorld {
    /// Gives all of a customer's transactions the revision of the last one, as
    /// a commit that writes them together would.
    func writeAsOneCommit(_ session: DeviceSession) async throws {
        let statement = Statement(
            "test.oneCommit", [.integer],
            """
            UPDATE transactions
            SET revision = (SELECT revision FROM customers WHERE customer_id = $1)
            WHERE customer_id = $1
            """)
        try await realm.storage(of: session.customer).write {
            try $0.execute(statement, [.integer(session.customer.value)])
        }
    }
}

/// A time-out that never comes, and tells that it was begun and cancelled.
final class NoTimeout: Sendable {
    private let begun = AsyncStream.makeStream(of: Void.self)
    private let cancelled = Mutex(false)

    var wasCancelled: Bool { cancelled.withLock { $0 } }

    func started() async {
        _ = await first(of: begun.stream, "the beginning of a time-out")
    }

    @Sendable func wait() async throws {
        begun.continuation.finish()
        // A failed wait ends the whole, so that the test can say so.
        if !(await becomes { Task.isCancelled }) { Issue.record("no change ended a wait") }
        cancelled.withLock { $0 = Task.isCancelled }
        try Task.checkCancellation()
    }
}
