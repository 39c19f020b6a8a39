// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop
@testable import Work

/// A commit that leaves work rings the worker of its cluster. Otherwise the work
/// waits until the worker looks for it by itself.
@Suite(.timeLimit(.minutes(5))) struct PurchaseBellTests {
    /// Expects that `body` rings. What rang before is heard first.
    private func expectRing(
        _ what: String, _ customer: CustomerID, _ world: TestWorld,
        _ location: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
    ) async throws {
        let bell = world.realm.bells[world.realm.clusters.map.cluster(of: customer.value)]
        bell.ring()
        await bell.wait()
        try await body()
        let isHeard = Mutex(false)
        let waiting = Task {
            await bell.wait()
            isHeard.withLock { $0 = !Task.isCancelled }
        }
        await until("a ring after \(what)", at: location) { isHeard.withLock { $0 } }
        waiting.cancel()
        await waiting.value
    }

    private func kid(_ world: TestWorld) async throws -> DeviceSession {
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "kid", asksToBuy: true))
        return try await world.session(customer: "kid")
    }

    @Test func `a purchase that waits for approval owes its time-out`() async throws {
        let world = try await TestWorld.open()
        let kid = try await kid(world)

        try await expectRing("a purchase that waits", kid.customer, world) {
            let state = try await world.buy("credits.5", purchaseID(1), session: kid).state
            #expect(state == "waiting")
        }
    }

    @Test func `an approved charge owes its capture`() async throws {
        let world = try await TestWorld.open(processor: ScriptedProcessor([.approve]))
        let session = try await world.session()

        try await expectRing("a sale", session.customer, world) {
            let state = try await world.buy("credits.5", purchaseID(1), session: session).state
            #expect(state == "sold")
        }
    }

    @Test func `a charge that an approval began owes its capture`() async throws {
        let world = try await TestWorld.open(processor: ScriptedProcessor([.approve]))
        let kid = try await kid(world)
        try await world.buy("credits.5", purchaseID(1), session: kid)

        try await expectRing("an approval", kid.customer, world) {
            let answered = try await world.realm.purchases.answerApproval(
                purchaseID(1), AnswerApprovalRequest(answer: "approved"), TestWorld.context)
            #expect(answered.state == "sold")
        }
    }

    /// The non-consumable is delivered again, or nothing is sold at all.
    @Test(arguments: [true, false])
    func `a charge for which nothing is sold owes its sum`(isOwned: Bool) async throws {
        let processor = ScriptedProcessor([])
        let world = try await TestWorld.open(processor: processor)
        let session = try await world.session()
        processor.whenAuthorising {
            processor.whenAuthorising {}
            if isOwned {
                try await world.buy("pro", purchaseID(2), session: session)
            } else {
                _ = try await world.realm.customers.changeCustomer(
                    session.customer.description,
                    ChangeCustomerRequest(canMakePayments: false), TestWorld.context)
            }
            try await world.realm.keeping.workOnce()
        }

        try await expectRing("a refused charge", session.customer, world) {
            let state = try await world.buy("pro", purchaseID(1), session: session).state
            #expect(state == (isOwned ? "sold" : "refused"))
        }
        try await world.realm.keeping.workOnce()
        #expect(processor.charged.count == (isOwned ? 1 : 0))
    }

    @Test func `a sale of an app with a URL owes its notification`() async throws {
        let world = try await TestWorld.open(courier: ScriptedCourier())
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: TestWorld.bundleID.value, TestWorld.context)
        let session = try await world.session()

        try await expectRing("a sale", session.customer, world) {
            try await world.buy("credits.5", purchaseID(1), session: session)
        }
    }

    /// No subscription is changed, whose commit would ring.
    @Test func `an extension of all that concerns nobody owes its summary`() async throws {
        let courier = ScriptedCourier()
        let world = try await TestWorld.open(courier: courier)
        try await world.realm.catalogue.importCatalogue(
            TestWorld.withSubscriptions(), app: AppDescription(bundleID: TestWorld.bundleID),
            TestWorld.context)
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: TestWorld.bundleID.value, TestWorld.context)
        let merchant = try await world.merchant()
        let body = """
            {"extendByDays":7,"extendReasonCode":1,"productId":"news",
            "requestIdentifier":"00000000-0000-4000-8000-0000000000aa",
            "storefrontCountryCodes":["DEU"]}
            """

        try await expectRing("an extension of all", OwedNotification.nobody, world) {
            _ = try await merchant.extendAll(Array(body.utf8), TestWorld.context)
        }
        try await world.realm.keeping.workOnce()

        let told = try courier.parcels.map { try world.opened($0) }
        #expect(told.map(\.subtype) == ["SUMMARY"])
        let summary = try #require(told.first?.summary)
        #expect(summary.succeededCount == 0 && summary.failedCount == 0)
    }
}
