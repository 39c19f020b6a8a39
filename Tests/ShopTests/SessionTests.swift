// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import Shop

/// Sessions after signing in: told, ended, and what that ends.
@Suite(.timeLimit(.minutes(5))) struct SessionTests {
    private func code(_ world: TestWorld, _ token: String) async throws -> String {
        try await refusal { try await world.realm.customers.session(token: token) }.error.code
    }

    @Test func `a session is listed with its device and dates, without a secret`() async throws {
        let world = try await TestWorld.open()
        let answer = try await world.signIn()

        let sessions = try await world.realm.customers.listSessions().sessions

        let session = try #require(sessions.first)
        #expect(sessions.count == 1)
        #expect(session.customerId == answer.customerId)
        #expect(session.deviceUUID == TestWorld.deviceUUID)
        #expect(session.bundleId == TestWorld.bundleID.value)
        #expect(session.appVersion == "2.1")
        #expect(session.createdDate == TestWall.start)
        #expect(session.lastUsedDate == TestWall.start)
        #expect(session.expiresDate == answer.tokenExpires)
        #expect(session.endedDate == nil)
        #expect(session.sessionId.hasPrefix(answer.customerId + "-"))
        #expect(!answer.token.contains(session.sessionId.split(separator: "-")[1]))
    }

    @Test func `its last use is written down once an hour`() async throws {
        let world = try await TestWorld.open()
        let token = try await world.signIn().token
        func lastUsed() async throws -> Timestamp? {
            try await world.realm.customers.listSessions().sessions.first?.lastUsedDate
        }

        world.wall.advance(seconds: 3599)
        _ = try await world.realm.customers.session(token: token)
        let before = try await lastUsed()
        world.wall.advance(seconds: 1)
        _ = try await world.realm.customers.session(token: token)

        #expect(before == TestWall.start)
        #expect(try await lastUsed() == TestWall.start.adding(seconds: 3600))
    }

    @Test func `an ended session opens nothing, and no other is touched`() async throws {
        let world = try await TestWorld.open()
        let token = try await world.signIn().token
        let other = try await world.signIn(device: purchaseID(7)).token
        let id = try #require(
            try await world.realm.customers.listSessions().sessions
                .first { $0.deviceUUID == TestWorld.deviceUUID }?.sessionId)

        let ended = try await world.realm.customers.endSession(id, TestWorld.context)
        let again = try await world.realm.customers.endSession(id, TestWorld.context)

        #expect([ended.ended, again.ended] == [1, 0])
        let refusal = try await refusal { try await world.realm.customers.session(token: token) }
        #expect(refusal.kind == .unauthorised)
        #expect(refusal.error.code == "sessionEnded")
        #expect(refusal.error.field == "Authorization")
        #expect(refusal.error.rule != nil && refusal.error.remedy != nil)
        _ = try await world.realm.customers.session(token: other)
        let told = try await world.realm.customers.listSessions().sessions.map {
            $0.endedDate != nil
        }
        #expect(told.count { $0 } == 1)
        _ = try await world.realm.customers.session(token: world.signIn().token)
    }

    @Test func `all sessions of one customer end at once`() async throws {
        let world = try await TestWorld.open()
        _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: "ann"))
        let ann = try await world.signIn(customer: "ann")
        let second = try await world.signIn(customer: "ann", device: purchaseID(7))
        let other = try await world.signIn()

        let ended = try await world.realm.customers.endSessions(
            ofCustomer: ann.customerId, TestWorld.context)

        #expect(ended.ended == 2)
        #expect(try await code(world, ann.token) == "sessionEnded")
        #expect(try await code(world, second.token) == "sessionEnded")
        _ = try await world.realm.customers.session(token: other.token)
    }

    @Test func `a new password ends what the old one began`() async throws {
        let world = try await TestWorld.open()
        let made = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "ann", password: "correct horse"))
        let old = try await world.signIn(customer: "ann", password: "correct horse")

        _ = try await world.realm.customers.changeCustomer(
            made.customerId, ChangeCustomerRequest(asksToBuy: true))
        _ = try await world.realm.customers.session(token: old.token)
        let changed = try await world.realm.customers.changeCustomer(
            made.customerId, ChangeCustomerRequest(password: "battery staple"))

        #expect(changed.hasPassword && changed.asksToBuy)
        #expect(try await code(world, old.token) == "sessionEnded")
        let refused = try await refusal {
            try await world.signIn(customer: "ann", password: "correct horse")
        }
        #expect(refused.error.code == "signInRefused")
        _ = try await world.signIn(customer: "ann", password: "battery staple")
    }

    @Test func `sessions are listed page by page, without expired ones`() async throws {
        let world = try await TestWorld.open()
        _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: "ann"))
        for n in 1...3 { _ = try await world.signIn(device: purchaseID(n)) }
        let ann = try await world.signIn(customer: "ann")

        var seen: [String] = []
        var after: String?
        repeat {
            let page = try await world.realm.customers.listSessions(after: after, limit: 2)
            seen += page.sessions.map(\.deviceUUID)
            after = page.next
        } while after != nil

        #expect(seen.count == 4 && Set(seen).count == 4)
        let hers = try await world.realm.customers.listSessions(customer: ann.customerId).sessions
        #expect(hers.map(\.customerId) == [ann.customerId])
        world.wall.advance(seconds: CustomerRoom.sessionSeconds)
        #expect(try await world.realm.customers.listSessions().sessions.isEmpty)
    }

    @Test(arguments: [
        "", "1", "x", "1-", "1-00", "-0000000000000000", "1-zzzzzzzzzzzzzzzz",
        "99999999999999999999-0000000000000000", "1-0000000000000000-",
    ])
    func `what names no session is refused`(id: String) async throws {
        let world = try await TestWorld.open()

        let ended = try await refusal {
            try await world.realm.customers.endSession(id, TestWorld.context)
        }
        let listed = try await refusal { try await world.realm.customers.listSessions(after: id) }

        #expect(ended.error.code == "sessionNotFound")
        #expect(listed.error.code == "cursorInvalid")
    }

    @Test func `a session and a customer that are not there are refused`() async throws {
        let world = try await TestWorld.open()
        let customer = try await world.signIn().customerId

        let session = try await refusal {
            try await world.realm.customers.endSession(
                customer + "-0000000000000000", TestWorld.context)
        }
        let nobody = try await refusal {
            try await world.realm.customers.endSessions(ofCustomer: "12", TestWorld.context)
        }
        let password = try await refusal {
            try await world.realm.customers.changeCustomer(
                customer, ChangeCustomerRequest(password: ""))
        }

        #expect(session.error.code == "sessionNotFound")
        #expect(nobody.error.code == "customerNotFound")
        #expect(password.error.code == "textEmpty")
    }
}
