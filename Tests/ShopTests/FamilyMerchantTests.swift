// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import Storage
import StoreWire
import Testing

@testable import Shop

/// What a merchant's server is shown of a member's subscription. Ann organises the family,
/// and Ben is its member.
@Suite(.timeLimit(.minutes(5))) struct FamilyMerchantTests {
    private func family(_ commands: String) async throws -> FamilyWorld {
        let family = try await FamilyWorld()
        try await run(commands, family)
        return family
    }

    private func run(_ commands: String, _ family: FamilyWorld) async throws {
        for command in commands.split(separator: " ") { try await family.run(String(command)) }
    }

    /// The status of the only subscription, with its transaction and its renewal.
    private func status(
        _ name: String, _ family: FamilyWorld
    ) async throws -> (
        status: Int, sold: JWSTransactionDecodedPayload, renewal: JWSRenewalInfoDecodedPayload
    ) {
        let id = try #require(try await family.payloads(name).first?.transactionId)
        let answer = try await family.world.merchant().statuses(of: id, only: [])
        let item = try #require(answer.data.first?.lastTransactions.first)
        #expect(answer.data.flatMap(\.lastTransactions).count == 1)
        return (
            item.status, try family.world.verified(item.signedTransactionInfo),
            try family.world.renewal(item.signedRenewalInfo)
        )
    }

    @Test func `a member's subscription is over where the purchaser's goes on unshared`()
        async throws
    {
        let family = try await family("join buy:news buy:yearly month")

        let shown = try await status("ben", family)

        #expect(shown.status == 2 && shown.sold.productId == "news")
        #expect(shown.renewal.productId == "news" && shown.renewal.autoRenewProductId == "news")
        #expect(shown.renewal.autoRenewStatus == 0 && shown.renewal.expirationIntent == 5)
        #expect(shown.renewal.renewalDate == shown.sold.expiresDate)
        let heard = try await family.notifications("ben")
        #expect(
            heard.map(\.notificationType) == ["SUBSCRIBED", "DID_CHANGE_RENEWAL_PREF", "EXPIRED"])
        #expect(heard.last?.data?.status == 2)
        #expect(try await status("ann", family).status == 1)
        try await run("off month month", family)
        #expect(try await status("ben", family).status == 2)
    }

    @Test func `a refund of an earlier period leaves the member's subscription as it is`()
        async throws
    {
        let family = try await family("join buy:news month refundFirst")
        let given = try await family.payloads("ben").compactMap(\.transactionId)

        let heard = try await family.notifications("ben")

        #expect(heard.map(\.notificationType) == ["SUBSCRIBED", "DID_RENEW", "REVOKE"])
        #expect(heard.map { $0.data?.status } == [1, 1, 1])
        let sold = try family.world.verified(
            try #require(heard.last?.data?.signedTransactionInfo))
        #expect(sold.transactionId == given[0] && sold.revocationDate != nil)
        let shown = try await status("ben", family)
        #expect(shown.status == 1 && shown.sold.transactionId == given[1])
        let renewal = try family.world.renewal(heard.last?.data?.signedRenewalInfo)
        #expect(renewal.renewalDate == shown.renewal.renewalDate)

        try await run("reverseFirst", family)

        #expect(try await family.payloads("ben").allSatisfy { $0.revocationDate == nil })
        let last = try #require(try await family.notifications("ben").last)
        #expect(last.notificationType == "REFUND_REVERSED" && last.data?.status == 1)
        let kinds = try await family.world.realm.subscriptions.history(
            of: try await family.id("ben")
        ).events.map(\.kind)
        #expect(kinds.suffix(2) == ["familyRevoked", "familyReinstated"])
        try await family.checkMembers()
        let before = try await family.everything()
        for name in ["ann", "ben"] { try await family.carry(name) }
        #expect(try await family.everything() == before)
        guard family.world.realm.isOneCluster else { return }
        try await ReferenceTests().expectWhole(family.world, "reversed")
    }

    @Test func `a member's renewal is the purchaser's, also after the grant`() async throws {
        let family = try await family("join buy:news buy:small")
        let chosen = try await status("ben", family).renewal
        try await run("off", family)
        let off = try await status("ben", family)

        #expect(chosen.autoRenewProductId == "small" && chosen.autoRenewStatus == 1)
        #expect(off.status == 1 && off.renewal.autoRenewStatus == 0)
        #expect(off.renewal.renewalPrice == nil && off.renewal.currency == nil)
        try await run("on", family)
        #expect(
            try await family.told("ben")
                == "SUBSCRIBED/INITIAL_BUY,DID_CHANGE_RENEWAL_PREF/DOWNGRADE,"
                + "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED,"
                + "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED")
    }

    @Test func `a member is in billing retry and in grace like the purchaser`() async throws {
        let retry = try await family("join buy:news fail month")
        let grace = try await family("join grace buy:news fail month")

        for (family, number) in [(retry, 3), (grace, 4)] {
            let (own, shared) = (
                try await status("ann", family), try await status("ben", family)
            )
            #expect(own.status == number && shared.status == number)
            #expect(shared.renewal.isInBillingRetryPeriod == true)
            #expect(shared.renewal.expirationIntent == 2)
            #expect(
                shared.renewal.gracePeriodExpiresDate == own.renewal.gracePeriodExpiresDate)
            #expect((own.renewal.gracePeriodExpiresDate != nil) == (number == 4))
        }
        try await run("fix", retry)
        #expect(try await status("ben", retry).status == 1)
    }

    @Test(arguments: [false, true])
    func `one jump over a failed renewal announces each step to the member`(
        hasClock: Bool
    ) async throws {
        let clock = hasClock ? "clock " : ""
        let family = try await family(clock + "join grace buy:news fail")
        try await family.advance("P4M")

        let told = try await family.owed("ben")

        #expect(
            try await family.told("ben")
                == "SUBSCRIBED/INITIAL_BUY,DID_FAIL_TO_RENEW/GRACE_PERIOD,"
                + "GRACE_PERIOD_EXPIRED,EXPIRED/BILLING_RETRY")
        let own = try await family.owed("ann").filter { $0.type != "SUBSCRIBED" }
        #expect(told.dropFirst().map(\.at) == own.map(\.at))
        #expect(try await status("ben", family).status == 2)
        let events = try await family.world.realm.subscriptions.history(
            of: try await family.id("ben")
        ).events.map(\.kind)
        #expect(
            events.suffix(4) == [
                "familyGranted", "familyBillingFailed", "familyGraceEnded", "familyExpired",
            ])
        let before = try await family.everything()
        for name in ["ann", "ben"] { try await family.carry(name) }
        #expect(try await family.everything() == before)
        let causes = try await family.world.realm.rows(
            Statement("test.causes", "SELECT cause FROM outbox"))
        #expect(try causes.allSatisfy { StoreArchiveRules.isCause(try $0.text("cause")) })
        guard family.world.realm.isOneCluster else { return }
        try await ReferenceTests().expectWhole(family.world, "failed")
    }

    @Test func `what is bought and over in one jump is announced to the member as two`()
        async throws
    {
        let family = try await family("join")
        try await family.buy("news", "ann")
        try await family.world.realm.subscriptions.switchRenewal(
            of: try await family.world.subscription(), on: false, TestWorld.context)
        try await family.advance("P2M")

        #expect(
            try await family.told("ben")
                == "SUBSCRIBED/INITIAL_BUY,DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED,"
                + "EXPIRED/VOLUNTARY")
        #expect(try await status("ben", family).status == 2)
        guard family.world.realm.isOneCluster else { return }
        try await ReferenceTests().expectWhole(family.world, "over")
    }

    @Test(arguments: ["stop", "leave", "refund"])
    func `verifyReceipt and version 1 show when a family withdrew what it shared`(
        command: String
    ) async throws {
        let family = try await FamilyWorld()
        try await family.world.realm.catalogue.setNotificationURL(
            TestWorld.url, version: 1, bundleID: TestWorld.bundleID.value, TestWorld.context)
        try await run("join buy:pro buy:news", family)
        let session = try await family.session("ben")
        let before = try await family.world.receiptText(session)
        let secret = try await family.world.secret()

        // One purchase is refunded, and everything is withdrawn by the others.
        try await run(command, family)

        let refunded = try await family.payloads("ann").filter { $0.revocationDate != nil }
        let lost = command == "refund" ? refunded.compactMap(\.productId) : ["news", "pro"]
        for receipt in [before, try await family.world.receiptText(session)] {
            let answer = try await family.world.verify(receipt, password: secret)
            #expect(answer["status"] as? Int == 0)
            try expectCancelled(answer["latest_receipt_info"], lost)
        }
        let body = try await old("REVOKE", of: "ben", family)
        let unified = try #require(body["unified_receipt"] as? [String: Any])
        try expectCancelled(unified["latest_receipt_info"], lost)
        #expect((unified["pending_renewal_info"] as? [[String: Any]])?.count == 1)
    }

    /// The products that a list shows as cancelled.
    private func expectCancelled(_ list: Any?, _ products: [String]) throws {
        let items = try #require(list as? [[String: Any]])
        #expect(items.count == 2)
        let cancelled = items.filter { $0["cancellation_date_ms"] is String }
        #expect(cancelled.compactMap { $0["product_id"] as? String }.sorted() == products)
        #expect(items.allSatisfy { $0["in_app_ownership_type"] as? String == "FAMILY_SHARED" })
    }

    /// The last body of version 1 of a type that a customer's notifications have.
    private func old(
        _ type: String, of name: String, _ family: FamilyWorld
    ) async throws -> [String: Any] {
        let customer = CustomerID(try #require(Int64(try await family.id(name))))
        let cause = try await family.world.realm.read(of: customer) { reading in
            try reading.query(
                Statement(
                    "test.old", [.integer, .text],
                    """
                    SELECT cause FROM outbox WHERE customer_id = $1 AND notification_type = $2
                    ORDER BY revision, cause
                    """), [.integer(customer.value), .text(type)]
            ).last?.text("cause")
        }
        let ready = try await family.world.realm.merchant.readyNotification(
            try #require(cause), of: customer)
        let bytes = try #require(ready?.bodies().last)
        let json = try JSONSerialization.jsonObject(with: Data(bytes))
        return try #require(json as? [String: Any])
    }

    @Test func `version 1 tells a member of a failed renewal and of its recovery`()
        async throws
    {
        let family = try await FamilyWorld()
        try await family.world.realm.catalogue.setNotificationURL(
            TestWorld.url, version: 1, bundleID: TestWorld.bundleID.value, TestWorld.context)
        try await run("join buy:news fail month fix", family)
        let types = try await family.owed("ben").flatMap { owed in
            NotificationKind.versionOne(owed.type, subtype: owed.subtype, isSubscription: true)
        }
        #expect(types == ["INITIAL_BUY", "DID_FAIL_TO_RENEW", "DID_RECOVER"])
    }
}
