// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import Shop

/// A purchase may be asked for in a session that was proven a moment ago; its
/// commit proves it anew.
@Suite(.timeLimit(.minutes(5))) struct RecentSessionTests {
    private func buy(
        _ world: TestWorld, _ token: String, _ id: String, price: Int64? = nil
    ) async throws -> PurchaseResponse {
        let session = try await world.realm.customers.recentSession(token: token)
        return try await world.buy(
            "credits.5", id, price: price, session: session, isIndependent: false)
    }

    @Test func `a session of a moment ago is not read before the commit`() async throws {
        let world = try await TestWorld.open()
        let token = try await world.signIn().token
        #expect(try await buy(world, token, purchaseID(1)).state == "sold")
        world.places.counter.reset()

        #expect(try await buy(world, token, purchaseID(2)).state == "sold")

        #expect(!world.places.counter.statements.contains("sessions.find"))
        #expect(world.places.counter.commits == 1)
        world.wall.advance(seconds: RecentSessions.seconds)
        world.places.counter.reset()
        #expect(try await buy(world, token, purchaseID(3)).state == "sold")
        #expect(world.places.counter.statements.contains("sessions.find"))
    }

    @Test func `a session that has ended since buys nothing and learns of nothing`()
        async throws
    {
        let world = try await TestWorld.open()
        let answer = try await world.signIn()
        #expect(try await buy(world, answer.token, purchaseID(1)).state == "sold")
        _ = try await world.realm.customers.endSessions(
            ofCustomer: answer.customerId, TestWorld.context)

        for id in [purchaseID(2), purchaseID(1)] {
            // Remembered where this is the first to be refused.
            let refused = try await refusal { try await buy(world, answer.token, id) }
            #expect(refused.error.code == "sessionEnded")
            #expect(refused.kind == .unauthorised)
        }
        #expect(try await world.realm.purchases.listTransactions().transactions.count == 1)
        #expect(try await world.realm.purchases.listPurchases().purchases.count == 1)
    }

    @Test func `a session that has expired since buys nothing`() async throws {
        let world = try await TestWorld.open()
        let token = try await world.signIn().token
        world.wall.advance(seconds: CustomerRoom.sessionSeconds - 10)
        _ = try await world.realm.customers.session(token: token)
        world.wall.advance(seconds: 10)

        let refused = try await refusal { try await buy(world, token, purchaseID(1)) }

        #expect(refused.error.code == "sessionUnknown")
        #expect(try await world.realm.purchases.listPurchases().purchases.isEmpty)
    }

    @Test func `a realm that is opened again remembers no session`() async throws {
        let world = try await TestWorld.open()
        let token = try await world.signIn().token
        _ = try await buy(world, token, purchaseID(1))
        let later = try await world.restarted()
        world.places.counter.reset()

        #expect(try await buy(later, token, purchaseID(2)).state == "sold")

        #expect(world.places.counter.statements.contains("sessions.find"))
    }

    @Test func `a token is remembered for its own customer alone`() async throws {
        let world = try await TestWorld.open()
        let answer = try await world.signIn()
        _ = try await buy(world, answer.token, purchaseID(1))
        let other = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "ann"))
        let secret = try #require(answer.token.split(separator: ".").last)

        let refused = try await refusal {
            try await buy(world, "\(other.customerId).\(secret)", purchaseID(2))
        }

        #expect(refused.error.code == "sessionUnknown")
    }

    @Test func `prices and storefront are those of the commit`() async throws {
        let world = try await TestWorld.open()
        let token = try await world.signIn().token
        let old = try await world.realm.customers.recentSession(token: token)
        try await world.realm.catalogue.putCatalogue(
            TestWorld.catalogue(price: 1490, storefront: "GBR"),
            app: AppDescription(bundleID: TestWorld.bundleID))

        // As in a process that has not heard of the new catalogue.
        let refused = try await world.buy("credits.5", purchaseID(1), session: old)
        let new = try await world.realm.customers.recentSession(token: token)

        #expect(refused.refusal?.code == "priceChanged")
        #expect(refused.product?.price == 1490)
        #expect(refused.product?.currency == "GBP")
        #expect(new.storefront.countryCode == "GBR")
        #expect(try await buy(world, token, purchaseID(2), price: 1490).state == "refused")
    }

    @Test func `a session is remembered for its time, also where the clock goes back`() async throws
    {
        let world = try await TestWorld.open()
        let token = try await world.signIn().token
        let session = try await world.realm.customers.session(token: token)
        let recent = RecentSessions()
        let now = TestWall.start
        recent.remember(session, at: now)
        let read = try #require(SessionToken(token))
        let last = RecentSessions.seconds - 1
        #expect(recent.session(read, at: now.adding(seconds: last)) != nil)
        #expect(recent.session(read, at: now.adding(seconds: last + 1)) == nil)
        #expect(recent.session(read, at: now.adding(seconds: -1)) == nil)
        recent.forget(session)
        #expect(recent.session(read, at: now) == nil)
    }

    @Test func `a session that was refused is forgotten, and one whose payment was is not`()
        async throws
    {
        let world = try await TestWorld.open()
        let answer = try await world.signIn()
        _ = try await buy(world, answer.token, purchaseID(1))
        let reused = try await refusal {
            try await buy(world, answer.token, purchaseID(1), price: 5)
        }
        world.places.counter.reset()
        _ = try await world.realm.customers.recentSession(token: answer.token)
        #expect(reused.error.code == "purchaseIdReused")
        #expect(!world.places.counter.statements.contains("sessions.find"))

        _ = try await world.realm.customers.endSessions(
            ofCustomer: answer.customerId, TestWorld.context)
        _ = try await refusal { try await buy(world, answer.token, purchaseID(2)) }

        let refused = try await refusal {
            _ = try await world.realm.customers.recentSession(token: answer.token)
        }
        #expect(refused.kind == .unauthorised)
    }

    @Test func `no more sessions are remembered than the most`() async throws {
        let world = try await TestWorld.open()
        let recent = RecentSessions(countMax: 2)
        var tokens: [SessionToken] = []
        func remembered() -> [Bool] {
            tokens.map { recent.session($0, at: TestWall.start) != nil }
        }

        for (count, expected) in [(1, [true]), (2, [true, true]), (3, [false, false, true])] {
            let token = try await world.signIn(device: purchaseID(count)).token
            recent.remember(
                try await world.realm.customers.session(token: token), at: TestWall.start)
            tokens.append(try #require(SessionToken(token)))
            #expect(remembered() == expected)
        }
    }
}
