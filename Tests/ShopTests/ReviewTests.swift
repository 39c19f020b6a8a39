// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Testing

@testable import Shop

/// Customers' reviews, from the request to what operators and visitors see.
@Suite(.timeLimit(.minutes(5))) struct ReviewTests {
    private static let app = TestWorld.bundleID.value

    private func live() async throws -> (TestWorld, ReviewRoom) {
        let world = try await TestWorld.open(realm: "live", environment: .production)
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "Ann Lee", password: "correct horse"))
        return (world, world.realm.reviews)
    }

    private func session(_ world: TestWorld) async throws -> DeviceSession {
        let token = try await world.signIn(customer: "Ann Lee", password: "correct horse").token
        return try await world.realm.customers.session(token: token)
    }

    private func asks(
        _ session: DeviceSession, _ room: ReviewRoom, isBeta: Bool? = nil
    ) async throws -> Bool {
        try await room.ask(ReviewQuestion(isBeta: isBeta), session, TestWorld.context).asks
    }

    @Test func `each yes is counted, also of many at once, and no is not`() async throws {
        let (world, room) = try await live()
        let session = try await session(world)
        #expect(try await !asks(session, room, isBeta: true))

        let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 { group.addTask { try await asks(session, room) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count { $0 } == 3)

        world.wall.advance(seconds: 364 * 86_400)
        #expect(try await !asks(try await self.session(world), room))
        world.wall.advance(seconds: 2 * 86_400)
        #expect(try await asks(try await self.session(world), room))
    }

    @Test func `who has rated this version or wants no requests is not asked`() async throws {
        let (world, room) = try await live()
        let session = try await session(world)
        let token = try await world.realm.visitors.signIn(
            name: "Ann Lee", password: "correct horse", TestWorld.context)
        let visitor = try #require(try await world.realm.visitors.visitor(token: token))
        for isOn in [false, false, true] {
            try await world.realm.visitors.switchReviewRequests(on: isOn, visitor)
            #expect(try await world.realm.visitors.isAskedForReviews(visitor) == isOn)
            #expect(try await asks(session, room) == isOn)
        }

        _ = try await room.write(ReviewRequest(stars: 5), session, TestWorld.context)
        #expect(try await !asks(session, room))
    }

    @Test func `a newer review replaces an older one with its answer`() async throws {
        let (world, room) = try await live()
        let session = try await session(world)
        let number = session.customer.description
        _ = try await room.write(
            ReviewRequest(stars: 2, text: "It\ncrashes."), session, TestWorld.context)
        world.wall.advance(seconds: 60)
        let answered = try await room.answer(
            number, bundleID: Self.app, AnswerReviewRequest(text: "Mended."), TestWorld.context)
        #expect(answered.answer == "Mended." && answered.reviewer == "Ann")
        #expect(answered.answeredDate == world.wall.clock.now)
        try await room.remove(number, bundleID: Self.app, TestWorld.context)
        try await room.remove(number, bundleID: Self.app, TestWorld.context)
        let hidden = try await room.shown(Self.app, limit: 50)
        #expect(hidden.count == 0 && hidden.average == nil && hidden.reviews == [])
        #expect(try await room.list(bundleID: Self.app).reviews.first?.removedDate != nil)
        let audit = try await world.realm.auditEntries().entries.suffix(2)
        #expect(audit.map(\.deed) == ["review.answer", "review.remove"])

        world.wall.advance(seconds: 60)
        let again = try await room.write(
            ReviewRequest(stars: 4, text: ""), session, TestWorld.context)

        let shown = try await room.shown(Self.app, limit: 50)
        let review = try #require(shown.reviews.first)
        #expect(shown.count == 1 && shown.average == "4.0" && shown.reviews.count == 1)
        #expect(review.stars == 4 && review.text == nil && review.answer == nil)
        #expect(review.removedDate == nil && review.reviewedDate == again.reviewedDate)
        #expect(review.appVersion == "2.1" && review.reviewedDate == world.wall.clock.now)
    }

    @Test func `what cannot be shown is refused, and changes nothing`() async throws {
        let (world, room) = try await live()
        let session = try await session(world)
        for stars in [0, 6, -1, Int.max] {
            let refused = try await refusal {
                try await room.write(ReviewRequest(stars: stars), session, TestWorld.context)
            }
            #expect(refused.error.code == "starsInvalid")
        }
        let long = String(repeating: "é", count: 4001)
        for text in ["a\u{0}", "\u{1B}[2J", "a\u{202E}b", "\r\n", " \n ", long] {
            let refused = try await refusal {
                try await room.write(
                    ReviewRequest(stars: 1, text: text), session, TestWorld.context)
            }
            #expect(refused.error.code == "reviewTextInvalid" && refused.error.field == "text")
        }
        #expect(try await room.list(bundleID: Self.app).reviews == [])
        _ = try await room.write(
            ReviewRequest(stars: 1, text: String(long.dropLast())), session, TestWorld.context)
        #expect(try await room.list(bundleID: Self.app).reviews.count == 1)

        let codes = [
            try await refusal { try await room.list(bundleID: "com.none") }.error.code,
            try await refusal { try await room.list(bundleID: Self.app, after: "1.x") }.error.code,
            try await refusal {
                try await room.remove("7", bundleID: Self.app, TestWorld.context)
            }.error.code,
            try await refusal {
                try await room.answer(
                    session.customer.description, bundleID: Self.app,
                    AnswerReviewRequest(text: ""), TestWorld.context)
            }.error.code,
        ]
        #expect(
            codes == ["bundleIdUnknown", "cursorInvalid", "reviewNotFound", "reviewTextInvalid"])
    }

    @Test func `a list has every review once, and its average`() async throws {
        let world = try await TestWorld.open()
        let room = world.realm.reviews
        for (number, stars) in [5, 4, 4].enumerated() {
            let name = "customer-\(number)"
            _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: name))
            let session = try await world.session(customer: name)
            // A sandbox asks as often as a developer wants.
            for _ in 0..<4 { #expect(try await asks(session, room)) }
            _ = try await room.write(ReviewRequest(stars: stars), session, TestWorld.context)
            if number == 1 { world.wall.advance(seconds: 1) }
        }
        var (seen, after): ([ReviewRecord], String?) = ([], nil)
        repeat {
            let page = try await room.list(bundleID: Self.app, after: after, limit: 1)
            #expect(page.count == 3 && page.average == "4.3")
            seen += page.reviews
            after = page.next
        } while after != nil
        #expect(seen.count == 3 && Set(seen.map(\.customerId)).count == 3)
        #expect(seen.map(\.reviewedDate) == seen.map(\.reviewedDate).sorted(by: >))

        // Clearing one customer's history, wherever the customer is.
        let first = seen[2].customerId
        _ = try await world.realm.customers.clearHistory(ofCustomer: first, TestWorld.context)
        let left = try await room.list(bundleID: Self.app)
        #expect(left.count == 2 && !left.reviews.map(\.customerId).contains(first))
        _ = try await world.store.resetRealm(named: Store.defaultRealm, TestWorld.context)
        #expect(try await room.list(bundleID: Self.app).count == 0)
    }

    @Test(arguments: [
        ("Ann Lee", "Ann"), ("  Ann   Lee ", "Ann"), ("ann", "a…"), ("ann@example.com", "a…"),
        ("ann.lee@example.com", "ann"), ("李小龍", "李…"), ("@", "?"), ("", "?"),
    ])
    func `no reviewer's name is shown in full`(name: String, shown: String) {
        #expect(ReviewerName.shown(name) == shown)
    }
}
