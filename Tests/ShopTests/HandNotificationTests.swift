// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire
import Testing

@testable import Shop

/// Notifications by hand, of every type.
@Suite(.timeLimit(.minutes(5))) struct HandNotificationTests {
    static let kinds: [(String, String?)] = NotificationKind.types.flatMap { type in
        (NotificationKind.needsSubtype(type) ? [] : [(type, nil)])
            + NotificationKind.subtypes(of: type).map { (type, Optional($0)) }
    }

    private func sign(
        _ type: String, _ subtype: String?, _ world: TestWorld, transaction: String? = nil,
        bundleID: String = "com.example.nobody"
    ) async throws -> ResponseBodyV2DecodedPayload {
        let signed = try await world.realm.merchant.signNotification(
            SignNotificationRequest(
                bundleId: bundleID, notificationType: type, subtype: subtype,
                transactionId: transaction), TestWorld.context)
        let payload = try NotificationVerifier(
            roots: [world.realm.authority.root], bundleID: BundleID(bundleID),
            environment: .sandbox
        ).verify(signed.signedPayload, now: nil).payload
        #expect(payload.notificationUUID == signed.notificationUUID)
        return payload
    }

    @Test func `every type is signed for an app that need not exist`() async throws {
        let world = try await TestWorld.open()
        for (type, subtype) in Self.kinds {
            let payload = try await sign(type, subtype, world)

            #expect(payload.notificationType == type && payload.subtype == subtype)
            let objects = [
                payload.data != nil, payload.summary != nil, payload.externalPurchaseToken != nil,
                payload.appData != nil,
            ]
            #expect(objects.count { $0 } == 1, "\(type)")
            guard let data = payload.data, type != "TEST" else { continue }
            let transaction = try TransactionVerifier(
                roots: [world.realm.authority.root], bundleID: "com.example.nobody",
                environment: .sandbox
            ).verify(try #require(data.signedTransactionInfo), now: nil).payload
            let isSubscription = transaction.type == "Auto-Renewable Subscription"
            #expect((data.signedRenewalInfo != nil) == isSubscription, "\(type)")
            #expect((data.status != nil) == isSubscription)
        }
    }

    @Test func `an existing transaction is told as it is`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let id = try await world.sell("news", 1, try await world.session())

        let payload = try await sign(
            "DID_RENEW", nil, world, transaction: id, bundleID: TestWorld.bundleID.value)

        #expect(payload.data?.status == 1)
        #expect(try world.verified(payload.data?.signedTransactionInfo).transactionId == id)
        let renewal = try world.renewal(payload.data?.signedRenewalInfo)
        #expect(renewal.autoRenewProductId == "news")
        let audit = try await world.realm.auditEntries().entries.last
        #expect(audit?.deed == "notification.sign")
    }

    @Test(
        arguments: [
            ("MOON", nil, nil, "notificationTypeUnknown"),
            ("EXPIRED", "MOON", nil, "notificationTypeUnknown"),
            ("REFUND", nil, "2000900000000001", "transactionNotFound"),
            ("REFUND", nil, "x", "transactionNotFound"),
            ("TEST", nil, "2000000000000001", "transactionUnused"),
            ("RESCIND_CONSENT", nil, "2000000000000001", "transactionUnused"),
            ("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED", "1", "transactionUnused"),
            ("RENEWAL_EXTENSION", "SUMMARY", "1", "transactionUnused"),
        ] as [(String, String?, String?, String)])
    func `what there is not is refused`(
        type: String, subtype: String?, transaction: String?, code: String
    ) async throws {
        let world = try await TestWorld.open()
        let refused = try await refusal {
            try await sign(type, subtype, world, transaction: transaction)
        }
        #expect(refused.error.code == code)
    }

    @Test func `production signs nothing invented, and a bundle id must be one`() async throws {
        let live = try await TestWorld.open(realm: "live", environment: .production)
        let world = try await TestWorld.open()
        let codes = [
            try await refusal { try await sign("REFUND", nil, live) }.error.code,
            try await refusal { try await sign("REFUND", nil, world, bundleID: "a b") }.error.code,
        ]
        #expect(codes == ["sandboxOnly", "bundleIdInvalid"])
    }

    @Test func `what was sent is listed and shown`() async throws {
        let courier = ScriptedCourier(Delivery(status: 500))
        let world = try await TestWorld.open(courier: courier)
        let (room, app) = (world.realm.merchant, TestWorld.bundleID.value)
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: app, TestWorld.context)
        for n in 1...3 { try await world.buy("credits.5", purchaseID(n)) }
        _ = try await world.realm.keeping.workOnce()

        let first = try await room.notifications(ofApp: app, limit: 2)
        let rest = try await room.notifications(ofApp: app, after: first.next, limit: 2)
        let failed = try await room.notifications(ofApp: app, onlyFailures: true)
        let uuid = try #require(failed.notifications.first?.notificationUUID)
        let shown = try await room.notification(uuid.uppercased(), ofApp: app)

        #expect(first.notifications.count == 2 && rest.notifications.count == 1)
        #expect(rest.next == nil && failed.notifications.count == 1)
        #expect(shown == failed.notifications.first)
        #expect(shown.notificationType == "ONE_TIME_CHARGE" && shown.sendAttempts.count == 1)
        let codes = [
            try await refusal { try await room.notification("x", ofApp: app) }.error.code,
            try await refusal { try await room.notifications(ofApp: "x") }.error.code,
            try await refusal { try await room.notifications(ofApp: app, after: "x") }.error.code,
        ]
        #expect(
            codes == [
                "notificationUnknown", "bundleIdUnknown", "cursorInvalid",
            ])
    }

    @Test func `attempts by hand are in the history, and use up none of the store's`()
        async throws
    {
        let failing = Delivery(status: 500)
        let courier = ScriptedCourier(failing, failing)
        let world = try await TestWorld.open(courier: courier)
        let (room, app) = (world.realm.merchant, TestWorld.bundleID.value)
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: app, TestWorld.context)
        _ = try await world.realm.faults.set(
            "notification-attempts", SetFaultRequest(value: "3"), TestWorld.context)
        func sell(_ n: Int) async throws -> String {
            try await world.buy("credits.5", purchaseID(n))
            _ = try await world.realm.keeping.workOnce()
            return try #require(
                try await room.notifications(ofApp: app).notifications.last?.notificationUUID)
        }
        func record(
            _ result: SendAttemptResult, of uuid: String, status: Int? = nil, url: String? = nil
        ) async throws -> [String?] {
            try await room.recordAttempt(
                NotificationAttemptReport(sendAttemptResult: result, status: status, url: url),
                of: uuid, ofApp: app, TestWorld.context
            ).sendAttempts.map { $0.sendAttemptResult?.rawValue }
        }
        func pass(hours: Int64, _ uuid: String) async throws -> [String?] {
            world.wall.advance(seconds: hours * 3600)
            _ = try await world.realm.keeping.workOnce()
            return try await room.notification(uuid, ofApp: app).sendAttempts.map {
                $0.sendAttemptResult?.rawValue
            }
        }
        let status = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
        let uuid = try await sell(1)

        let failed = try await record(.timedOut, of: uuid)
        let elsewhere = try await record(
            .success, of: uuid, status: 200, url: "http://127.0.0.1:9/")
        let second = try await pass(hours: 1, uuid)
        let third = try await pass(hours: 12, uuid)
        #expect(failed == [status, "TIMED_OUT"] && elsewhere == failed)
        #expect(second == [status, status, "TIMED_OUT"])
        #expect(third == [status, status, "SUCCESS", "TIMED_OUT"], "all three of its attempts")

        courier.script([failing])
        let other = try await sell(2)
        let delivered = try await record(.success, of: other, status: 200)
        #expect(delivered == [status, "SUCCESS"])
        #expect(try await pass(hours: 24, other) == delivered, "it is not sent again")
        let deeds = try await world.realm.auditEntries().entries.map(\.deed)
        #expect(deeds.count { $0 == "notification.attempt" } == 3)
        for (result, status, url, code) in [
            ("MOON", nil, nil, "attemptInvalid"), ("SUCCESS", 99, nil, "attemptInvalid"),
            ("SUCCESS", nil, "moon", "notificationUrlInvalid"),
        ] as [(String, Int?, String?, String)] {
            let refused = try await refusal {
                try await record(
                    SendAttemptResult(result), of: uuid, status: status, url: url)
            }
            #expect(refused.error.code == code)
        }
    }

    @Test func `one that was signed by hand is in the history once it was sent`() async throws {
        let world = try await TestWorld.open()
        let (room, app) = (world.realm.merchant, TestWorld.bundleID.value)
        let signed = try await room.signNotification(
            SignNotificationRequest(bundleId: app, notificationType: "DID_RENEW"),
            TestWorld.context)
        let before = try await room.notifications(ofApp: app).notifications
        _ = try await room.recordAttempt(
            NotificationAttemptReport(sendAttemptResult: .success, status: 200),
            of: signed.notificationUUID, ofApp: app, TestWorld.context)

        let after = try await room.notifications(ofApp: app).notifications
        let body = """
            {"startDate":\(TestWall.start.milliseconds - 1),\
            "endDate":\(TestWall.start.milliseconds + 60000),"notificationType":"DID_RENEW"}
            """
        let history = try await world.merchant().notificationHistory(
            Array(body.utf8), paginationToken: nil)
        #expect(before.isEmpty && after.map(\.signedPayload) == [signed.signedPayload])
        #expect(history.notificationHistory?.map(\.signedPayload) == [signed.signedPayload])
    }
}
