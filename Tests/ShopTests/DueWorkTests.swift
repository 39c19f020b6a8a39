// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Testing

@testable import Shop
@testable import Work

/// Inner work: once each, whoever works and whoever dies.
@Suite(.timeLimit(.minutes(5))) struct DueWorkTests {
    private func asked(_ count: Int, _ places: TestPlaces = TestPlaces()) async throws
        -> TestWorld
    {
        let world = try await TestWorld.open(places: places)
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "kid", asksToBuy: true))
        let kid = try await world.session(customer: "kid")
        // Of different products, because a second payment would join the first.
        var catalogue = TestWorld.catalogue()
        catalogue.products += (0..<count).map { n in
            Product(
                id: ProductID("coins.\(n)"), kind: .consumable, referenceName: "coins",
                price: Amount(milliunits: 990),
                localizations: [Localization(locale: "en_US", displayName: "", details: "")])
        }
        try await world.realm.catalogue.putCatalogue(
            catalogue, app: AppDescription(bundleID: TestWorld.bundleID))
        for n in 0..<count { try await world.buy("coins.\(n)", purchaseID(n), session: kid) }
        return world
    }

    private func refused(_ world: TestWorld) async throws -> Int {
        try await world.realm.purchases.listPurchases().purchases
            .count { $0.refusal == "approvalTimedOut" && $0.approval == "timedOut" }
    }

    private func pass(_ world: TestWorld) {
        world.wall.advance(seconds: ApprovalAnswer.limitMilliseconds / 1000)
    }

    @Test func `two workers on one database share what is due`() async throws {
        let places = TestPlaces()
        let one = try await asked(30, places)
        let two = try await TestWorld.open(places: places, wall: one.wall, randomness: 2)
        pass(one)

        async let first = one.realm.worker.workDue()
        async let second = two.realm.worker.workDue()
        let counts = try await (first.count, second.count)

        #expect(counts.0 + counts.1 == 30)
        #expect(try await refused(one) == 30)
        #expect(try await one.realm.keeping.workOnce() == 0)
    }

    @Test func `more than a page is done in one go`() async throws {
        let world = try await asked(CommitSize.subjectsMax + 3)
        pass(world)

        #expect(try await world.realm.keeping.workOnce() == CommitSize.subjectsMax + 3)
        #expect(try await refused(world) == CommitSize.subjectsMax + 3)
    }

    /// Each piece is one commit: what was not done when a worker died is
    /// there for the next, and what was done is not done again.
    @Test func `a worker that dies in the middle has done each piece wholly or not at all`()
        async throws
    {
        let world = try await asked(5)
        pass(world)
        // Signing in would catch up.
        let listed = try #require(await world.realm.purchases.listPurchases().purchases.first)
        let kid = CustomerID(try #require(Int64(listed.customerId)))
        for _ in 0..<2 {
            let wall = world.wall.clock.now
            try await world.realm.storage(of: kid).write { writing in
                let first = try writing.first(
                    Statement.DueWorks.first, [.integer(kid.value), .integer(.max)])
                let work = try DueWork(#require(first))
                let line = try CustomerLine(kid, asking: .time, wall: .standing(at: wall), writing)
                #expect(try DueWork.take([work], writing) == [])
                try ApprovalTimeout().write(work, #require(line), answer: [])
            }
        }

        let next = try await world.restarted()

        #expect(try await refused(next) == 2)
        #expect(try await next.realm.keeping.workOnce() == 3)
        #expect(try await refused(next) == 5)
    }

    @Test func `what fails is left, logged, and does not stop the rest`() async throws {
        let world = try await asked(2)
        let bad = DueWork(
            customer: CustomerID(10), kind: ApprovalTimeout.kind, subject: "nonsense",
            dueAt: TestWall.start)
        let newer = DueWork(
            customer: CustomerID(10), kind: "newer", subject: "", dueAt: TestWall.start)
        try await world.realm.storage.write { writing in
            try bad.add(writing)
            try newer.add(writing)
        }
        pass(world)

        #expect(try await world.realm.keeping.workOnce() == 2)

        #expect(try await refused(world) == 2)
        #expect(try await world.realm.keeping.owesWork())
    }

    @Test func `due work that only a newer program knows keeps its customer from nothing`()
        async throws
    {
        let world = try await TestWorld.open()
        let session = try await world.session()
        let newer = DueWork(
            customer: session.customer, kind: "newer", subject: "", dueAt: TestWall.start)
        try await world.realm.storage(of: session.customer).write { try newer.add($0) }
        world.wall.advance(seconds: 60)

        let answer = try await world.buy("credits.5", purchaseID(1), session: session)

        #expect(answer.state == "sold")
        #expect(try await world.realm.keeping.owesWork(), "it is left to the newer program")
    }

    @Test func `the next date is returned while the clock runs`() async throws {
        let world = try await asked(1)

        let next = try await world.realm.worker.workDue().next

        #expect(next == .milliseconds(ApprovalAnswer.limitMilliseconds))
    }

    @Test func `what fell due has happened when a jump returns, and devices are woken`()
        async throws
    {
        let world = try await asked(1)
        let session = try await world.session(customer: "kid")
        let never = NoTimeout()
        let worker = Task { await world.store.work() }
        async let waiting: Void = world.realm.purchases.changes(
            since: session.revision, session, timeout: never.wait)
        await never.started()

        _ = try await world.realm.moveClock(
            MoveClockRequest(advanceMilliseconds: ApprovalAnswer.limitMilliseconds),
            TestWorld.context)

        try await waiting
        #expect(try await refused(world) == 1)
        worker.cancel()
        await worker.value
    }
}

/// Capture, void and settling as outer work.
@Suite(.timeLimit(.minutes(5))) struct ProcessorErrandTests {
    private let context = TestWorld.context

    @Test func `a capture that fails is tried at the dates of the table`() async throws {
        let processor = ScriptedProcessor([.approve])
        processor.make(captureFailures: 3)
        let world = try await TestWorld.open(processor: processor)
        try await world.buy("credits.5", purchaseID(1))

        var counts: [Int] = []
        for pause in [0, 1, 4, 1, 30, 100] as [Int64] {
            world.wall.advance(seconds: pause)
            try await world.realm.keeping.workOnce()
            counts.append(processor.calls.count { $0 == "capture" })
        }

        #expect(counts == [1, 2, 2, 3, 4, 4])
        #expect(processor.captured == processor.charged)
        #expect(try await !world.realm.keeping.owesWork())
    }

    @Test func `what a dead process was authorising is settled by another after the lease`()
        async throws
    {
        let places = TestPlaces()
        let processor = ScriptedProcessor([.approve])
        let world = try await TestWorld.open(places: places, processor: processor)
        let session = try await world.session()
        let commit = try await begun(world, session)
        let next = try await TestWorld.open(
            places: places, wall: world.wall, randomness: 7, processor: processor)

        #expect(try await next.realm.keeping.workOnce() == 0)
        #expect(try await next.buy("credits.5", purchaseID(1)).state == "authorising")
        #expect(processor.calls.isEmpty)
        next.wall.advance(seconds: Errands.leaseMilliseconds / 1000)
        #expect(try await next.realm.keeping.workOnce() == 2)

        #expect(processor.calls == ["outcome", "authorise", "capture"])
        #expect(try await next.buy("credits.5", purchaseID(1)).state == "sold")
        #expect(commit.key.purchaseID.value == purchaseID(1))
    }

    @Test func `one that wakes after its lease ended writes nothing`() async throws {
        let processor = ScriptedProcessor([.approve])
        let world = try await TestWorld.open(
            places: TestPlaces(), processor: processor)
        let session = try await world.session()
        processor.whenAuthorising {
            guard processor.calls.isEmpty else { return }
            // While this one sleeps, its lease ends and another settles.
            world.wall.advance(seconds: Errands.leaseMilliseconds / 1000)
            processor.whenAuthorising {}
            try await world.realm.keeping.workOnce()
        }

        let response = try await world.buy("credits.5", purchaseID(1), session: session)

        #expect(response.state == "sold")
        #expect(try await world.realm.purchases.listTransactions().transactions.count == 1)
        #expect(try await world.outbox().count == 1)
        #expect(processor.charged.count == 1)
    }

    /// The first commit of a purchase whose process dies right after it.
    private func begun(
        _ world: TestWorld, _ session: DeviceSession
    ) async throws -> PurchaseCommit {
        let usd = try #require(Currency(code: "USD"))
        let commit = PurchaseCommit(
            key: PurchaseKey(
                customer: session.customer, bundleID: session.bundleID,
                purchaseID: PurchaseID(purchaseID(1))),
            payment: Payment(
                productID: "credits.5", quantity: 1,
                shownUnitPrice: Money(Amount(milliunits: 990), usd)),
            tokenHash: nil, transactionNumber: 7, notificationUUID: "u",
            subscriptions: world.realm.subscriptions.commit,
            appTransactionID: session.appTransactionID, evidence: nil, authoriser: .processor,
            mayHaveLostCharges: false, realmID: world.realm.description.id,
            shelf: try await world.realm.loadShelf(), wall: world.wall.clock.now,
            leases: world.realm.leases)
        let ending = try await world.realm.lineOrLeave(
            of: session.customer, asking: commit.question
        ) { try commit.ask($0) }
        #expect(ending.answer.state == .authorising)
        return commit
    }
}
