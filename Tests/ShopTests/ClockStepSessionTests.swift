// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop

/// Sessions, tokens and waiting devices while the machine's clock is stepped
/// ahead and back.
@Suite(.timeLimit(.minutes(5))) struct ClockStepSessionTests {
    private static let day: Int64 = 86_400
    /// Beyond the end of every session.
    private static let ahead = CustomerRoom.sessionSeconds + day

    private func code(_ body: () async throws -> Void) async throws -> String? {
        do {
            try await body()
            return nil
        } catch let refusal as Refusal { return refusal.error.code }
    }

    @Test func `a session that a wrong clock ended is valid again, whatever signed in since`()
        async throws
    {
        let world = try await TestWorld.open()
        let token = try await world.signIn().token
        world.wall.advance(seconds: Self.ahead)
        let meanwhile = try await code { _ = try await world.realm.customers.session(token: token) }
        _ = try await world.signIn(device: "00000000-0000-4000-8000-0000000000AB")
        world.wall.advance(seconds: -Self.ahead)

        let session = try await world.realm.customers.session(token: token)
        let sold = try await world.buy("credits.5", purchaseID(1), session: session)

        #expect(meanwhile == "sessionUnknown")
        #expect(sold.state == "sold")
    }

    @Test func `a session made by a clock that ran ahead lasts as much longer`() async throws {
        let world = try await TestWorld.open()
        world.wall.advance(seconds: 2 * Self.day)
        let token = try await world.signIn().token
        world.wall.advance(seconds: -2 * Self.day)
        _ = try await world.realm.customers.session(token: token)
        world.wall.advance(seconds: Self.ahead)
        _ = try await world.realm.customers.session(token: token)
        world.wall.advance(seconds: Self.day)

        let late = try await code { _ = try await world.realm.customers.session(token: token) }

        #expect(late == "sessionUnknown")
    }

    @Test func `when a session was used is right again after a clock is`() async throws {
        let world = try await TestWorld.open()
        let token = try await world.signIn().token
        world.wall.advance(seconds: 2 * Self.day)
        _ = try await world.realm.customers.session(token: token)
        world.wall.advance(seconds: -2 * Self.day)
        _ = try await world.realm.customers.session(token: token)

        let listed = try await world.realm.customers.listSessions().sessions

        #expect(listed.map(\.lastUsedDate) == [TestWall.start])
    }

    @Test(arguments: [2 * day, -2 * day])
    func `a merchant's token is refused while the clock is wrong, and good when it is right`(
        step: Int64
    ) async throws {
        let world = try await TestWorld.open()
        let key = try await world.realm.merchant.createServerKey(bundleID: "com.example.monkeys")
        let id = try #require(
            try world.verified(try await world.buy(purchaseID(1)).signedTransaction).transactionId)
        let token = try BearerTokenSigner(
            privateKeyPEM: key.privateKey, keyID: key.keyId, issuerID: key.issuerId,
            bundleID: BundleID(key.bundleId)
        ).token(now: world.wall.clock.now, lifetimeSeconds: 300)
        func status() async throws -> String {
            do {
                _ = try await world.realm.merchant.admit(bearer: token).transactionInfo(id)
            } catch let
                refusal
                as AppleRefusal
            { return "\(refusal)" }
            return "answered"
        }

        let before = try await status()
        world.wall.advance(seconds: step)
        let meanwhile = try await status()
        world.wall.advance(seconds: -step)
        let after = try await status()

        #expect(before == "answered" && after == "answered")
        #expect(meanwhile != "answered")
    }

    @Test(arguments: [2 * day, -2 * day])
    func `a device that waits neither ends nor stays by a step of the clock`(
        step: Int64
    ) async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        let isOver = Mutex(false)
        let begun = Mutex(false)
        let waiting = Task {
            try await world.realm.purchases.changes(since: session.revision, session) {
                begun.withLock { $0 = true }
                await untilCancelled()
            }
            isOver.withLock { $0 = true }
        }
        await until("the device waits") { begun.withLock(\.self) }
        world.wall.advance(seconds: step)
        await giveWay(times: 100)
        let wasOver = isOver.withLock(\.self)

        try await world.buy("credits.5", purchaseID(1), session: session)
        try await waiting.joined

        let page = try await world.realm.purchases.transactions(
            since: session.revision, session, TestWorld.context)
        #expect(!wasOver)
        #expect(page.transactions.count == 1)
    }
}
