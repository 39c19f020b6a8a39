// SPDX-License-Identifier: Apache-2.0

import Commerce
import PurchaseKit
import PurchaseKitTesting
import Shop
import SignedData
import StoreKit
import StoreWire
import TestSupport
import Testing

/// An auto-renewable subscription from app to store and back, under a clock that
/// jumps.
@Suite(.timeLimit(.minutes(5))) struct SubscriptionScenarioTests {
    private func shop() async throws -> TestShop {
        try await .selling([
            .subscription("paper"), .subscription("rival", price: 3990),
            .subscription("year", price: 49_990, period: "P1Y"),
        ])
    }

    @Test func `a running app hears of each renewal, and a stopped one at its launch`()
        async throws
    {
        let shop = try await shop()
        let device = try await shop.device()
        try await device.buy("paper")
        let first = try await device.heard.first(.purchased)
        device.queue.finishTransaction(first)
        try await device.heard.removed()

        try await shop.clock.advance(months: 1)
        let both = try await device.heard.all(.purchased, count: 2)
        device.queue.finishTransaction(both[1])
        try await device.heard.removed(count: 2)
        await device.close()
        try await shop.clock.advance(months: 2)
        await device.restart()
        let later = try await device.heard.all(.purchased, count: 2)

        #expect(both[1].payment.productIdentifier == "paper")
        let all = [first, both[1]] + later
        #expect(Set(all.map(\.transactionIdentifier)).count == 4)
        let receipt = try await shop.receipt(of: device)
        #expect(receipt.purchases.count == 4)
        #expect(Set(receipt.purchases.compactMap(\.expiresDate)).count == 4)
        #expect(Set(receipt.purchases.map(\.originalTransactionID)).count == 1)
        let told = try await shop.notifications.all("DID_RENEW", count: 3)
        #expect(told.allSatisfy { $0.notification.data?.signedRenewalInfo != nil })
        #expect(
            try await shop.notifications.first("SUBSCRIBED").notification.subtype == "INITIAL_BUY")
        await shop.close()
    }

    @Test func `a subscription lapses, is retried, ends, and is won back`() async throws {
        let shop = try await shop()
        let device = try await shop.device()
        try await device.buy("paper")
        _ = try await device.heard.first(.purchased)
        let id = try await shop.subscription().subscriptionId

        try await shop.failBilling(id)
        try await shop.clock.advance(months: 1)
        #expect(try await shop.subscription().status == "retry")
        let fixed = try await shop.fixBilling(id)
        #expect(fixed.events.map(\.kind) == ["recovered"])
        _ = try await device.heard.all(.purchased, count: 2)

        try await shop.cancel(id)
        try await shop.clock.advance(months: 1)
        #expect(try await shop.subscription().status == "expired")
        #expect(try await shop.subscription().usableUntil == nil)
        try await device.buy("rival")
        _ = try await device.heard.all(.purchased, count: 3)
        let back = try await shop.subscription()
        #expect(back.status == "active" && back.productId == "rival")
        #expect(back.subscriptionId == id)
        let told = try await shop.notifications.all("SUBSCRIBED", count: 2)
        #expect(told.map(\.notification.subtype) == ["INITIAL_BUY", "RESUBSCRIBE"])

        try await shop.renew(id)
        _ = try await device.heard.all(.purchased, count: 4)
        let history = try await shop.history()
        #expect(
            history.map(\.kind) == [
                "subscribed", "chargeDeclined", "failed", "recovered", "switchedOff", "expired",
                "resubscribed", "renewed",
            ])
        #expect(history.map(\.event) == [1, 2, 3, 4, 5, 6, 7, 8])
        await shop.close()
    }

    @Test func `a higher price is agreed to at a launch, or the subscription ends`()
        async throws
    {
        let shop = try await shop()
        let device = try await shop.device()
        try await device.buy("paper")
        _ = try await device.heard.first(.purchased)
        let id = try await shop.subscription().subscriptionId
        let start = Timestamp(milliseconds: try await shop.subscription().startDate.milliseconds)
        try await shop.raisePrice(of: id, to: 5990, from: start)

        device.sheet.answer(next: .cancel)
        await device.restart()
        _ = device.heard
        await until("a question") { device.sheet.questions.count == 1 }
        #expect(device.sheet.questions[0].contains("$5.99 instead of $4.99"))
        #expect(try await shop.subscription().priceIncrease?.isAgreed == false)
        await device.restart()
        _ = device.heard
        try await until("consent") {
            try await shop.subscription().priceIncrease?.isAgreed == true
        }
        try await shop.clock.advance(months: 1)
        _ = try await device.heard.all(.purchased, count: 2)
        #expect(try await shop.history().map(\.kind).contains("increaseAgreed"))

        let next = try await shop.subscription().endDate
        try await shop.raisePrice(of: id, to: 6990, from: next)
        try await shop.clock.advance(months: 1)
        #expect(try await shop.subscription().expiration == "priceIncrease")
        await device.restart()
        _ = device.heard
        device.queue.showPriceConsentIfNeeded()
        #expect(try await device.products("paper").count == 1)
        #expect(device.sheet.questions.count == 2)
        await shop.close()
    }

    @Test func `only the customer's own consent to the announced price counts`() async throws {
        let shop = try await shop()
        try await shop.addCustomer("kid")
        let (device, room) = (try await shop.device(), shop.realm.subscriptions)
        try await device.buy("paper")
        _ = try await device.heard.first(.purchased)
        let (id, context) = (
            try await shop.subscription().subscriptionId, RequestContext(requestID: "t")
        )
        func session(_ name: String?, _ uuid: String) async throws -> DeviceSession {
            let answer = try await shop.realm.customers.signIn(
                SignInRequest(
                    bundleId: Goods.bundleID.value, deviceUUID: "00000000-0000-4000-8000-\(uuid)",
                    customer: name), context)
            #expect(answer.asksPriceConsent == (name == nil ? true : nil))
            return try await shop.realm.customers.session(token: answer.token)
        }
        func refusal(_ price: Int64, _ session: DeviceSession, _ id: String) async -> String? {
            do {
                _ = try await room.consent(
                    to: PriceConsentRequest(price: price), for: id, session, context)
                return nil
            } catch {
                return (error as? Refusal)?.error.code
            }
        }
        try await shop.raisePrice(
            of: id, to: 5990, from: try await shop.subscription().startDate)
        let (own, kid) = (
            try await session(nil, "000000000001"), try await session("kid", "000000000002")
        )

        #expect(try await room.priceIncreases(kid).increases == [])
        let waiting = try await room.priceIncreases(own).increases
        #expect(waiting.map(\.price) == [5990] && waiting.map(\.presentPrice) == [4990])
        #expect(await refusal(5990, kid, id) == "subscriptionNotFound")
        #expect(await refusal(5990, own, "7") == "subscriptionNotFound")
        #expect(await refusal(5980, own, id) == "noPriceIncrease")
        #expect(try await shop.subscription().priceIncrease?.isAgreed == false)
        #expect(await refusal(5990, own, id) == nil)
        #expect(await refusal(5990, own, id) == nil)
        #expect(
            try await shop.history().filter { $0.kind == "increaseAgreed" }.map(\.cause) == [
                "customer"
            ])
        #expect(try await room.priceIncreases(own).increases == [])
        await shop.close()
    }

    @Test func `a higher price that the customer has refused is not asked about`() async throws {
        let shop = try await shop()
        let device = try await shop.device()
        try await device.buy("paper")
        _ = try await device.heard.first(.purchased)
        let id = try await shop.subscription().subscriptionId
        try await shop.raisePrice(
            of: id, to: 5990, from: try await shop.subscription().startDate)
        try await shop.cancel(id)

        await device.restart()
        #expect(try await device.products("paper").count == 1)
        device.queue.showPriceConsentIfNeeded()
        await until("a request") { shop.wire.count(.priceIncreases) == 1 }
        #expect(device.sheet.questions == [])
        await shop.close()
    }

    @Test func `buying a subscription again is no second one`() async throws {
        let shop = try await shop()
        let device = try await shop.device()
        try await device.buy("paper")
        let first = try await device.heard.first(.purchased)
        device.queue.finishTransaction(first)
        try await device.heard.removed()
        let id = try await shop.subscription().subscriptionId
        try await shop.cancel(id)

        try await device.buy("paper")
        let again = try await device.heard.all(.purchased, count: 2)

        #expect(again[1].transactionIdentifier == first.transactionIdentifier)
        #expect(try await shop.transactions().count == 1)
        #expect(try await shop.subscription().isRenewing)
        await shop.close()
    }

    @Test func `a change that waits for the renewal is answered with the present period`()
        async throws
    {
        let shop = try await shop()
        let device = try await shop.device()
        try await device.buy("year")
        let first = try await device.heard.first(.purchased)
        device.queue.finishTransaction(first)
        try await device.heard.removed()

        try await device.buy("paper")
        let both = try await device.heard.all(.purchased, count: 2)

        #expect(both[1].transactionIdentifier == first.transactionIdentifier)
        #expect(try await shop.subscription().nextProductId == "paper")
        await shop.close()
    }
}
