// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Synchronization
import Testing

@testable import Shop

@Suite(.timeLimit(.minutes(5))) struct ClearHistoryTests {
    private func clear(_ world: TestWorld, _ session: DeviceSession) async throws -> HistoryCleared
    {
        try await world.realm.customers.clearHistory(
            ofCustomer: session.customer.description, TestWorld.context)
    }

    private func count(_ table: String, _ world: TestWorld) async throws -> Int64 {
        let statement = Statement("test.count", "SELECT count(*) AS n FROM \(table)")
        return try await world.realm.sum(statement)
    }

    @Test func `all that was bought is gone, and buying goes on`() async throws {
        let world = try await TestWorld.open()
        _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: "other"))
        let other = try await world.session(customer: "other")
        let session = try await world.session()
        try await world.buy("pro", purchaseID(1), session: session)
        try await world.buy("credits.5", purchaseID(2), session: session)
        try await world.buy("credits.5", purchaseID(1), session: other)

        let cleared = try await clear(world, session)

        #expect([cleared.purchases, cleared.transactions] == [2, 2])
        let left = try await world.realm.purchases.listTransactions().transactions
        #expect(left.map(\.customerId) == [other.customer.description])
        #expect(try await world.receipt(session).purchaseIDs == [])
        #expect(try await world.realm.purchases.listPurchases().purchases.count == 1)
        #expect(try await count("outbox", world) == 1)
        let again = try await world.buy("pro", purchaseID(1), session: session)
        #expect(again.state == "sold" && again.revision > cleared.revision)
        let entry = try await world.realm.auditEntries().entries.last
        #expect(entry?.deed == "customer.clearHistory")
        #expect(entry?.shown == "purchases: 2 > 0; transactions: 2 > 0")
    }

    /// A device that got no answer asks again, however often the history was
    /// cleared meanwhile.
    @Test func `a payment that a clearing declined stays declined when it is cleared again`()
        async throws
    {
        let world = try await TestWorld.open()
        let session = try await world.session()
        let customer = session.customer.description
        _ = try await world.realm.customers.changeCustomer(
            customer, ChangeCustomerRequest(asksToBuy: true), TestWorld.context)
        #expect(try await world.buy("pro", purchaseID(1), session: session).state == "waiting")
        for _ in 0..<2 { _ = try await clear(world, session) }
        _ = try await world.realm.customers.changeCustomer(
            customer, ChangeCustomerRequest(asksToBuy: false), TestWorld.context)

        let again = try await world.buy("pro", purchaseID(1), session: session)

        #expect(again.state == "refused" && again.refusal?.code == "approvalDeclined")
    }

    @Test func `a waiting device is informed of it, once`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        let bought = try await world.buy("credits.5", purchaseID(1), session: session)
        let waiting = Task {
            try await world.realm.purchases.changes(since: bought.revision, session) {
                try await StorePorts.sleepForEver(.zero)
            }
        }

        let cleared = try await clear(world, session)

        try await waiting.value
        let page = try await world.realm.purchases.transactions(
            since: bought.revision, session, TestWorld.context)
        #expect(page.clearedRevision == cleared.revision && page.transactions.isEmpty)
        #expect(page.hasNews && page.revision == cleared.revision)
        let next = try await world.realm.purchases.transactions(
            since: page.revision, session, TestWorld.context)
        #expect(next.clearedRevision == nil && !next.hasNews)
    }

    @Test(arguments: ["sale", "answer", "clearing"])
    func `news are what is beyond the revision that was read`(kind: String) async throws {
        let world = try await TestWorld.open()
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "kid", asksToBuy: kind == "answer"))
        let kid = try await world.session(customer: "kid")
        try await world.buy("credits.5", purchaseID(1), session: kid)
        if kind == "answer" {
            _ = try await world.realm.purchases.answerApproval(
                purchaseID(1), AnswerApprovalRequest(answer: "declined"), TestWorld.context)
        }
        if kind == "clearing" { _ = try await clear(world, kid) }
        let read = try await world.realm.purchases.transactions(since: 0, kid, TestWorld.context)
            .revision
        func isNews(since revision: Int64) async throws -> Bool {
            let isAwaited = Mutex(false)
            try await world.realm.purchases.changes(since: revision, kid) {
                isAwaited.withLock { $0 = true }
            }
            return isAwaited.withLock { !$0 }
        }

        #expect(try await isNews(since: read - 1))
        #expect(try await !isNews(since: read))
        let page = try await world.realm.purchases.transactions(
            since: read - 1, kid, TestWorld.context)
        #expect(page.transactions.count == (kind == "sale" ? 1 : 0))
        #expect(page.answeredPurchases == (kind == "answer" ? [purchaseID(1)] : nil))
        #expect(page.clearedRevision == (kind == "clearing" ? read : nil))
    }

    @Test func `what waits for an answer is declined, and asking again buys nothing`() async throws
    {
        let world = try await TestWorld.open()
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "kid", asksToBuy: true))
        let kid = try await world.session(customer: "kid")
        try await world.buy("credits.5", purchaseID(1), session: kid)

        #expect(try await clear(world, kid).purchases == 1)

        #expect(try await count("due_work", world) == 0)
        let answer = try await refusal {
            try await world.realm.purchases.answerApproval(
                purchaseID(1), AnswerApprovalRequest(answer: "approved"), TestWorld.context)
        }
        #expect(answer.error.code == "approvalAnswered")
        let again = try await world.buy("credits.5", purchaseID(1), session: kid)
        #expect([again.state, again.refusal?.code] == ["refused", "approvalDeclined"])
        #expect(try await count("due_work", world) == 0)
    }

    @Test func `a number that went is never given again`() async throws {
        let world = try await TestWorld.open(seed: 7)
        let sold = try await world.buy("credits.5", purchaseID(1))
        let number = try world.verified(sold.signedTransaction).transactionId
        _ = try await clear(world, try await world.session())

        let later = try await world.restarted()
        let next = try await later.buy("credits.5", purchaseID(1))

        #expect(try later.verified(next.signedTransaction).transactionId != number)
        await later.store.close()
    }

    @Test func `charges that are owed refuse it, and nothing goes`() async throws {
        let processor = ScriptedProcessor([.chargeAndLoseAnswer])
        let world = try await TestWorld.open(processor: processor)
        let session = try await world.session()
        try await world.buy("credits.5", purchaseID(1), session: session)

        let authorising = try await refusal { try await clear(world, session) }
        #expect(authorising.error.code == "chargesOwed")
        #expect(try await world.realm.purchases.listPurchases().purchases.count == 1)

        try await world.buy("credits.5", purchaseID(1), session: session)
        let captureOwed = try await refusal { try await clear(world, session) }
        #expect(captureOwed.error.code == "chargesOwed")
        try await world.realm.keeping.workOnce()
        #expect(try await clear(world, session).purchases == 1)
    }

    @Test func `what was signed for a merchant is still sent, what was not is forgotten`()
        async throws
    {
        let courier = ScriptedCourier()
        let world = try await TestWorld.open(courier: courier)
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: TestWorld.bundleID.value, TestWorld.context)
        let session = try await world.session()
        let first = try await world.buy("credits.5", purchaseID(1), session: session)
        let number = try #require(try world.verified(first.signedTransaction).transactionId)
        _ = try await world.realm.merchant.readyNotification(
            "ONE_TIME_CHARGE/\(number)", of: session.customer)
        try await world.buy("credits.5", purchaseID(2), session: session)

        _ = try await clear(world, session)

        #expect(try await count("errands", world) == 1)
        #expect(try await count("outbox", world) == 1)
        try await world.realm.keeping.workOnce()
        #expect(courier.parcels.count == 1)
        #expect(try await count("errands", world) == 0)
    }

    @Test func `production keeps what was sold`() async throws {
        let world = try await TestWorld.open(
            realm: "live", environment: .production)

        let refused = try await refusal {
            try await world.realm.customers.clearHistory(ofCustomer: "1", TestWorld.context)
        }

        #expect(refused.kind == .forbidden && refused.error.code == "sandboxOnly")
    }

    @Test(arguments: ["", "x", "1", "-1"])
    func `an unknown customer has no history`(id: String) async throws {
        let world = try await TestWorld.open()

        let refused = try await refusal {
            try await world.realm.customers.clearHistory(ofCustomer: id, TestWorld.context)
        }

        #expect(refused.error.code == "customerNotFound")
    }
}
