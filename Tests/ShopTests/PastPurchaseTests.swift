// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import StoreWire
import Testing

@testable import Shop

/// Purchases that a sandbox's customer made in the past.
@Suite(.timeLimit(.minutes(5))) struct PastPurchaseTests {
    private func request(
        _ product: String, ago step: String, customer: String? = nil
    ) throws -> PastPurchaseRequest {
        var request = PastPurchaseRequest(
            bundleId: TestWorld.bundleID.value, productId: product,
            date: try #require(Timestamp(text: "now-\(step)", now: TestWall.start)))
        request.customer = customer
        return request
    }

    private func buy(
        _ world: TestWorld, _ request: PastPurchaseRequest
    ) async throws -> PastPurchaseAnswer {
        try await world.realm.purchases.buyInPast(request, TestWorld.context)
    }

    /// Product, how long ago, and the kinds of what has happened since.
    private static let table: [(String, String, String)] = [
        ("news  ", "13mo", "subscribed 13 renewed"),
        ("news  ", "1h  ", "subscribed 0 renewed"),
        ("news  ", "1mo ", "subscribed 1 renewed"),
        ("weekly", "3w  ", "subscribed 3 renewed"),
        ("yearly", "25mo", "subscribed 2 renewed"),
        ("trial ", "1w  ", "subscribed 1 renewed"),
        ("pro   ", "13mo", "sold"),
    ]

    @Test(arguments: table)
    func `what fell due since then has happened, in order`(
        product: String, step: String, expected: String
    ) async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let name = product.split(separator: " ").joined()
        let request = try request(name, ago: step.split(separator: " ").joined())

        let answer = try await buy(world, request)

        // The next period is charged a minute ahead.
        let kinds = answer.events.map(\.kind)
        let words =
            kinds.isEmpty
            ? "sold" : "\(kinds[0]) \(kinds.dropFirst().count { $0 == "renewed" }) renewed"
        #expect(words == expected)
        #expect(answer.state == "sold" && answer.now == TestWall.start)
        #expect(answer.events.first.map { $0.date == request.date } ?? true)
        #expect(
            zip(answer.events, answer.events.dropFirst()).allSatisfy { $0.date <= $1.date })
        let sold = try await world.realm.purchases.listTransactions().transactions
        #expect(sold.count == max(kinds.count { ["subscribed", "renewed"].contains($0) }, 1))
        #expect(sold.map(\.payload.transactionId).contains(answer.transactionId))
        let first = try #require(
            sold.first { $0.payload.transactionId == answer.transactionId })
        #expect(first.payload.purchaseDate == request.date && first.isFinished)
        if !kinds.isEmpty {
            let end = try #require(answer.subscription?.endDate)
            #expect(end >= TestWall.start && answer.subscription?.status == "active")
        }
    }

    @Test func `a device that signs in afterwards has the history`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        _ = try await buy(world, try request("news", ago: "13mo"))

        let session = try await world.session()
        let receipt = try await world.receipt(session)

        #expect(receipt.purchases.count == 14)
        #expect(try await world.realm.clock().now == TestWall.start)
        let entry = try await world.realm.auditEntries().entries.last { $0.deed == "purchase.past" }
        #expect(entry?.after("productId") == "news" && entry?.who == TestWorld.context.actor)
    }

    @Test func `a period that was charged ahead does not stand in the way`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        var news = try request("news", ago: "1mo")
        news.date = news.date.adding(milliseconds: 30_000)
        let subscribed = try await buy(world, news)

        var pro = try request("pro", ago: "1mo")
        pro.date = TestWall.start
        let sold = try await buy(world, pro)

        let end = try #require(subscribed.subscription?.endDate)
        #expect(subscribed.events.map(\.kind) == ["subscribed", "renewed"])
        #expect(end > TestWall.start.adding(seconds: 86_400) && sold.state == "sold")
    }

    @Test func `a repeated request buys once`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        var request = try request("news", ago: "2mo")
        request.purchaseId = purchaseID(7)

        let first = try await buy(world, request)
        let again = try await buy(world, request)

        #expect(first.transactionId == again.transactionId && first.events == again.events)
        #expect(try await world.realm.purchases.listTransactions().transactions.count == 3)
        request.quantity = 2
        let other = try await refusal { try await buy(world, request) }
        #expect(other.error.code == "purchaseIdReused")
    }

    @Test(arguments: [
        ("future", "dateOutOfRange"), ("1899", "dateOutOfRange"),
        ("beforeLast", "dateBeforeLastEvent"), ("nobody", "customerNotFound"),
        ("noApp", "bundleIdUnknown"), ("noProduct", "unknownProduct"),
        ("notifications", "notificationsUnclear"), ("id", "uuidInvalid"),
    ])
    func `what makes no sense is refused, and nothing is sold`(
        what: String, code: String
    ) async throws {
        let world = try await TestWorld.openWithSubscriptions()
        var request = try request("news", ago: "1mo")
        var sold = 0
        switch what {
        case "future": request.date = TestWall.start.adding(milliseconds: 1)
        case "1899": request.date = RealmClock.earliest.adding(milliseconds: -1)
        case "beforeLast":
            _ = try await buy(world, try self.request("pro", ago: "1w"))
            sold = 1
        case "nobody": request.customer = "nobody"
        case "noApp": request.bundleId = "com.example.none"
        case "noProduct": request.productId = "none"
        case "notifications": request.notifications = "perhaps"
        default: request.purchaseId = "7"
        }

        let asked = request
        let refusal = try await refusal { try await buy(world, asked) }

        #expect(refusal.error.code == code)
        #expect(try await world.realm.purchases.listTransactions().transactions.count == sold)
    }

    @Test func `production and a processor sell at their own time`() async throws {
        let live = try await TestWorld.openWithSubscriptions(
            realm: "live", environment: .production)
        let request = try request("news", ago: "1mo")
        let forbidden = try await refusal { try await buy(live, request) }
        #expect(forbidden.error.code == "sandboxOnly")

        let charged = try await TestWorld.openWithSubscriptions(processor: ScriptedProcessor([]))
        let conflict = try await refusal { try await buy(charged, request) }
        #expect(conflict.error.code == "processorCharges")
    }

    @Test(arguments: JumpNotifications.allCases)
    func `notifications are sent by choice, in order`(choice: JumpNotifications) async throws {
        let courier = ScriptedCourier()
        let world = try await TestWorld.open(courier: courier)
        try await world.realm.catalogue.importCatalogue(
            TestWorld.withSubscriptions(), app: AppDescription(bundleID: TestWorld.bundleID),
            TestWorld.context)
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: TestWorld.bundleID.value, TestWorld.context)
        var request = try request("news", ago: "3mo")
        request.notifications = choice.rawValue

        let answer = try await buy(world, request)

        let atOnce = courier.parcels.count
        try await world.realm.keeping.workOnce()
        let told = try courier.parcels.map { try world.opened($0) }.compactMap(\.notificationType)
        let all = ["SUBSCRIBED", "DID_RENEW", "DID_RENEW", "DID_RENEW"]
        switch choice {
        case .awaited:
            #expect(atOnce == 4 && told == all)
            #expect(answer.notifications == SentInJump(delivered: 4, failed: 0, unsent: 0))
        case .queued: #expect(atOnce == 0 && told == all && answer.notifications == nil)
        case .dropped: #expect(atOnce == 0 && told.isEmpty && answer.notifications == nil)
        }
    }

    @Test func `the periods of an accelerated clock are as short in the past`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        _ = try await world.realm.moveClock(
            MoveClockRequest(timeRate: Tempo.monthIsFiveMinutes.rawValue), TestWorld.context)

        let answer = try await buy(world, try request("news", ago: "31min"))

        #expect(answer.events.map(\.kind) == ["subscribed"] + Array(repeating: "renewed", count: 6))
        #expect(
            answer.subscription?.endDate
                == TestWall.start.adding(seconds: 4 * 60))
    }

    @Test func `a sandbox can renew as seldom as Apple's`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let changed = try await world.realm.catalogue.changeApp(
            TestWorld.bundleID.value, AppChange(renewalsMax: 12), TestWorld.context)

        let answer = try await buy(world, try request("news", ago: "2y"))

        #expect(changed.renewalsMax == 12)
        #expect(answer.events.count { $0.kind == "renewed" } == 12)
        #expect(answer.subscription?.status == "expired")
        #expect(answer.subscription?.expiration == "cancelled")
        let off = try await world.realm.catalogue.changeApp(
            TestWorld.bundleID.value, AppChange(renewalsMax: 0), TestWorld.context)
        #expect(off.renewalsMax == nil)
        let entries = try await world.realm.auditEntries().entries
        #expect(entries.last { $0.deed == "app.change" }?.before("renewalsMax") == "12")
        let tooMany = try await refusal {
            try await world.realm.catalogue.changeApp(
                TestWorld.bundleID.value, AppChange(renewalsMax: 1001), TestWorld.context)
        }
        #expect(tooMany.error.code == "renewalsMaxInvalid")
    }

    @Test func `production has no limit of renewals`() async throws {
        let world = try await TestWorld.open(realm: "live", environment: .production)
        let refusal = try await refusal {
            try await world.realm.catalogue.changeApp(
                TestWorld.bundleID.value, AppChange(renewalsMax: 12), TestWorld.context)
        }
        #expect(refusal.error.code == "sandboxOnly")
    }
}
