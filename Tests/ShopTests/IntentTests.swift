// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import TestSupport
import Testing

@testable import Shop

/// Choices of products outside of the app, at the store.
@Suite(.timeLimit(.minutes(5))) struct IntentTests {
    private static let app = TestWorld.bundleID.value
    private static let otherDevice = "00000000-0000-4000-8000-00000000abcd"

    private func choose(
        _ product: String, _ world: TestWorld, _ session: DeviceSession
    ) async throws -> PurchaseIntentRecord {
        try await world.realm.promotions.choose(
            ChoosePromotionRequest(bundleId: Self.app, productId: product),
            customer: session.customer, TestWorld.context
        ).record
    }

    private func decide(
        _ id: String, _ outcome: String, _ world: TestWorld, _ session: DeviceSession
    ) async throws -> String {
        try await world.realm.promotions.decide(
            id, PurchaseIntentOutcome(outcome: outcome), session
        ).outcome
    }

    private func state(
        _ id: String, _ world: TestWorld, _ session: DeviceSession
    ) async throws -> String {
        try await world.realm.promotions.intent(id, customer: session.customer).state
    }

    @Test func `an open choice is made once, taken up once and decided once`() async throws {
        let world = try await TestWorld.open()
        let (first, second) = (
            try await world.session(), try await world.session(device: Self.otherDevice)
        )
        let room = world.realm.promotions
        let chosen = try await choose("pro", world, first)
        let again = try await choose("pro", world, first)

        #expect(chosen.state == "waiting" && again.intentId == chosen.intentId)
        #expect(try await room.claim(first).intents.map(\.intentId) == [chosen.intentId])
        #expect(try await room.claim(second).intents == [])
        #expect(try await room.claim(first).intents.map(\.productId) == ["pro"])
        #expect(try await state(chosen.intentId, world, first) == "asked")
        #expect(try await decide(chosen.intentId, "deferred", world, first) == "deferred")
        #expect(try await decide(chosen.intentId, "continued", world, first) == "deferred")
        #expect(try await room.claim(first).intents == [])
        #expect(try await choose("pro", world, first).intentId != chosen.intentId)
    }

    @Test func `a choice waits 24 hours, and a silent device loses it to another one`() async throws
    {
        let world = try await TestWorld.open()
        let first = try await world.session()
        let second = try await world.session(device: Self.otherDevice)
        let room = world.realm.promotions
        let chosen = try await choose("pro", world, first)
        _ = try await room.claim(first)
        world.wall.advance(seconds: PurchaseIntentRules.heldSeconds)
        _ = try await choose("pro", world, second)

        #expect(try await room.claim(second).intents.map(\.intentId) == [chosen.intentId])
        world.wall.advance(
            seconds: PurchaseIntentRules.keptSeconds - PurchaseIntentRules.heldSeconds)
        #expect(try await state(chosen.intentId, world, first) == "expired")
        #expect(try await room.claim(second).intents == [])
        #expect(try await decide(chosen.intentId, "continued", world, second) == "expired")
    }

    @Test func `what another device has finished of a choice is not delivered again`() async throws
    {
        let world = try await TestWorld.open()
        let first = try await world.session()
        let second = try await world.session(device: Self.otherDevice)
        let room = world.realm.promotions
        let chosen = try await choose("credits.5", world, first)
        _ = try await room.claim(first)
        world.wall.advance(seconds: PurchaseIntentRules.heldSeconds)
        _ = try await choose("credits.5", world, second)
        _ = try await room.claim(second)
        let bought = try await world.buy("credits.5", chosen.intentId, session: second)
        let early = try await world.buy("credits.5", chosen.intentId, session: first)
        #expect(bought.isRepeat == nil && early.isRepeat == nil)
        let id = try #require(try world.verified(bought.signedTransaction).transactionId)
        _ = try await world.realm.purchases.finish(id, second, TestWorld.context)

        let late = try await world.buy("credits.5", chosen.intentId, session: first)
        let own = try await world.buy("credits.5", chosen.intentId, session: second)
        #expect(late.isRepeat == true && late.isFinished == true)
        #expect(own.isRepeat == nil)
    }

    @Test func `a choice whose purchase was begun is not taken up again`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        let chosen = try await choose("pro", world, session)
        _ = try await world.realm.promotions.claim(session)
        _ = try await world.buy("pro", chosen.intentId, session: session)

        #expect(try await world.realm.promotions.claim(session).intents == [])
        #expect(try await state(chosen.intentId, world, session) == "continued")
        let next = try await choose("credits.5", world, session)
        _ = try await world.realm.promotions.claim(session)
        _ = try await world.buy("credits.5", next.intentId, session: session)
        let early = try await choose("credits.5", world, session)
        #expect(early.intentId != next.intentId && early.state == "waiting")
        _ = try await world.realm.promotions.cancel(
            early.intentId, customer: session.customer, TestWorld.context)
        _ = try await world.buy("credits.5", early.intentId, session: session)
        #expect(try await state(early.intentId, world, session) == "continued")
    }

    @Test func `an app that is older than the product is to be updated`() async throws {
        #expect(PurchaseIntentRules.isOlder("1.9", than: "1.10"))
        #expect(!PurchaseIntentRules.isOlder("1.2", than: "1.2.0"))
        #expect(!PurchaseIntentRules.isOlder("beta", than: "1.2"))
        let world = try await TestWorld.open()
        let session = try await world.session()
        for (version, product) in [("3.0", "pro"), ("2.1", "credits.5")] {
            _ = try await world.realm.catalogue.createAppVersion(
                CreateAppVersionRequest(version: version, products: [product]),
                bundleID: Self.app, TestWorld.context)
        }
        let (new, same) = (
            try await choose("pro", world, session), try await choose("credits.5", world, session)
        )

        #expect(
            try await world.realm.promotions.claim(session).intents.map(\.productId)
                == ["credits.5"])
        #expect(try await state(new.intentId, world, session) == "tooOld")
        #expect(try await state(same.intentId, world, session) == "asked")
    }

    @Test func `a choice is news for the customer's devices, and for nobody else's`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        let before = try await world.realm.purchases.transactions(
            since: 0, session, TestWorld.context)
        let news = world.realm.purchases.news(since: before.revision, session)
        defer { news.close() }
        #expect(try await !news.isThere())
        _ = try await choose("pro", world, session)

        #expect(try await news.isThere())
        let page = try await world.realm.purchases.transactions(
            since: before.revision, session, TestWorld.context)
        #expect(page.hasPurchaseIntents == true && page.hasNews)
        let next = try await world.realm.purchases.transactions(
            since: page.revision, session, TestWorld.context)
        #expect(next.hasPurchaseIntents == nil)
        let signedIn = try await world.realm.promotions.hasIntents(
            try await world.signIn(), deviceUUID: TestWorld.deviceUUID)
        #expect(signedIn)
    }

    @Test func `wrong choices are refused, and a taken one can be taken back`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        let room = world.realm.promotions
        let chosen = try await choose("pro", world, session)
        let codes = [
            try await refusal { _ = try await choose("nothing", world, session) },
            try await refusal { _ = try await decide(chosen.intentId, "asked", world, session) },
            try await refusal {
                _ = try await decide(Self.otherDevice, "continued", world, session)
            },
        ].map(\.error.code)

        #expect(codes == ["productIdUnknown", "outcomeUnknown", "intentUnknown"])
        let cancelled = try await room.cancel(
            chosen.intentId, customer: session.customer, TestWorld.context)
        #expect(cancelled.state == "cancelled")
        #expect(try await room.claim(session).intents == [])
        let received = try await choose("pro", world, session)
        _ = try await room.claim(session)
        let late = try await refusal {
            _ = try await room.cancel(
                received.intentId, customer: session.customer, TestWorld.context)
        }
        #expect(late.error.code == "intentReceived")
    }
}
