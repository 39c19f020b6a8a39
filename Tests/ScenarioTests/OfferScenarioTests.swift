// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import PurchaseKit
import PurchaseKitTesting
import Shop
import SignedData
import StoreKit
import StoreWire
import TestSupport
import Testing

/// Offers, codes and storefronts from app to store and back.
@Suite(.timeLimit(.minutes(5))) struct OfferScenarioTests {
    private let context = RequestContext(requestID: "offers")

    private func shop() async throws -> TestShop {
        let paper = Product(
            id: "paper", kind: .autoRenewable(groupID: "press", period: "P1M"),
            referenceName: "paper", price: Amount(milliunits: 4990),
            localizations: [Localization(locale: "en_US", displayName: "Paper", details: "")])
        var options = TestShop.Options()
        let engine = TestEngine()
        options.places = engine.places
        options.dialect = engine.dialect
        let shop = try await TestShop(
            Catalogue(products: [paper], storefront: "USA", locale: "en_US", appID: 1234),
            bundleID: Goods.bundleID, options: options)
        let offers = [
            OfferRecord(
                kind: "introductory", paymentMode: "free", period: "P1W"),
            OfferRecord(
                kind: "promotional", offerId: "half", referenceName: "Half",
                paymentMode: "payUpFront", period: "P1M", price: 2490),
            OfferRecord(
                kind: "code", referenceName: "spring", paymentMode: "free", period: "P1M",
                eligibility: ["new", "existing", "expired"]),
        ]
        for offer in offers {
            _ = try await shop.realm.catalogue.addOffer(
                offer, product: "paper", bundleID: Goods.bundleID.value, context)
        }
        return shop
    }

    private func product(_ device: TestDevice) async throws -> SKProduct {
        try #require(try await device.products("paper").first)
    }

    @Test func `a product shows its offers, and a signed one is bought`() async throws {
        let shop = try await shop()
        let device = try await shop.device()
        let product = try await product(device)
        #expect(product.subscriptionPeriod?.unit == .month)
        #expect(product.introductoryPrice?.paymentMode == .freeTrial)
        #expect(product.introductoryPrice?.subscriptionPeriod.unit == .week)
        #expect(product.discounts.map(\.identifier) == ["half"])
        #expect(product.discounts.first?.price == NSDecimalNumber(string: "2.49"))
        try await device.buy("paper")
        let first = try await device.heard.first(.purchased)
        device.queue.finishTransaction(first)

        let key = try await shop.realm.merchant.createServerKey(bundleID: Goods.bundleID.value)
        let nonce = UUID()
        let signed = SignedOffer(
            bundleID: Goods.bundleID, keyID: key.keyId, productID: "paper", offerID: "half",
            username: nil, nonce: try #require(UUIDText(nonce.uuidString)),
            signedAt: shop.wall.clock.now)
        let payment = SKMutablePayment(product: product)
        payment.paymentDiscount = SKPaymentDiscount(
            identifier: "half", keyIdentifier: key.keyId, nonce: nonce,
            signature: try signed.signature(privateKeyPEM: key.privateKey),
            timestamp: NSNumber(value: signed.signedAt.milliseconds))
        device.queue.add(payment)
        _ = try await device.heard.all(.purchased, count: 2)
        device.queue.add(payment)
        let failed = try await device.heard.first(.failed)

        #expect((failed.error as? SKError)?.code == .invalidSignature)
        #expect(device.sheet.shown.last?.unitPrice.amount == Amount(milliunits: 2490))
        try await shop.clock.advance(months: 1)
        let last = try await shop.records().last?.payload
        #expect(last?.offerIdentifier == "half" && last?.price == 2490)
        await shop.close()
    }

    @Test func `the customer redeems a code, once`() async throws {
        let shop = try await shop()
        let device = try await shop.device()
        _ = try await shop.realm.offers.createCodes(
            CreateOfferCodesRequest(productId: "paper", offer: "spring", code: "SPRING26"),
            bundleID: Goods.bundleID.value, context)
        _ = device.heard
        device.sheet.enter(code: "spring26")

        device.queue.presentCodeRedemptionSheet()
        let bought = try await device.heard.first(.purchased)

        #expect(bought.payment.productIdentifier == "paper")
        #expect(try await shop.records().first?.payload.offerIdentifier == "spring")
        device.sheet.enter(code: "nothing")
        device.queue.presentCodeRedemptionSheet()
        await until("the customer was told") { !device.sheet.notices.isEmpty }
        #expect(device.heard.transactions(.failed).isEmpty)
        await shop.close()
    }

    @Test func `a customer who moves is asked through the app`() async throws {
        final class Decider: NSObject, SKPaymentQueueDelegate {
            func paymentQueue(
                _ paymentQueue: SKPaymentQueue, shouldContinue transaction: SKPaymentTransaction,
                in newStorefront: SKStorefront
            ) -> Bool { newStorefront.countryCode != "JPN" }
        }
        let shop = try await shop()
        let device = try await shop.device()
        let decider = Decider()
        device.queue.delegate = decider
        _ = try await product(device)
        #expect(device.queue.storefront?.countryCode == "USA")
        let customer = try #require(try await shop.realm.customers.listCustomers().first)
        _ = try await shop.realm.customers.changeCustomer(
            customer.customerId, ChangeCustomerRequest(storefront: "JPN"))

        let payment = SKMutablePayment()
        payment.productIdentifier = "paper"
        _ = device.heard
        device.queue.add(payment)
        let failed = try await device.heard.first(.failed)

        #expect((failed.error as? SKError)?.code == .storeProductNotAvailable)
        #expect(device.queue.storefront?.countryCode == "JPN")
        #expect(try await shop.records().isEmpty)
        await shop.close()
    }
}
