// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire
import Testing

@testable import Shop

/// A year that is paid for in monthly parts, at the store; and grace periods of an
/// app's own.
@Suite(.timeLimit(.minutes(5))) struct SubscriptionCommitmentSaleTests {
    private func open() async throws -> (TestWorld, DeviceSession) {
        let world = try await TestWorld.openWithSubscriptions()
        var change = TestWorld.withSubscriptions()
        change.catalogue.products.append(
            Product(
                id: "year", kind: .autoRenewable(groupID: "g", period: "P1Y"),
                referenceName: "year", price: Amount(milliunits: 49_990),
                localizations: [Localization(locale: "en_US", displayName: "Year", details: "")]))
        change.terms["year"] = SubscriptionTerms(
            groupID: "g", level: 2, period: Period(1, .year),
            billingPlans: [
                BillingPlan(
                    kind: .monthly, price: Amount(milliunits: 4490),
                    commitmentPrice: Amount(milliunits: 53_880), isEnabled: true)
            ])
        try await world.realm.catalogue.importCatalogue(
            change, app: AppDescription(bundleID: TestWorld.bundleID), TestWorld.context)
        return (world, try await world.session())
    }

    private func buy(
        _ world: TestWorld, _ session: DeviceSession, _ id: Int, price: Int64 = 4490,
        plan: String? = "MONTHLY", product: String = "year"
    ) async throws -> PurchaseResponse {
        try await world.realm.purchases.purchase(
            purchaseID(id),
            PurchaseRequest(
                productId: product, quantity: 1, unitPrice: price, currency: "USD",
                billingPlan: plan), session, TestWorld.context)
    }

    @Test func `a year is sold in twelve parts`() async throws {
        let (world, session) = try await open()
        let listed = try await world.realm.catalogue.products(
            ProductsRequest(ids: ["year", "news"]), session, TestWorld.context)
        #expect(listed.products.map(\.monthlyPrice) == [4490, nil])
        let quote = try await world.realm.purchases.quote(
            OfferQuoteRequest(productId: "year", billingPlan: "MONTHLY"), session)
        #expect(quote.priceNow == 4490 && quote.commitmentPrice == 53_880)
        #expect(quote.subscriptionPeriod == "P1M")

        let first = try world.verified(
            try await buy(world, session, 1).signedTransaction)

        #expect(first.price == 4490 && first.billingPlanType == "MONTHLY")
        #expect(first.expiresDate == first.purchaseDate?.adding(Period(1, .month)))
        let info = try #require(first.commitmentInfo)
        #expect(info.billingPeriodNumber == 1 && info.totalBillingPeriods == 12)
        #expect(info.commitmentPrice == 53_880)
        let end = try #require(first.purchaseDate?.adding(Period(1, .year)))
        #expect(info.commitmentExpiresDate == end)

        try await world.realm.subscriptions.switchRenewal(
            of: try await world.subscription(), on: false, TestWorld.context)
        try await world.jump(Period(11, .month))
        let parts = try await world.realm.purchases.listTransactions().transactions
        #expect(parts.count == 12)
        #expect(parts.last?.payload.commitmentInfo?.billingPeriodNumber == 12)
        #expect(parts.allSatisfy { $0.payload.commitmentInfo?.commitmentExpiresDate == end })
        try await world.jump(Period(1, .month))
        let record = try #require(await world.realm.subscriptions.list().subscriptions.first)
        #expect(record.status == "expired" && record.expiration == "cancelled")
        try await world.checkFolds()
    }

    @Test func `a renewal says what is charged, and what follows the commitment`() async throws {
        let (world, session) = try await open()
        _ = try await buy(world, session, 1)
        _ = try await buy(world, session, 2, price: 1990, plan: nil, product: "small")
        let id = try #require(Int64(try await world.subscription()))
        let row = try #require(
            await world.realm.read(of: session.customer) {
                try SubscriptionRow.find(TransactionID(id), of: session.customer, $0)
            })

        let renewal = row.renewalInfo(environment: .sandbox, signedAt: row.subscription.end)

        #expect(renewal.autoRenewProductId == "year" && renewal.autoRenewStatus == 1)
        #expect(renewal.renewalPrice == 4490 && renewal.renewalBillingPlanType == "MONTHLY")
        let after = try #require(renewal.commitmentInfo)
        #expect(after.commitmentAutoRenewProductId == "small")
        #expect(after.commitmentRenewalPrice == 1990)
        #expect(after.commitmentRenewalBillingPlanType == "BILLED_UPFRONT")
    }

    @Test func `an extension moves the end of the commitment, too`() async throws {
        let (world, session) = try await open()
        _ = try await buy(world, session, 1)
        let id = try await world.subscription()

        try await world.realm.subscriptions.extend(id, days: 20, TestWorld.context)

        let sold = try await world.realm.purchases.listTransactions().transactions.last?.payload
        let renewing = try await renewal(world)
        let end = try #require(renewing.commitmentInfo?.commitmentRenewalDate)
        #expect(sold?.commitmentInfo?.commitmentExpiresDate == end)
        #expect(sold?.expiresDate == renewing.renewalDate)
        let months = try #require(sold?.expiresDate).adding(Period(11, .month))
        #expect(end == months)
    }

    /// Until the commitment ends, neither its price nor its offer is that of what follows.
    @Test func `a higher price for what follows a commitment, and only for the same product`()
        async throws
    {
        let (world, session) = try await open()
        _ = try await buy(world, session, 1)
        let id = try await world.subscription()
        try await world.realm.subscriptions.raisePrice(
            of: id,
            RaisePriceRequest(
                price: 9000, startDate: TestWall.start.adding(Period(2, .month)),
                needsConsent: false), TestWorld.context)

        let before = try await renewal(world)
        _ = try await buy(world, session, 2, price: 1990, plan: nil, product: "small")
        let after = try await renewal(world)

        #expect(before.renewalPrice == 4490 && before.priceIncreaseStatus == 1)
        #expect(before.commitmentInfo?.commitmentRenewalPrice == 9000)
        #expect(after.renewalPrice == 4490 && after.priceIncreaseStatus == nil)
        #expect(after.commitmentInfo?.commitmentRenewalPrice == 1990)
    }

    /// The product of the increase is the present one, also where another one was chosen.
    @Test(arguments: [false, true])
    func `an increase knows what its product cost`(isOtherChosen: Bool) async throws {
        let (world, session) = try await open()
        _ = try await buy(world, session, 1)
        if isOtherChosen {
            _ = try await buy(world, session, 2, price: 1990, plan: nil, product: "small")
        }
        let id = try await world.subscription()

        try await world.realm.subscriptions.raisePrice(
            of: id,
            RaisePriceRequest(price: 9000, startDate: TestWall.start, needsConsent: false),
            TestWorld.context)

        let number = TransactionID(try #require(Int64(id)))
        let row = try await world.realm.read(of: session.customer) {
            try SubscriptionRow.find(number, of: session.customer, $0)
        }
        #expect(row?.subscription.increase?.over?.amount.milliunits == 4490)
    }

    private func renewal(
        _ world: TestWorld, of name: String? = nil
    ) async throws -> JWSRenewalInfoDecodedPayload {
        let id = try await world.realm.purchases.listTransactions(customer: name).transactions
            .last?.payload.transactionId
        let statuses = try await world.merchant().statuses(of: try #require(id), only: [])
        return try world.renewal(statuses.data.first?.lastTransactions.first?.signedRenewalInfo)
    }

    @Test(arguments: ["refund", "expire", "fail"])
    func `a commitment that is over is not renewed`(how: String) async throws {
        let (world, session) = try await open()
        let sold = try world.verified(try await buy(world, session, 1).signedTransaction)
        let (room, id) = (world.realm.subscriptions, try await world.subscription())
        #expect(try await renewal(world).autoRenewStatus == 1)
        let byHand = try await world.realm.merchant.signNotification(
            SignNotificationRequest(
                bundleId: TestWorld.bundleID.value, notificationType: "EXPIRED",
                subtype: "VOLUNTARY", transactionId: sold.transactionId),
            TestWorld.context)
        let foretold = try world.renewal(
            try world.opened(byHand.signedPayload).data?.signedRenewalInfo)

        switch how {
        case "refund": _ = try await world.decide(id, "granted", "full")
        case "expire": try await room.expire(id, TestWorld.context)
        default:
            try await room.failBilling(of: id, true, TestWorld.context)
            for _ in 1...4 { try await world.jump(Period(1, .month)) }
        }

        for renewal in [foretold, try await renewal(world)] {
            #expect(renewal.autoRenewStatus == 0 && renewal.renewalPrice == nil)
            #expect(renewal.currency == nil)
            let info = try #require(renewal.commitmentInfo)
            #expect(info.commitmentAutoRenewStatus == 0 && info.commitmentRenewalDate == nil)
        }
    }

    @Test func `a renewal that begins a commitment says so`() async throws {
        let (world, session) = try await open()
        _ = try await buy(world, session, 1, price: 4990, plan: nil, product: "news")
        #expect(try await renewal(world).renewalBillingPlanType == nil)

        _ = try await buy(world, session, 2)

        let renewal = try await renewal(world)
        #expect(renewal.autoRenewProductId == "year" && renewal.renewalPrice == 4490)
        #expect(renewal.renewalBillingPlanType == "MONTHLY" && renewal.commitmentInfo == nil)
    }

    @Test func `a member of the family is shown no price of a commitment`() async throws {
        let (world, _) = try await open()
        let family = try await FamilyWorld(world)
        try await family.begin()
        try await family.share("year")
        try await family.add("ben")

        _ = try await buy(world, try await family.session("ann"), 1)
        try await family.work()

        let shared = try await renewal(world, of: try await family.id("ben"))
        #expect(shared.renewalBillingPlanType == "MONTHLY" && shared.autoRenewStatus == 1)
        #expect(shared.renewalPrice == nil && shared.currency == nil)
        #expect(shared.commitmentInfo?.commitmentRenewalPrice == nil)
    }

    @Test func `what is not sold in parts is refused`() async throws {
        let (world, session) = try await open()
        #expect(
            try await buy(world, session, 1, product: "news").refusal?.code == "notSoldYet")
        #expect(
            try await buy(world, session, 2, product: "credits.5").refusal?.code == "notSoldYet")
        #expect(try await buy(world, session, 3, price: 4489).product?.priceNow == 4490)
        let unknown = try await #require(throws: Refusal.self) {
            try await buy(world, session, 4, plan: "WEEKLY")
        }
        #expect(unknown.error.code == "billingPlanUnknown")
        #expect(try await buy(world, session, 5, price: 49_990, plan: nil).state == "sold")
        await #expect(throws: Refusal.self) {
            try await buy(world, session, 5, price: 49_990)
        }
    }

    @Test(arguments: [(0, 0), (3, 3), (28, 28)])
    func `an app has a grace period of its own`(days: Int, granted: Int) async throws {
        let (world, session) = try await open()
        _ = try await world.realm.catalogue.changeApp(
            TestWorld.bundleID.value, AppChange(gracePeriodDays: days), TestWorld.context)
        _ = try await world.buy("news", purchaseID(1), session: session)
        let id = try await world.subscription()
        _ = try await world.realm.subscriptions.failBilling(of: id, true, TestWorld.context)

        try await world.jump(Period(1, .month))

        let record = try #require(await world.realm.subscriptions.list().subscriptions.first)
        #expect(record.status == (granted == 0 ? "retry" : "grace"))
        #expect(
            record.usableUntil
                == (granted == 0 ? nil : record.endDate.adding(seconds: Int64(granted) * 86_400)))
        let refused = try await #require(throws: Refusal.self) {
            try await world.realm.catalogue.changeApp(
                TestWorld.bundleID.value, AppChange(gracePeriodDays: 4), TestWorld.context)
        }
        #expect(refused.error.code == "gracePeriodInvalid")
    }
}
