// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire
import Testing

@testable import Shop

@Suite(.timeLimit(.minutes(5))) struct RecentTokenTests {
    private let mine = ServerKey.make(randomness: .seeded(1))
    private let others = ServerKey.make(randomness: .seeded(2))
    private let now = TestWall.start

    private func token(lifetimeSeconds: Int64 = 300) throws -> String {
        try BearerTokenSigner(
            privateKeyPEM: mine.privateKeyPEM, keyID: mine.key.keyID,
            issuerID: mine.key.issuerID, bundleID: "com.example.app"
        ).token(now: now, lifetimeSeconds: lifetimeSeconds)
    }

    @Test func `a token that was right before expires like a new one`() throws {
        let recent = RecentTokens()
        let bearer = try token()
        let verify = { [mine] (wall: Timestamp) in
            try recent.verify(
                try recent.parse(bearer), of: bearer, publicKey: mine.key.publicKey, now: wall)
        }

        #expect(try verify(now).issuerID == mine.key.issuerID)
        #expect(try verify(now.adding(seconds: 299)).bundleID == "com.example.app")
        #expect(recent.count == 1)
        #expect(throws: VerificationFailure.self) { try verify(now.adding(seconds: 300)) }
    }

    @Test func `a token that was right by one key is verified anew by another`() throws {
        let recent = RecentTokens()
        let bearer = try token()
        _ = try recent.verify(
            try recent.parse(bearer), of: bearer, publicKey: mine.key.publicKey, now: now)

        #expect(throws: VerificationFailure.self) {
            try recent.verify(
                try recent.parse(bearer), of: bearer, publicKey: others.key.publicKey, now: now)
        }
        _ = try recent.verify(
            try recent.parse(bearer), of: bearer, publicKey: mine.key.publicKey, now: now)
    }

    @Test func `a wrong token is never remembered, nor more than the most`() throws {
        let recent = RecentTokens(countMax: 2)
        let good = try token()
        for wrong in [good + "x", String(good.dropLast(4)), "a.b.c", ""] {
            #expect(throws: VerificationFailure.self) {
                try recent.verify(
                    try recent.parse(wrong), of: wrong, publicKey: mine.key.publicKey, now: now)
            }
        }
        #expect(recent.count == 0)
        for (lifetime, count) in [(Int64(100), 1), (101, 2), (102, 1)] {
            let bearer = try token(lifetimeSeconds: lifetime)
            _ = try recent.verify(
                try recent.parse(bearer), of: bearer, publicKey: mine.key.publicKey, now: now)
            #expect(recent.count == count)
        }
    }

    @Test func `a token that was right before is refused when its key is revoked`() async throws {
        let world = try await TestWorld.open()
        let key = try await world.realm.merchant.createServerKey(bundleID: "com.example.monkeys")
        let bearer = try BearerTokenSigner(
            privateKeyPEM: key.privateKey, keyID: key.keyId, issuerID: key.issuerId,
            bundleID: BundleID(key.bundleId)
        ).token(now: world.wall.clock.now)
        for _ in 0..<2 { _ = try await world.realm.merchant.admit(bearer: bearer) }

        try await world.realm.merchant.revokeServerKey(key.keyId, TestWorld.context)

        await #expect(throws: AppleRefusal.unauthorised) {
            try await world.realm.merchant.admit(bearer: bearer)
        }
    }
}
