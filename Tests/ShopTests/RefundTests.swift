// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Shop
@testable import Work

/// Refunds of every type of product, from the request to the money.
@Suite(.timeLimit(.minutes(5))) struct RefundTests {
    @Test(arguments: ["credits.5", "pro", "pass"])
    func `a refund is asked for, granted and taken back, of every type`(
        product: String
    ) async throws {
        let world = try await TestWorld.openWithSubscriptions()
        try await world.listen()
        try await world.addPass()
        let session = try await world.session()
        let id = try await world.sell(product, 1, session)

        let asked = try await world.realm.refunds.request(
            id, RefundRequest(reason: "LEGAL"), session, TestWorld.context)
        let granted = try await world.decide(id, "granted", reason: "issueWithApp")

        #expect(asked.state == "requested")
        #expect(granted.events.map(\.kind) == ["refundGranted"])
        #expect(granted.refund.refund == 1 && granted.refund.requestReason == "LEGAL")
        let revoked = try await world.realm.purchases.transaction(id).payload
        #expect(granted.refund.sum == revoked.price && granted.refund.currency == "USD")
        #expect(revoked.revocationDate == granted.now && revoked.revocationReason == 1)
        #expect(revoked.revocationType == "REFUND_FULL" && revoked.revocationPercentage == nil)
        let receipt = try await world.receipt(try await world.session())
        #expect(receipt.purchases.first?.cancellationDate == granted.now)

        let reversed = try await world.decide(id, "reversed")

        #expect(reversed.events.map(\.kind) == ["refundTakenBack"])
        let valid = try await world.realm.purchases.transaction(id).payload
        #expect(valid.revocationDate == nil && valid.revocationType == nil)
        #expect(
            try await world.told() == [
                "ONE_TIME_CHARGE", "CONSUMPTION_REQUEST LEGAL", "REFUND", "REFUND_REVERSED",
            ])
        #expect(
            try await world.history(session).map(\.kind) == [
                "refundRequested", "refundGranted", "refundTakenBack",
            ])
    }

    @Test func `each command again changes nothing`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        try await world.listen()
        let session = try await world.session()
        let id = try await world.sell("pro", 1, session)
        func revision() async throws -> Int64 { try await world.session().revision }

        for state in ["requested", "declined", "requested", "granted", "reversed"] {
            _ = try await world.decide(id, state)
            let before = try await (world.history(session), world.told())
            let again = try await world.decide(id, state)
            #expect(again.events.isEmpty && again.refund.state == state)
            let after = try await (world.history(session), world.told())
            #expect(before.0 == after.0 && before.1 == after.1, "\(state)")
        }
        #expect(
            try await world.told() == [
                "ONE_TIME_CHARGE", "CONSUMPTION_REQUEST OTHER", "REFUND_DECLINED",
                "CONSUMPTION_REQUEST OTHER", "REFUND", "REFUND_REVERSED",
            ])
        let audit = try await world.realm.auditEntries().entries.map(\.deed)
        #expect(
            audit.filter { $0.hasPrefix("refund.") } == [
                "refund.request", "refund.decline", "refund.request", "refund.grant",
                "refund.reverse",
            ])
    }

    @Test func `a refund of the present period ends the subscription, and its return begins it`()
        async throws
    {
        let world = try await TestWorld.openWithSubscriptions()
        try await world.listen()
        let session = try await world.session()
        let id = try await world.sell("news", 1, session)

        let granted = try await world.decide(id, "granted")

        #expect(granted.events.map(\.kind) == ["refundGranted", "refunded"])
        #expect(try await world.realm.subscriptions.show(id).status == "revoked")
        try await world.jump(Period(10, .day))
        let reversed = try await world.decide(id, "reversed")
        #expect(reversed.events.map(\.kind) == ["refundTakenBack", "refundReversed"])
        let back = try await world.realm.subscriptions.show(id)
        #expect(back.status == "active" && !back.isRenewing)
        try await world.jump(Period(1, .month))
        #expect(try await world.realm.subscriptions.show(id).status == "expired")
        #expect(
            try await world.told() == [
                "SUBSCRIBED", "REFUND", "REFUND_REVERSED", "EXPIRED",
            ])
        try await world.checkFolds()
    }

    @Test func `a refund of an earlier period leaves the subscription`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        try await world.listen()
        let session = try await world.session()
        let id = try await world.sell("news", 1, session)
        try await world.jump(Period(40, .day))

        let granted = try await world.decide(id, "granted")

        #expect(granted.events.map(\.kind) == ["refundGranted"])
        let record = try await world.realm.subscriptions.show(id)
        #expect(record.status == "active" && record.isRenewing)
        try await world.jump(Period(1, .month))
        let all = try await world.realm.purchases.listTransactions().transactions
        #expect(all.map { $0.payload.revocationDate != nil }.filter { $0 }.count == 1)
        #expect(all.count == 3)
        #expect(try await world.decide(id, "reversed").events.count == 1)
        #expect(
            try await world.told() == [
                "SUBSCRIBED", "DID_RENEW", "REFUND", "DID_RENEW",
                "REFUND_REVERSED",
            ])
        try await world.checkFolds()
    }

    @Test func `the unused time of a period is given back, and it ends`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        let id = try await world.sell("news", 1, session)
        let sold = try await world.realm.purchases.transaction(id).payload
        let whole = try #require(sold.expiresDate).milliseconds(
            since: try #require(sold.purchaseDate))
        try await world.jump(Period(15, .day))

        let granted = try await world.decide(id, "granted", "prorated")

        let left = try #require(sold.expiresDate).milliseconds(since: granted.now)
        #expect(granted.refund.percentage == Int(100_000 * left / whole))
        #expect(granted.refund.sum == 4990 * left / whole / 10 * 10)
        let revoked = try await world.realm.purchases.transaction(id).payload
        #expect(revoked.revocationType == "REFUND_PRORATED")
        #expect(revoked.revocationPercentage == granted.refund.percentage)
        #expect(try await world.realm.subscriptions.show(id).status == "revoked")
        try await world.checkFolds()
    }

    @Test func `an upgrade records what it gives back, and announces no refund`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        try await world.listen()
        let session = try await world.session()
        let id = try await world.sell("news", 1, session)
        try await world.jump(Period(15, .day))
        _ = try await world.sell("premium", 2, session)

        let refund = try #require(await world.realm.refunds.list().refunds.first)
        #expect(refund.transactionId == id && refund.kind == "upgrade")
        #expect(refund.state == "granted" && (2400...2600).contains(refund.sum ?? 0))
        let old = try await world.realm.purchases.transaction(id).payload
        #expect(old.isUpgraded == true && old.revocationDate == nil)
        #expect(try await world.told() == ["SUBSCRIBED", "DID_CHANGE_RENEWAL_PREF"])
        let rest = try await world.decide(id, "granted")
        #expect(rest.refund.refund == 2 && rest.refund.sum == 4990 - (refund.sum ?? 0))
        #expect(try await world.realm.subscriptions.show(id).status == "active")
        #expect(
            try await world.history(session).map(\.kind) == [
                "subscribed", "upgradeRefunded", "upgraded", "refundGranted",
            ])
    }

    @Test func `a revocation gives nothing back, and is taken back too`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        try await world.listen()
        let session = try await world.session()
        let (pro, news) = (
            try await world.sell("pro", 1, session), try await world.sell("news", 2, session)
        )

        #expect(try await world.decide(pro, "granted", "nothing").refund.sum == 0)
        let ended = try await world.decide(news, "granted", "nothing")

        #expect(ended.events.map(\.kind) == ["transactionRevoked", "revoked"])
        #expect(
            try await world.realm.purchases.transaction(pro).payload.revocationType == nil)
        _ = try await world.decide(pro, "reversed")
        #expect(
            try await world.told() == [
                "ONE_TIME_CHARGE", "SUBSCRIBED", "REVOKE", "REVOKE", "REFUND_REVERSED",
            ])
        try await world.checkFolds()
    }

    @Test func `a refunded period is not taken back once the customer subscribes again`()
        async throws
    {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        let first = try await world.sell("news", 1, session)
        try await world.decide(first, "granted")
        try await world.jump(Period(1, .day))
        _ = try await world.sell("news", 2, session)

        let again = try await refusal(of: { try await world.decide(first, "reversed") })

        #expect(again.error.code == "ownedAgain")
        #expect(try await world.realm.purchases.transaction(first).payload.revocationDate != nil)
        // Its time is over then, so that both periods do not run at once.
        try await world.jump(Period(1, .month))
        #expect(try await world.decide(first, "reversed").refund.state == "reversed")
        try await world.checkFolds()
    }

    @Test func `a period that was charged ahead is given back without the one that runs`()
        async throws
    {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        let first = try await world.sell("news", 1, session)
        let later = try await world.realm.subscriptions.renew(first, TestWorld.context)

        try await world.decide(first, "granted")
        let paused = try await world.realm.subscriptions.show(first)
        #expect(paused.usableFrom == later.subscription.startDate && paused.status == "active")
        try await world.decide(first, "reversed")
        #expect(try await world.realm.subscriptions.show(first).usableFrom == nil)
        try await world.decide(later.subscription.transactionId, "granted")
        let left = try await world.realm.subscriptions.show(first)
        #expect(left.usableUntil == later.subscription.startDate)
        let old = try await world.realm.purchases.transaction(first).payload
        #expect(old.revocationDate == nil && left.transactionId == first && !left.isRenewing)
        try await world.checkFolds()

        // A renewal that is switched on again charges the same time once more.
        let ahead = later.subscription.transactionId
        try await world.realm.subscriptions.switchRenewal(of: first, on: true, TestWorld.context)
        try await world.jump(Period(1, .month))
        let again = try await world.realm.subscriptions.show(first)
        #expect(![first, ahead].contains(again.transactionId))
        #expect(again.startDate == later.subscription.startDate)
        let late = try await refusal(of: { try await world.decide(ahead, "reversed") })
        #expect(late.error.code == "ownedAgain")
        try await world.checkFolds()
    }

    @Test func `a period that remains after the refund of the next one expires at its end`()
        async throws
    {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        let first = try await world.sell("news", 1, session)
        let later = try await world.realm.subscriptions.renew(first, TestWorld.context)
        let ahead = later.subscription.transactionId
        try await world.decide(ahead, "granted")

        try await world.jump(Period(1, .month))
        let ended = try await world.realm.subscriptions.show(first)
        #expect(ended.status == "expired" && ended.expiration == "other")
        // The money is taken back: the rest of what it bought is the customer's again.
        try await world.decide(ahead, "reversed")
        let back = try await world.realm.subscriptions.show(first)
        #expect(back.status == "active" && back.transactionId == ahead)
        try await world.checkFolds()

        // A test ends a period that has not begun: the device was told its purchase date.
        try await world.realm.subscriptions.switchRenewal(of: first, on: true, TestWorld.context)
        let next = try await world.realm.subscriptions.renew(first, TestWorld.context)
        let cut = try await world.realm.subscriptions.expire(first, TestWorld.context)
        let payload = try await world.realm.purchases.transaction(
            next.subscription.transactionId
        ).payload
        #expect(payload.purchaseDate == next.subscription.startDate)
        #expect(payload.expiresDate == cut.now)
        #expect(cut.subscription.endDate == cut.now)
        try await world.checkFolds()
    }

    @Test func `a product that was bought again keeps its second sale`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        let first = try await world.sell("pro", 1, session)
        _ = try await world.decide(first, "granted")
        let second = try await world.sell("pro", 2, session)
        #expect(second != first)

        let refused = try await refusal(of: { try await world.decide(first, "reversed") })

        #expect(refused.error.code == "ownedAgain")
        _ = try await world.decide(second, "granted", "nothing")
        #expect(try await world.decide(first, "reversed").refund.state == "reversed")
    }

    @Test func `what is not there, or not so, is refused, and nothing is written`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        let id = try await world.sell("pro", 1, session)
        let cases: [(String, DecideRefundRequest, String)] = [
            (id, .init(state: "gone"), "refundStateUnknown"),
            (id, .init(state: "granted", kind: "upgrade"), "refundKindUnknown"),
            (id, .init(state: "granted", reason: "mood"), "revocationReasonUnknown"),
            ("7", .init(state: "granted"), "transactionNotFound"),
            ("x", .init(state: "granted"), "transactionNotFound"),
            (id, .init(state: "declined"), "refundNotRequested"),
            (id, .init(state: "reversed"), "notRefunded"),
            (id, .init(state: "granted", kind: "prorated"), "notProratable"),
        ]
        for (id, request, code) in cases {
            let refused = try await refusal {
                try await world.realm.refunds.decide(id, request, TestWorld.context)
            }
            #expect(refused.error.code == code)
        }
        _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: "other"))
        let other = try await world.session(customer: "other")
        let foreign = try await refusal {
            try await world.realm.refunds.request(id, RefundRequest(), other, TestWorld.context)
        }
        #expect(foreign.error.code == "transactionNotFound")
        #expect(try await world.realm.refunds.list().refunds.isEmpty)
        #expect(try await world.history(session).isEmpty)
    }

    @Test func `a list has pages, and those that wait`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        var ids: [String] = []
        for n in 1...3 { ids.append(try await world.sell("credits.5", n, session)) }
        for id in ids { _ = try await world.decide(id, "requested") }
        _ = try await world.decide(ids[1], "granted")

        let first = try await world.realm.refunds.list(limit: 2)
        let second = try await world.realm.refunds.list(after: first.next, limit: 2)
        let waiting = try await world.realm.refunds.list(state: "requested")

        #expect((first.refunds + second.refunds).map(\.transactionId) == ids)
        #expect(second.next == nil)
        #expect(waiting.refunds.map(\.transactionId) == [ids[0], ids[2]])
    }

    @Test func `a page of the history ends anywhere`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        let id = try await world.sell("news", 1, session)
        for state in ["requested", "granted", "reversed", "granted"] {
            _ = try await world.decide(id, state)
        }
        let whole = try await world.history(session)
        #expect(whole.count == 8)
        var parts: [SubscriptionEventRecord] = []
        var after: String?
        repeat {
            let page = try await world.realm.subscriptions.history(
                of: session.customer.description, after: after, limit: 1)
            parts += page.events
            after = page.next
        } while after != nil
        #expect(parts == whole)
    }
}

extension TestWorld {
    /// Adds a non-renewing subscription.
    func addPass() async throws {
        _ = try await realm.catalogue.createProduct(
            CreateProductRequest(productId: "pass", type: "non-renewing"),
            bundleID: Self.bundleID.value, Self.context)
        var change = ProductChange()
        change.price = 990
        change.localizations = [
            ProductWords(locale: "en_US", displayName: "Pass", description: "")
        ]
        change.state = "ready"
        _ = try await realm.catalogue.changeProduct(
            "pass", bundleID: Self.bundleID.value, change, Self.context)
    }

    fileprivate func listen() async throws {
        try await realm.catalogue.setNotificationURL(
            Self.url, bundleID: Self.bundleID.value, Self.context)
    }

    /// Sells a product, and returns the transaction's number.
    func sell(_ product: String, _ n: Int, _ session: DeviceSession) async throws -> String {
        let sold = try await buy(product, purchaseID(n), session: session)
        return try #require(try verified(sold.signedTransaction).transactionId)
    }

    /// `requested`: the tester asks for the customer.
    @discardableResult
    func decide(
        _ id: String, _ state: String, _ kind: String? = nil, reason: String? = nil
    ) async throws -> RefundAnswer {
        if state == "requested" {
            return try await realm.refunds.request(id, RefundRequest(), Self.context)
        }
        return try await realm.refunds.decide(
            id, DecideRefundRequest(state: state, kind: kind, reason: reason), Self.context)
    }

    fileprivate func history(_ session: DeviceSession) async throws -> [SubscriptionEventRecord] {
        try await realm.subscriptions.history(of: session.customer.description).events
    }

    /// What the merchant is told, in the order in which it was owed.
    fileprivate func told() async throws -> [String] {
        let owed = Statement(
            "test.owed",
            """
            SELECT notification_type, cause, customer_id FROM outbox ORDER BY revision, cause
            """)
        var words: [String] = []
        for row in try await realm.rows(owed) {
            let (type, cause) = (try row.text("notification_type"), try row.text("cause"))
            guard type == "CONSUMPTION_REQUEST" else {
                words.append(type)
                continue
            }
            let ready = try await realm.merchant.readyNotification(
                cause, of: CustomerID(try row.integer("customer_id")))
            let data = try opened(ready?.signedPayload).data
            words.append("\(type) \(data?.consumptionRequestReason ?? "")")
        }
        return words
    }
}
