// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Shop

/// A purchase has one charge key for ever, and no two purchases have the same.
@Suite(.timeLimit(.minutes(5))) struct ChargeKeyTests {
    private let price = Money(
        Amount(milliunits: 990), Currency(code: "USD") ?? Storefront.all[0].currency)

    private func clear(_ world: TestWorld, _ customer: CustomerID) async throws {
        _ = try await world.realm.customers.clearHistory(
            ofCustomer: customer.description, TestWorld.context)
    }

    /// Buys and lets the worker capture the sum. Returns the state.
    private func buy(
        _ world: TestWorld, _ session: DeviceSession, _ id: String = purchaseID(1)
    ) async throws -> String {
        let state = try await world.buy("credits.5", id, session: session).state
        try await world.realm.keeping.workOnce()
        return state
    }

    @Test func `an id that is sold again after the history was cleared is charged again`()
        async throws
    {
        let processor = ScriptedProcessor([.approve, .chargeAndLoseAnswer, .approve])
        let world = try await TestWorld.open(processor: processor)
        let session = try await world.session()
        #expect(try await buy(world, session) == "sold")

        try await clear(world, session.customer)
        #expect(
            try await world.buy("credits.5", purchaseID(1), session: session).state
                == "authorising")
        // The lost answer is asked for under the key of the lost request.
        #expect(try await buy(world, session) == "sold")
        try await clear(world, session.customer)
        #expect(try await buy(world, session) == "sold")
        #expect(try await buy(world, session) == "sold")

        #expect(processor.charged == [price, price, price])
        #expect(processor.captured == [price, price, price])
        #expect(processor.calls.count { $0 == "outcome" } == 1)
    }

    /// The default customer is on the other cluster, if there are two.
    @Test(arguments: [false, true])
    func `an id that is sold again after a reset is charged again`(isFar: Bool) async throws {
        let processor = ScriptedProcessor([])
        let world = try await ClusterTests.world(
            isFar ? TestPlaces(far: [TestClusters.far]) : TestPlaces(), processor: processor)
        #expect(try await buy(world, try await world.session()) == "sold")

        for _ in 0..<2 {
            _ = try await world.store.resetRealm(named: Store.defaultRealm, TestWorld.context)
            #expect(try await buy(world, try await world.session()) == "sold")
        }

        #expect(processor.charged == [price, price, price])
        #expect(processor.captured == [price, price, price])
    }

    /// A refused purchase's sum was given back, and its key is void for ever.
    @Test func `an id whose charge was voided is charged again after the history was cleared`()
        async throws
    {
        let processor = ScriptedProcessor([])
        let world = try await TestWorld.open(processor: processor)
        let session = try await world.session()
        let customer = session.customer.description
        processor.whenAuthorising {
            _ = try await world.realm.customers.changeCustomer(
                customer, ChangeCustomerRequest(canMakePayments: false), TestWorld.context)
        }
        #expect(try await buy(world, session) == "refused")
        #expect(processor.charged == [])
        processor.whenAuthorising {}
        _ = try await world.realm.customers.changeCustomer(
            customer, ChangeCustomerRequest(canMakePayments: true), TestWorld.context)

        try await clear(world, session.customer)

        #expect(try await buy(world, session) == "sold")
        #expect(processor.charged == [price])
    }

    /// The sale was lost with the store. Its device asks again, and the processor
    /// knows the charge.
    @Test(arguments: BackupEngine.allCases, [false, true])
    func `a purchase that a restored store has lost keeps its key`(
        engine: BackupEngine, isCleared: Bool
    ) async throws {
        let processor = ScriptedProcessor([])
        let (here, there) = (try await BackupPlace(engine), try await BackupPlace(engine))
        let first = try await here.open(isNew: true, processor: processor)
        let old = try await first.realm(named: Store.defaultRealm)
        try await old.catalogue.putCatalogue(
            TestWorld.catalogue(), app: AppDescription(bundleID: TestWorld.bundleID))
        let customer = try await buy(old, 1).customer
        try await old.keeping.workOnce()
        if isCleared {
            _ = try await old.customers.clearHistory(
                ofCustomer: customer.description, TestWorld.context)
        }
        let archive = try await here.backup("copy")
        #expect(try await buy(old, 2).state == "sold")
        await first.close()

        _ = try await there.restore(archive)
        let second = try await there.open(processor: processor)
        let new = try await second.realm(named: Store.defaultRealm)
        _ = try await buy(new, 3)
        #expect(try await buy(new, 2).state == "sold")
        await second.close()

        #expect(processor.charged == [price, price, price])
    }

    private func buy(_ realm: Realm, _ number: Int) async throws -> (
        state: String, customer: CustomerID
    ) {
        let token = try await realm.customers.signIn(
            SignInRequest(appVersion: "1", deviceUUID: TestWorld.deviceUUID), TestWorld.context
        ).token
        let session = try await realm.customers.session(token: token)
        try await realm.finishQuietly(
            "credits.5", of: session.customer, before: purchaseID(number))
        let response = try await realm.purchases.purchase(
            purchaseID(number),
            PurchaseRequest(productId: "credits.5", quantity: 1, unitPrice: 990, currency: "USD"),
            session, TestWorld.context)
        return (response.state, session.customer)
    }
}
