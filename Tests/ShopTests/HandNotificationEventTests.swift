// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import Shop

/// A notification by hand about an existing transaction agrees with its event.
@Suite(.timeLimit(.minutes(5))) struct HandNotificationEventTests {
    private struct Told {
        let sale: JWSTransactionDecodedPayload
        let renewal: JWSRenewalInfoDecodedPayload
        let status: Int?
    }

    private func sign(_ kind: String, _ world: TestWorld, _ id: String?) async throws -> String {
        let parts = kind.split(separator: "/").map(String.init)
        return try await world.realm.merchant.signNotification(
            SignNotificationRequest(
                bundleId: TestWorld.bundleID.value, notificationType: parts[0],
                subtype: parts.count > 1 ? parts[1] : nil, transactionId: id),
            TestWorld.context
        ).signedPayload
    }

    private func tell(_ kind: String, _ world: TestWorld, _ id: String) async throws -> Told {
        let data = try #require(try world.opened(try await sign(kind, world, id)).data)
        return Told(
            sale: try world.verified(data.signedTransactionInfo),
            renewal: try world.renewal(data.signedRenewalInfo), status: data.status)
    }

    private func world(after commands: String...) async throws -> TestWorld {
        let world = try await TestWorld.openWithSubscriptions()
        for (n, command) in commands.enumerated() {
            try await NotificationCauseTests().run(command, n, world)
        }
        return world
    }

    @Test func `the price of the next period is that of the product that was chosen`()
        async throws
    {
        let world = try await world(after: "buy:news")
        let id = try await world.subscription()

        let chosen = try await tell("DID_CHANGE_RENEWAL_PREF/DOWNGRADE", world, id).renewal
        try await NotificationCauseTests().run("buy:small", 1, world)
        let again = try await tell("DID_CHANGE_RENEWAL_PREF/DOWNGRADE", world, id).renewal
        let reverted = try await tell("DID_CHANGE_RENEWAL_PREF", world, id).renewal
        try await NotificationCauseTests().run("off", 2, world)
        let on = try await tell(
            "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", world, id
        ).renewal

        for small in [chosen, again, on] {
            #expect(small.autoRenewProductId == "small" && small.renewalPrice == 1990)
            #expect(small.autoRenewStatus == 1)
        }
        #expect(reverted.autoRenewProductId == "news" && reverted.renewalPrice == 4990)
    }

    @Test func `an extension moves the end of the period and the renewal`() async throws {
        let world = try await world(after: "buy:news")
        let id = try await world.subscription()
        let end = try #require(try await tell("DID_RENEW", world, id).sale.expiresDate)

        let told = try await tell("RENEWAL_EXTENDED", world, id)

        #expect(told.sale.expiresDate == end.adding(seconds: 7 * 86_400))
        #expect(told.renewal.renewalDate == told.sale.expiresDate && told.status == 1)
        let after = try await tell("DID_RENEW", world, id)
        #expect(after.sale.expiresDate == end, "nothing is stored")
    }

    @Test(
        arguments: [
            "DID_RENEW", "DID_RENEW/BILLING_RECOVERY", "SUBSCRIBED/RESUBSCRIBE",
            "OFFER_REDEEMED/UPGRADE", "RENEWAL_EXTENDED",
        ])
    func `what sells a period tells of a new one while the renewal is unpaid`(
        kind: String
    ) async throws {
        let world = try await world(after: "buy:news", "fail", "month")
        let now = try await world.realm.clock().now

        let told = try await tell(kind, world, try await world.subscription())

        #expect(told.status == 1)
        #expect(told.renewal.isInBillingRetryPeriod == nil)
        #expect(told.renewal.expirationIntent == nil && told.renewal.autoRenewStatus == 1)
        #expect(told.sale.expiresDate.map { $0 > now } == true)
        #expect(told.renewal.renewalDate == told.sale.expiresDate)
        if kind.hasPrefix("DID_RENEW") {
            #expect(told.sale.transactionReason == "RENEWAL" && told.sale.price == 4990)
        }
    }

    @Test func `one that has ended is subscribed to again`() async throws {
        let world = try await world(after: "buy:news", "off", "month")

        let told = try await tell(
            "SUBSCRIBED/RESUBSCRIBE", world, try await world.subscription())

        #expect(told.status == 1 && told.renewal.autoRenewStatus == 1)
        #expect(told.renewal.expirationIntent == nil && told.renewal.renewalPrice == 4990)
        #expect(told.sale.transactionReason == "PURCHASE")
        #expect(told.renewal.renewalDate == told.sale.expiresDate)
    }

    @Test func `a member of the family loses it, and the purchaser's renewal goes on`()
        async throws
    {
        let family = try await FamilyWorld()
        for command in ["join", "buy:news"] { try await family.run(command) }
        let id = try #require(try await family.payloads("ben").last?.transactionId)

        let told = try await tell("REVOKE", family.world, id)

        #expect(told.status == 5 && told.sale.revocationType == "FAMILY_REVOKE")
        #expect(told.renewal.autoRenewStatus == 1 && told.renewal.renewalPrice == nil)
    }

    @Test func `a type is refused about a product of another type`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        let coins = try await world.sell("credits.5", 1, session)
        let news = try await world.sell("news", 2, session)
        let others = [
            "DID_RENEW", "EXPIRED/VOLUNTARY", "RENEWAL_EXTENSION/FAILURE", "SUBSCRIBED/INITIAL_BUY",
        ].map { ($0, coins) }

        for (kind, id) in others + [("ONE_TIME_CHARGE", news)] {
            let refused = try await refusal { try await sign(kind, world, id) }
            #expect(refused.error.code == "transactionOfOtherType", "\(kind)")
            #expect(refused.error.field == "transactionId" && refused.error.remedy != nil)
        }
        for (kind, id) in [("ONE_TIME_CHARGE", coins), ("REFUND", coins), ("REFUND", news)] {
            _ = try await sign(kind, world, id)
        }
    }

    @Test(
        arguments: NotificationKind.types.filter(NotificationKind.needsSubtype))
    func `a type that always has a subtype is refused without one`(type: String) async throws {
        let world = try await TestWorld.open()
        let refused = try await refusal { try await sign(type, world, nil) }
        #expect(refused.error.code == "notificationTypeUnknown")
        #expect(refused.error.field == "subtype")
        let subtypes = NotificationKind.subtypes(of: type).joined(separator: ", ")
        #expect(refused.error.rule == subtypes)
    }

    @Test(arguments: ["", "a\u{202e}/..", "..", "a b"])
    func `an invented product has an id that a product may have`(product: String) async throws {
        let world = try await TestWorld.open()
        let refused = try await refusal {
            try await world.realm.merchant.signNotification(
                SignNotificationRequest(
                    bundleId: "com.example.nobody", notificationType: "DID_RENEW",
                    productId: product), TestWorld.context)
        }
        #expect(refused.error.code == "productIdInvalid" && refused.error.field == "productId")
    }
}
