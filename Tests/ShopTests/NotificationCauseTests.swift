// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Testing

@testable import Shop

/// Every type of notification, and the event that causes it.
@Suite(.timeLimit(.minutes(5))) struct NotificationCauseTests {
    static let table = """
        CONSUMPTION_REQUEST                            | buy:pro request
        DID_CHANGE_RENEWAL_PREF                        | buy:news buy:small buy:news
        DID_CHANGE_RENEWAL_PREF/DOWNGRADE              | buy:news buy:small
        DID_CHANGE_RENEWAL_PREF/UPGRADE                | buy:news buy:premium
        DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED  | buy:news off
        DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED   | buy:news off on
        DID_FAIL_TO_RENEW                              | buy:news fail month
        DID_FAIL_TO_RENEW/GRACE_PERIOD                 | grace buy:news fail month
        DID_RENEW                                      | buy:news month
        DID_RENEW/BILLING_RECOVERY                     | buy:news fail month fix
        EXPIRED                                        | buy:news expire
        EXPIRED/BILLING_RETRY                          | buy:news fail month month month
        EXPIRED/PRICE_INCREASE                         | buy:news raise month
        EXPIRED/PRODUCT_NOT_FOR_SALE                   | buy:news remove:news month
        EXPIRED/VOLUNTARY                              | buy:news off month
        GRACE_PERIOD_EXPIRED                           | grace buy:news fail month month
        OFFER_REDEEMED                                 | buy:news redeem:news
        OFFER_REDEEMED/DOWNGRADE                       | buy:news redeem:small
        OFFER_REDEEMED/UPGRADE                         | buy:news redeem:premium
        ONE_TIME_CHARGE                                | buy:pro
        PRICE_INCREASE/ACCEPTED                        | buy:news raise agree
        PRICE_INCREASE/PENDING                         | buy:news raise
        REFUND                                         | buy:pro granted:full
        REFUND_DECLINED                                | buy:pro request declined
        REFUND_REVERSED                                | buy:pro granted:full reversed
        RENEWAL_EXTENDED                               | buy:news extend
        RENEWAL_EXTENSION/FAILURE                      | buy:news fail month extendAll
        RENEWAL_EXTENSION/SUMMARY                      | buy:news extendAll
        REVOKE                                         | buy:pro granted:nothing
        SUBSCRIBED/INITIAL_BUY                         | buy:news
        SUBSCRIBED/RESUBSCRIBE                         | buy:news off month buy:news
        TEST                                           | test
        """

    /// What has no event: Apple's calls of other protocols, and subtypes that Apple
    /// once had. The two that a command sends are among them.
    static let without: Set = [
        "EXTERNAL_PURCHASE_TOKEN/UNREPORTED", "METADATA_UPDATE", "MIGRATION",
        "OFFER_REDEEMED/INITIAL_BUY", "OFFER_REDEEMED/RESUBSCRIBE", "PRICE_CHANGE",
        "RESCIND_CONSENT",
    ]

    @Test(arguments: table.split(separator: "\n").map(String.init))
    func `each is caused by its event`(line: String) async throws {
        let sides = line.split(separator: "|").map { $0.split(separator: " ").map(String.init) }
        let world = try await TestWorld.openWithSubscriptions()
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: TestWorld.bundleID.value, TestWorld.context)
        for (n, command) in sides[1].enumerated() { try await run(command, n, world) }

        let told = try await world.owedTypes()

        #expect(told.last == sides[0][0] || told.contains(sides[0][0]), "\(told)")
        let before = try await TestWorld.openWithSubscriptions()
        try await before.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: TestWorld.bundleID.value, TestWorld.context)
        for (n, command) in sides[1].dropLast().enumerated() { try await run(command, n, before) }
        let earlier = try await before.owedTypes().count { $0 == sides[0][0] }
        #expect(told.count { $0 == sides[0][0] } > earlier, "the last command causes it")
    }

    @Test func `no type lacks a cause without a reason`() {
        let caused = Self.table.split(separator: "\n").map { String($0.prefix { $0 != " " }) }
        var all: Set<String> = []
        for type in NotificationKind.types {
            if !NotificationKind.needsSubtype(type) { all.insert(type) }
            all.formUnion(NotificationKind.subtypes(of: type).map { "\(type)/\($0)" })
        }
        #expect(Set(caused).union(Self.without) == all)
        #expect(Set(caused).isDisjoint(with: Self.without))
    }

    func run(_ command: String, _ n: Int, _ world: TestWorld) async throws {
        let parts = command.split(separator: ":").map(String.init)
        let (realm, context) = (world.realm, TestWorld.context)
        let room = realm.subscriptions
        func subscription() async throws -> String { try await world.subscription() }
        func sale() async throws -> String {
            try #require(
                try await realm.purchases.listTransactions().transactions.last?.payload
                    .transactionId)
        }
        switch parts[0] {
        case "buy": try await world.buy(parts[1], purchaseID(n + 1))
        case "redeem": try await redeem(parts[1], n + 1, world)
        case "month": try await world.jump(Period(1, .month))
        case "off", "on":
            try await room.switchRenewal(
                of: try await subscription(), on: parts[0] == "on", context)
        case "fail", "fix":
            try await room.failBilling(of: try await subscription(), parts[0] == "fail", context)
        case "grace":
            var change = AppChange()
            change.gracePeriodDays = 16
            _ = try await realm.catalogue.changeApp(
                TestWorld.bundleID.value, change, context)
        case "raise":
            try await room.raisePrice(
                of: try await subscription(),
                RaisePriceRequest(price: 5990, startDate: world.wall.clock.now), context)
        case "agree":
            try await room.answerIncrease(of: try await subscription(), isAgreed: true, context)
        case "expire": try await room.expire(try await subscription(), context)
        case "extend": try await room.extend(try await subscription(), days: 3, context)
        case "extendAll":
            _ = try await room.changeAll(
                BulkChangeRequest(
                    requestId: "00000000-0000-4000-8000-0000000000aa", productId: "news",
                    storefronts: nil, extendByDays: 3), bundleID: TestWorld.bundleID.value, context)
            for _ in 0..<3 { _ = try await realm.keeping.workOnce() }
        case "remove":
            try await realm.catalogue.removeProduct(
                parts[1], bundleID: TestWorld.bundleID.value, context)
        case "request": try await world.decide(try await sale(), "requested")
        case "granted", "declined", "reversed":
            try await world.decide(try await sale(), parts[0], parts.count > 1 ? parts[1] : nil)
        case "test": _ = try await world.merchant().requestTestNotification(context)
        default: Issue.record("no command \(command)")
        }
    }

    private func redeem(_ product: String, _ n: Int, _ world: TestWorld) async throws {
        _ = try await world.realm.offers.createCodes(
            CreateOfferCodesRequest(productId: product, offer: "spring", code: "CODE\(n)"),
            bundleID: TestWorld.bundleID.value, TestWorld.context)
        let answer = try await world.realm.purchases.purchase(
            purchaseID(n),
            PurchaseRequest(
                productId: product, quantity: 1, unitPrice: 0, currency: "USD",
                offer: OfferRequest(kind: "code", code: "CODE\(n)")),
            try await world.session(), TestWorld.context)
        #expect(answer.refusal == nil, "\(answer)")
    }
}

extension TestWorld {
    /// The types and subtypes of what is owed, in the order in which it was.
    fileprivate func owedTypes() async throws -> [String] {
        let owed = Statement(
            "test.owedTypes",
            "SELECT notification_type, subtype FROM outbox ORDER BY created_at, revision, cause")
        return try await realm.rows(owed).map { row in
            let subtype = try row.optionalText("subtype").map { "/\($0)" } ?? ""
            return try row.text("notification_type") + subtype
        }
    }
}
