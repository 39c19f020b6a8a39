// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire
import Testing

@testable import Shop

@Suite(.timeLimit(.minutes(5))) struct TransactionInfoTests {
    private func token(
        _ key: CreatedServerKey, _ world: TestWorld, issuer: String? = nil,
        bundleID: String? = nil, lifetimeSeconds: Int64 = 300
    ) throws -> String {
        try BearerTokenSigner(
            privateKeyPEM: key.privateKey, keyID: key.keyId, issuerID: issuer ?? key.issuerId,
            bundleID: BundleID(bundleID ?? key.bundleId)
        ).token(now: world.wall.clock.now, lifetimeSeconds: lifetimeSeconds)
    }

    private func sold(_ world: TestWorld) async throws -> String {
        let response = try await world.buy(purchaseID(1))
        return try #require(try world.verified(response.signedTransaction).transactionId)
    }

    private func refusal(
        _ world: TestWorld, _ id: String, _ bearer: String?
    ) async throws -> AppleRefusal? {
        do {
            _ = try await world.realm.merchant.admit(bearer: bearer).transactionInfo(id)
        } catch let
            refusal
            as AppleRefusal
        { return refusal }
        return nil
    }

    @Test func `a merchant's server reads a transaction back`() async throws {
        let world = try await TestWorld.open()
        let key = try await world.realm.merchant.createServerKey(bundleID: "com.example.monkeys")
        let id = try await sold(world)

        let answer = try await world.realm.merchant.admit(bearer: try token(key, world))
            .transactionInfo(id)

        let payload = try world.verified(answer.signedTransactionInfo)
        #expect(payload.transactionId == id)
        #expect(payload.productId == "credits.5")
    }

    @Test func `a finished transaction is still returned`() async throws {
        let world = try await TestWorld.open()
        let key = try await world.realm.merchant.createServerKey(bundleID: "com.example.monkeys")
        let id = try await sold(world)
        _ = try await world.realm.purchases.finish(id, try await world.session(), TestWorld.context)

        let answer = try await world.realm.merchant.admit(bearer: try token(key, world))
            .transactionInfo(id)

        #expect(try world.verified(answer.signedTransactionInfo).transactionId == id)
    }

    @Test func `the private half is returned once and the keys share one issuer`() async throws {
        let world = try await TestWorld.open()

        let first = try await world.realm.merchant.createServerKey(bundleID: "com.example.monkeys")
        let second = try await world.realm.merchant.createServerKey(bundleID: "com.example.monkeys")

        #expect(first.privateKey.hasPrefix("-----BEGIN PRIVATE KEY-----"))
        #expect(first.keyId != second.keyId)
        #expect(first.issuerId == second.issuerId)
        let listed = try await world.realm.merchant.serverKeys()
        #expect(Set(listed.map(\.keyId)) == [first.keyId, second.keyId])
    }

    @Test func `a key of an app that is not here is refused`() async throws {
        let world = try await TestWorld.open()

        let refusal = try await ShopTests.refusal {
            try await world.realm.merchant.createServerKey(bundleID: "com.example.nothing")
        }

        #expect(refusal.error.code == "bundleIdUnknown")
    }

    @Test func `a wrong token is 401 without a body`() async throws {
        let world = try await TestWorld.open()
        let key = try await world.realm.merchant.createServerKey(bundleID: "com.example.monkeys")
        let foreign = ServerKey.make(randomness: .seeded(5))
        let id = try await sold(world)
        var forged = key
        forged.privateKey = foreign.privateKeyPEM
        var unknown = key
        unknown.keyId = "AAAAAAAAAA"
        let good = try token(key, world)

        let wrong: [String?] = [
            nil, "", "x", "a.b.c", good + "x", String(good.dropLast(4)),
            try token(forged, world), try token(unknown, world),
            try token(key, world, issuer: "11111111-0000-4000-8000-000000000000"),
            try token(key, world, bundleID: "com.example.other"),
            try token(key, world, lifetimeSeconds: 7200),
            try token(key, world, lifetimeSeconds: 0),
        ]

        for bearer in wrong {
            #expect(try await refusal(world, id, bearer) == .unauthorised)
        }
        #expect(AppleRefusal.unauthorised.status == 401)
        #expect(AppleRefusal.unauthorised.response == nil)
    }

    @Test func `tokens are judged by wall time`() async throws {
        let world = try await TestWorld.open()
        let key = try await world.realm.merchant.createServerKey(bundleID: "com.example.monkeys")
        let id = try await sold(world)
        let bearer = try token(key, world)

        _ = try await world.realm.moveClock(
            MoveClockRequest(advanceMilliseconds: 3_600_000_000), TestWorld.context)
        #expect(try await refusal(world, id, bearer) == nil)

        world.wall.advance(seconds: 301)
        #expect(try await refusal(world, id, bearer) == .unauthorised)
    }

    @Test func `ids are refused as Apple refuses them`() async throws {
        let world = try await TestWorld.open()
        try await world.realm.catalogue.putCatalogue(
            TestWorld.catalogue(), app: AppDescription(bundleID: "com.example.second"))
        let session = try await world.session(bundleID: "com.example.monkeys")
        let response = try await world.buy(purchaseID(1), session: session)
        let sold = try world.verified(response.signedTransaction)
        let mine = try await world.realm.merchant.createServerKey(bundleID: "com.example.monkeys")
        let others = try await world.realm.merchant.createServerKey(bundleID: "com.example.second")
        let id = try #require(sold.transactionId)

        let table: [(String, CreatedServerKey, AppleErrorResponse)] = [
            ("", mine, .invalidTransactionId), ("abc", mine, .invalidTransactionId),
            ("-1", mine, .invalidTransactionId), ("1.5", mine, .invalidTransactionId),
            (id + "\0", mine, .invalidTransactionId),
            (try #require(sold.appTransactionId), mine, .appTransactionIdNotSupported),
            ("0", mine, .transactionIdNotFound), ("12345", mine, .transactionIdNotFound),
            ("2000000000999000", mine, .transactionIdNotFound),
            ("99999999999999999999999", mine, .transactionIdNotFound),
            (id, others, .transactionIdNotFound),
        ]

        for (id, key, response) in table {
            let refusal = try await refusal(world, id, try token(key, world))
            #expect(refusal == AppleRefusal(response), "\(id)")
        }
        #expect(AppleRefusal(.transactionIdNotFound).status == 404)
        #expect(AppleRefusal(.invalidTransactionId).status == 400)
    }
}
