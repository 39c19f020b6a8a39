// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop
@testable import Work

/// Two stores on one database: what the one commits, the other's devices hear.
@Suite(.timeLimit(.minutes(5))) struct WakeTests {
    private func pair() async throws -> (one: TestWorld, two: TestWorld) {
        let places = TestPlaces()
        let one = try await TestWorld.open(places: places)
        let two = try await TestWorld.open(places: places, wall: one.wall, randomness: 2)
        return (one, two)
    }

    @Test func `a poll is answered whichever store the purchase came to`() async throws {
        let (one, two) = try await pair()
        let session = try await one.session()
        let never = NoTimeout()

        async let waiting: Void = two.realm.purchases.changes(
            since: session.revision, session, timeout: never.wait)
        await never.started()
        try await one.buy("credits.5", purchaseID(1), session: session)

        try await waiting
        #expect(never.wasCancelled)
    }

    @Test func `lost words wake all waiters`() async throws {
        let (one, two) = try await pair()
        let session = try await one.session()
        let never = NoTimeout()

        async let waiting: Void = two.realm.purchases.changes(
            since: session.revision, session, timeout: never.wait)
        await never.started()
        // Finished by a process that did not live to say its word.
        let quiet = Statement(
            "test.quiet",
            """
            INSERT INTO purchases (customer_id, bundle_id, purchase_id, product_id, quantity,
                unit_price, currency, simulates_ask_to_buy, is_committed, state, cause,
                approval, asked_at, revision)
            VALUES ($1, 'com.example.monkeys', 'x', 'p', 1, 1, 'USD', FALSE, FALSE, 'waiting', 'request',
                'declined', 1, 1000)
            """)
        let insert = Statement(quiet.name, [.integer], quiet.sql)
        let customer = SQLValue.integer(session.customer.value)
        try await one.realm.storage.write { try $0.execute(insert, [customer]) }
        try await one.places.missWakes()

        try await waiting
    }

    @Test func `a clock that is moved in one store wakes the worker of another`() async throws {
        let (one, two) = try await pair()

        _ = try await one.realm.moveClock(
            MoveClockRequest(advanceMilliseconds: 1000), TestWorld.context)

        // Rung before it was listened to, it is heard all the same.
        let isHeard = Mutex(false)
        let listening = Task {
            await two.realm.bell.wait()
            isHeard.withLock { $0 = true }
        }
        await until("a bell that the other store's clock rings") { isHeard.withLock { $0 } }
        listening.cancel()
    }

    @Test func `unknown words are ignored`() async throws {
        let (one, two) = try await pair()
        for word in ["", "c", "cx", "c-1", "c99999999999999999999", "newer"] {
            one.realm.storage.wake(word)
        }
        let session = try await one.session()
        try await one.buy("credits.5", purchaseID(1), session: session)

        try await two.realm.purchases.changes(since: session.revision, session) {}
    }
}
