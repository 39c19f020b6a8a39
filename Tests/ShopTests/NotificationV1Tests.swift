// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import StoreWire
import Testing
import Work

@testable import Shop

/// Notifications of version 1, for servers that never changed.
@Suite(.timeLimit(.minutes(5))) struct NotificationV1Tests {
    typealias Object = [String: Any]

    /// The last type of version 1 after the events of ``NotificationCauseTests``. `-`:
    /// version 1 has none, and nothing is sent for the last event.
    static let table = """
        INITIAL_BUY               | buy:news
        INTERACTIVE_RENEWAL       | buy:news off month buy:news
        INTERACTIVE_RENEWAL       | buy:news buy:premium
        DID_RENEW                 | buy:news month
        DID_RECOVER               | buy:news fail month fix
        DID_FAIL_TO_RENEW         | buy:news fail month
        DID_CHANGE_RENEWAL_PREF   | buy:news buy:small
        DID_CHANGE_RENEWAL_STATUS | buy:news off
        PRICE_INCREASE_CONSENT    | buy:news raise
        CANCEL                    | buy:news granted:full
        REFUND                    | buy:pro granted:full
        REVOKE                    | buy:pro granted:nothing
        CONSUMPTION_REQUEST       | buy:pro request
        -                         | buy:pro
        -                         | buy:news extend
        -                         | buy:pro request declined
        -                         | buy:news off month
        """

    private func world() async throws -> TestWorld {
        let world = try await TestWorld.openWithSubscriptions()
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, version: 1, bundleID: TestWorld.bundleID.value, TestWorld.context)
        return world
    }

    private func run(_ commands: [String], _ world: TestWorld) async throws -> [Object] {
        let courier = ScriptedCourier()
        for (n, command) in commands.enumerated() {
            try await NotificationCauseTests().run(command, n, world)
        }
        try await world.attempt(courier)
        return try courier.parcels.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.body)) as? Object)
        }
    }

    @Test(arguments: table.split(separator: "\n").map(String.init))
    func `each event has its type of version 1, or none`(line: String) async throws {
        let sides = line.split(separator: "|").map { $0.split(separator: " ").map(String.init) }
        let before = try await run(sides[1].dropLast(), try await world())

        let sent = try await run(sides[1], try await world())

        let types = sent.map { $0["notification_type"] as? String }
        if sides[0] == ["-"] {
            #expect(types.count == before.count, "\(types)")
        } else {
            #expect(types.count > before.count && types.contains(sides[0][0]), "\(types)")
        }
    }

    @Test func `the body has the secret, the state and a receipt of this store`() async throws {
        let world = try await world()
        let secret = try await world.secret()
        let body = try #require(try await run(["buy:news", "month", "off"], world).last)

        #expect(body["notification_type"] as? String == "DID_CHANGE_RENEWAL_STATUS")
        #expect(
            body["environment"] as? String == "Sandbox" && body["password"] as? String == secret)
        #expect(body["bid"] as? String == TestWorld.bundleID.value)
        #expect(body["bvrs"] as? String == "2.1" && body["auto_renew_status"] as? String == "false")
        #expect(body["auto_renew_product_id"] as? String == "news")
        let first = try await world.realm.purchases.listTransactions(
            bundleID: TestWorld.bundleID.value
        ).transactions.first?.payload.originalTransactionId
        #expect((body["original_transaction_id"] as? Int).map(String.init) == first)
        for end in ["", "_ms", "_pst"] {
            #expect(body["auto_renew_status_change_date" + end] is String)
        }
        let unified = try #require(body["unified_receipt"] as? Object)
        #expect(unified["status"] as? Int == 0 && unified["environment"] as? String == "Sandbox")
        #expect((unified["latest_receipt_info"] as? [Object])?.count == 2)
        let pending = try #require((unified["pending_renewal_info"] as? [Object])?.first)
        #expect(pending["auto_renew_status"] as? String == "0")
        let text = try #require(unified["latest_receipt"] as? String)
        let answer = try await world.verify(text, password: secret)
        #expect(answer["status"] as? Int == 0)
        let receipt = try ReceiptVerifier(roots: [world.realm.authority.root])
            .verify(try #require(Base64.decode(Array(text.utf8))), bundleID: TestWorld.bundleID)
        #expect(receipt.purchases.count == 2)
    }

    @Test func `a subscription that is cancelled in its grace period is named`() async throws {
        let world = try await world()
        _ = try await world.secret()
        let body = try #require(
            try await run(["grace", "buy:news", "fail", "month", "off"], world).last {
                $0["notification_type"] as? String == "DID_CHANGE_RENEWAL_STATUS"
            })

        #expect(body["auto_renew_product_id"] as? String == "news")
        #expect(body["expiration_intent"] as? Int == 1)
        let unified = try #require(body["unified_receipt"] as? Object)
        #expect((unified["pending_renewal_info"] as? [Object])?.isEmpty != false)
    }

    @Test func `an upgrade cancels first, and is sent again as a whole`() async throws {
        let world = try await world()
        _ = try await run(["buy:news"], world)
        let courier = ScriptedCourier(Delivery(status: 200), Delivery(status: 500))
        try await NotificationCauseTests().run("buy:premium", 1, world)

        try await world.attempt(courier)
        try await world.attempt(courier)

        let types = try courier.parcels.map {
            let body = try JSONSerialization.jsonObject(with: Data($0.body)) as? Object
            return body?["notification_type"] as? String
        }
        let whole = ["CANCEL", "INTERACTIVE_RENEWAL"]
        #expect(types == whole + whole)
    }

    @Test func `production has the other word, and its own pauses`() async throws {
        let body = ResponseBodyV1(
            notificationType: "REFUND", isProduction: true, bundleID: "a.b",
            unifiedReceipt: UnifiedReceipt(
                environment: "Production", latestReceipt: nil, latestReceiptInfo: [],
                pendingRenewalInfo: []))
        let json = try JSONSerialization.jsonObject(with: try JSONEncoder().encode(body))
        let fields = try #require(json as? Object)
        #expect(fields["environment"] as? String == "PROD")
        #expect((fields["unified_receipt"] as? Object)?["environment"] as? String == "Production")
        #expect(
            RetryTimetable.productionNotificationsV1.pauses.map { $0 / 3_600_000 } == [6, 24, 48])
    }

    @Test func `what is not sent is in the history as unsent`() async throws {
        let world = try await world()
        let sent = try await run(["buy:pro"], world)

        let listed = try await world.realm.merchant.notifications(
            ofApp: TestWorld.bundleID.value
        ).notifications
        #expect(sent.isEmpty && listed.map(\.notificationType) == ["ONE_TIME_CHARGE"])
        #expect(listed.first?.sendAttempts.isEmpty == true)
        // Once, and not again.
        #expect(try await world.attempt(ScriptedCourier()) == [.done])
    }

    @Test func `the version is set with the URL, and version 1 has no test`() async throws {
        let world = try await world()
        let (catalogue, app) = (world.realm.catalogue, TestWorld.bundleID.value)
        let one = try await catalogue.appSummaries().first?.notificationVersion
        let merchant = try await world.merchant()
        let code = try await appleError {
            try await merchant.requestTestNotification(TestWorld.context)
        }
        let byHand = try await refusal {
            try await world.realm.merchant.sendNotification(
                SendNotificationRequest(bundleId: app, notificationType: "TEST"),
                TestWorld.context)
        }
        let unknown = try await refusal {
            try await catalogue.setNotificationURL(
                TestWorld.url, version: 3, bundleID: app, TestWorld.context)
        }
        let two = try await catalogue.setNotificationURL(
            TestWorld.url, bundleID: app, TestWorld.context
        ).notificationVersion
        let none = try await catalogue.setNotificationURL(nil, bundleID: app, TestWorld.context)

        #expect(one == 1 && two == 2 && none.notificationVersion == nil)
        #expect(code == 4_040_007 && byHand.error.code == "notificationVersionOne")
        #expect(unknown.error.code == "notificationVersionUnknown")
        let entries = try await world.realm.auditEntries().entries.filter {
            $0.deed == "app.notificationUrl"
        }
        #expect(entries.count == 3, "the version alone is a change too")
    }
}
