// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Storage
import StoreWire
import Testing

@testable import Shop

/// What a merchant's server may ask about its notifications.
@Suite(.timeLimit(.minutes(5))) struct NotificationDoorTests {
    @Test func `a test notification is sent and its status returned`() async throws {
        let world = try await TestWorld.openWithURL()
        let bearer = try await world.bearer()
        let token = try await world.realm.merchant.admit(bearer: bearer).requestTestNotification(
            TestWorld.context
        ).testNotificationToken

        let early = try await appleError {
            try await world.realm.merchant.admit(bearer: bearer).testNotification(token)
        }
        try await world.attempt(ScriptedCourier(Delivery(status: 418)))
        let told = try await world.realm.merchant.admit(bearer: bearer).testNotification(token)

        #expect(early == 4_040_008)
        let payload = try world.opened(told.signedPayload)
        #expect(payload.notificationType == "TEST")
        #expect(payload.data?.bundleId == TestWorld.bundleID.value)
        #expect(payload.data?.signedTransactionInfo == nil)
        #expect(told.firstSendAttemptResult == .unsuccessfulStatus)
        #expect(told.sendAttempts?.map(\.attemptDate) == [TestWall.start])
    }

    @Test func `a token that is invalid, another app's or too old is refused`() async throws {
        let world = try await TestWorld.openWithURL()
        let other = "com.example.other"
        try await world.realm.catalogue.putCatalogue(
            TestWorld.catalogue(), app: AppDescription(bundleID: BundleID(other)))
        let token = try await world.realm.merchant.admit(bearer: try await world.bearer())
            .requestTestNotification(TestWorld.context).testNotificationToken
        try await world.attempt(ScriptedCourier())
        func code(_ token: String, _ bundleID: String) async throws -> Int? {
            try await appleError {
                try await world.realm.merchant.admit(bearer: try await world.bearer(bundleID))
                    .testNotification(token)
            }
        }

        let mine = TestWorld.bundleID.value
        #expect(try await code("x", mine) == 4_000_020)
        #expect(try await code(token.uppercased(), mine) == 4_000_020)
        #expect(try await code(token + "0", mine) == 4_040_008)
        #expect(try await code(token, other) == 4_040_008)
        world.wall.advance(seconds: 184 * 86_400)
        #expect(try await code(token, mine) == 4_040_008)
    }

    @Test func `of many attempts Apple's answers have the last six`() throws {
        let attempts = (0..<9).map {
            SendAttemptItem(
                attemptDate: Timestamp(milliseconds: $0),
                sendAttemptResult: $0 == 0 ? .timedOut : .success)
        }

        let test = CheckTestNotificationResponse(signedPayload: "x", sendAttempts: attempts)
        let listed = NotificationHistoryResponseItem(signedPayload: "x", sendAttempts: attempts)

        let dates = (3..<9).map { Timestamp(milliseconds: $0) }
        #expect(test.sendAttempts?.map(\.attemptDate) == dates)
        #expect(test.firstSendAttemptResult == .timedOut)
        #expect(listed.sendAttempts?.map(\.attemptDate) == dates)
    }

    @Test func `without a URL or a token there is no test`() async throws {
        let world = try await TestWorld.open()
        let bearer = try await world.bearer()

        let noURL = try await appleError {
            try await world.realm.merchant.admit(bearer: bearer).requestTestNotification(
                TestWorld.context)
        }
        let nobody = try await appleError {
            try await world.realm.merchant.admit(bearer: nil).requestTestNotification(
                TestWorld.context)
        }

        #expect(noURL == 4_040_007 && nobody == 401)
    }

    @Test func `an operator sends a test and no other by hand`() async throws {
        let world = try await TestWorld.openWithURL()
        func code(_ type: String, _ bundleID: String) async throws -> String {
            try await refusal {
                try await world.realm.merchant.sendNotification(
                    SendNotificationRequest(bundleId: bundleID, notificationType: type),
                    TestWorld.context)
            }.error.code
        }
        let mine = TestWorld.bundleID.value

        let sent = try await world.realm.merchant.sendNotification(
            SendNotificationRequest(bundleId: mine, notificationType: "TEST"), TestWorld.context)
        let early = try await world.realm.merchant.notificationStatus(
            sent.testNotificationToken, bundleID: mine)
        try await world.attempt(ScriptedCourier())
        let told = try await world.realm.merchant.notificationStatus(
            sent.testNotificationToken, bundleID: mine)
        let unknown = try await refusal {
            try await world.realm.merchant.notificationStatus("x", bundleID: mine)
        }

        #expect(early.sendAttempts.isEmpty && early.signedPayload == nil)
        #expect(told.sendAttempts.map(\.sendAttemptResult) == [.success])
        #expect(unknown.error.code == "notificationUnknown")
        #expect(try await code("REFUND", mine) == "notificationTypeNotByHand")
        #expect(try await code("ONE_TIME_CHARGE", mine) == "notificationTypeNotByHand")
        #expect(try await code("REFUNDED", mine) == "notificationTypeUnknown")
        #expect(try await code("TEST", "com.example.none") == "bundleIdUnknown")
        try await world.realm.catalogue.setNotificationURL(nil, bundleID: mine, TestWorld.context)
        #expect(try await code("TEST", mine) == "notificationUrlMissing")
    }

    @Test func `the history comes in pages of twenty, each once`() async throws {
        let world = try await TestWorld.openWithURL()
        let bearer = try await world.bearer()
        for number in 1...45 { try await world.buy(purchaseID(number)) }
        try await world.attempt(ScriptedCourier())

        var pages: [Int] = []
        var heard: [String?] = []
        var token: String?
        repeat {
            let page = try await world.history(token: token, bearer: bearer)
            let items = page.notificationHistory ?? []
            pages.append(items.count)
            heard += try items.map { try world.opened($0.signedPayload).notificationUUID }
            token = page.paginationToken
            #expect(page.hasMore == (token != nil))
        } while token != nil

        #expect(pages == [20, 20, 5])
        #expect(Set(heard).count == 45)
    }

    @Test func `the history is narrowed by type, customer, failure and date`() async throws {
        let world = try await TestWorld.openWithURL()
        let bearer = try await world.bearer()
        let sold = try world.verified(try await world.buy(purchaseID(1)).signedTransaction)
        _ = try await world.realm.merchant.admit(bearer: bearer).requestTestNotification(
            TestWorld.context)
        // The test is tried first.
        try await world.attempt(ScriptedCourier(Delivery(.timedOut)))
        func types(_ change: (inout NotificationHistoryRequest) -> Void) async throws -> [String?] {
            let page = try await world.history(bearer: bearer, change)
            return try (page.notificationHistory ?? []).map {
                try world.opened($0.signedPayload).notificationType
            }.sorted { ($0 ?? "") < ($1 ?? "") }
        }

        #expect(try await types { _ in } == ["ONE_TIME_CHARGE", "TEST"])
        #expect(try await types { $0.notificationType = "TEST" } == ["TEST"])
        #expect(try await types { $0.notificationType = "REFUND" } == [])
        #expect(try await types { $0.transactionId = sold.transactionId } == ["ONE_TIME_CHARGE"])
        #expect(try await types { $0.onlyFailures = true } == ["TEST"])
        let before = TestWall.start.adding(seconds: -10)
        #expect(try await types { $0.endDate = before } == [])
    }

    @Test func `another app's merchant receives nothing`() async throws {
        let world = try await TestWorld.openWithURL()
        let other = "com.example.other"
        let sold = try world.verified(try await world.buy(purchaseID(1)).signedTransaction)
        try await world.attempt(ScriptedCourier())
        try await world.realm.catalogue.putCatalogue(
            TestWorld.catalogue(), app: AppDescription(bundleID: BundleID(other)))
        let bearer = try await world.bearer(other)

        let page = try await world.history(bearer: bearer)
        let code = try await appleError {
            try await world.history(bearer: bearer) { $0.transactionId = sold.transactionId }
        }

        #expect(page.notificationHistory?.isEmpty == true)
        #expect(code == 4_040_010)
    }

    @Test func `a question that breaks a rule has Apple's number`() async throws {
        let world = try await TestWorld.openWithURL()
        let bearer = try await world.bearer()
        let now = TestWall.start.milliseconds
        let old = now - 181 * 86_400_000
        let dates = #""startDate":\#(now - 1000),"endDate":\#(now)"#
        let cases: [(String, String?, Int)] = [
            ("", nil, 4_000_000), ("[]", nil, 4_000_000), ("{", nil, 4_000_000),
            (#"{"endDate":\#(now)}"#, nil, 4_000_015),
            (#"{"startDate":"today","endDate":\#(now)}"#, nil, 4_000_015),
            (#"{"startDate":\#(now)}"#, nil, 4_000_016),
            (#"{"startDate":\#(now),"endDate":{}}"#, nil, 4_000_016),
            (#"{"startDate":\#(now),"endDate":\#(now)}"#, nil, 4_000_013),
            (#"{"startDate":\#(old),"endDate":\#(now)}"#, nil, 4_000_012),
            ("{\(dates),\"notificationType\":\"TEST\",\"transactionId\":\"1\"}", nil, 4_000_019),
            ("{\(dates),\"notificationType\":\"TESTS\"}", nil, 4_000_018),
            (
                "{\(dates),\"notificationType\":\"TEST\",\"notificationSubtype\":\"UPGRADE\"}",
                nil, 4_000_018
            ),
            ("{\(dates),\"notificationSubtype\":\"UPGRADE\"}", nil, 4_000_018),
            ("{\(dates),\"transactionId\":\"x\"}", nil, 4_000_006),
            ("{\(dates),\"transactionId\":\"2000000000000000\"}", nil, 4_040_010),
            ("{\(dates),\"onlyFailures\":\"yes\"}", nil, 4_000_000),
            ("{\(dates)}", "x", 4_000_014), ("{\(dates)}", "1_2_3", 4_000_014),
        ]
        for (body, token, code) in cases {
            let told = try await appleError {
                try await world.realm.merchant.admit(bearer: bearer).notificationHistory(
                    Array(body.utf8), paginationToken: token)
            }
            #expect(told == code, "\(body)")
        }
        let nobody = try await appleError {
            try await world.realm.merchant.admit(bearer: "x").notificationHistory(
                [], paginationToken: nil)
        }
        #expect(nobody == 401)
    }

    @Test func `the history has what was signed before the clock was set back`() async throws {
        let world = try await TestWorld.openWithURL()
        let bearer = try await world.bearer()
        try await world.buy(purchaseID(1))
        try await world.attempt(ScriptedCourier())
        _ = try await world.realm.moveClock(
            MoveClockRequest(standAt: TestWall.start.adding(seconds: -5 * 86_400)),
            TestWorld.context)

        let all = try await world.history(bearer: bearer)
        let before = try await world.history(bearer: bearer) {
            $0.endDate = TestWall.start.adding(seconds: -3600)
        }

        #expect(all.notificationHistory?.count == 1)
        #expect(before.notificationHistory?.isEmpty == true)
    }

    /// A reader of the whole history goes on from the last date that it has read.
    @Test func `a customer whose clock is ahead is listed if the request names one`()
        async throws
    {
        let world = try await TestWorld.openWithURL()
        let bearer = try await world.bearer()
        let customers = world.realm.customers
        _ = try await customers.createCustomer(CreateCustomerRequest(name: "gina"))
        _ = try await customers.attachClock(
            AttachClockRequest(customers: ["gina"]), TestWorld.context)
        _ = try await customers.moveClock(
            of: "gina", MoveClockRequest(advancePeriod: "P300D"), TestWorld.context)
        let gina = try await world.session(customer: "gina")
        let sold = try await world.buy("credits.5", purchaseID(1), session: gina)
        let id = try world.verified(sold.signedTransaction).transactionId
        try await world.buy(purchaseID(2))
        let courier = ScriptedCourier()
        try await world.attempt(courier)
        let storage = world.realm.storage(of: gina.customer)
        for row in try await world.outbox(of: gina.customer.value, in: storage) {
            let attempt = try await world.realm.merchant.attemptNotification(
                try row.text("cause"), of: gina.customer, in: TestWorld.bundleID.value,
                by: courier)
            try await storage.write { try attempt.record($0) }
        }
        func ids(of transaction: String?) async throws -> [String?] {
            let page = try await world.history(bearer: bearer) {
                $0.transactionId = transaction
                $0.endDate = TestWall.start.adding(Period(3, .year))
            }
            return try (page.notificationHistory ?? []).map {
                let info = try world.opened($0.signedPayload).data?.signedTransactionInfo
                return try world.verified(info).transactionId
            }
        }

        let all = try await ids(of: nil)
        #expect(try await ids(of: id) == [id])
        #expect(all.count == 1 && all != [id])
    }

    @Test func `a page's token goes with its own question`() async throws {
        let world = try await TestWorld.openWithURL()
        let bearer = try await world.bearer()
        for number in 1...21 { try await world.buy(purchaseID(number)) }
        try await world.attempt(ScriptedCourier())
        let token = try #require(try await world.history(bearer: bearer).paginationToken)

        let code = try await appleError {
            try await world.history(token: token, bearer: bearer) { $0.onlyFailures = true }
        }

        #expect(code == 4_000_014)
    }
}

extension TestWorld {
    /// The history of the last days.
    func history(
        token: String? = nil, bearer: String,
        _ change: (inout NotificationHistoryRequest) -> Void = { _ in }
    ) async throws -> NotificationHistoryResponse {
        var question = NotificationHistoryRequest()
        question.startDate = TestWall.start.adding(seconds: -86_400)
        question.endDate = TestWall.start.adding(seconds: 10 * 86_400)
        change(&question)
        return try await realm.merchant.admit(bearer: bearer).notificationHistory(
            [UInt8](try JSONEncoder().encode(question)), paginationToken: token)
    }
}
