// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import PurchaseKit
import StoreWire
import Synchronization
import TestSupport
import Testing

/// Subscriptions and offers on products, and offers of payments.
@Suite(.timeLimit(.minutes(5)))
struct SubscriptionSurfaceTests {
    let rig: Rig
    let nonce = "0f0f0f0f-1111-2222-3333-0123456789ab"

    init() throws {
        rig = try Rig()
    }

    private func product(
        _ describe: @escaping @Sendable (inout ProductDescription) -> Void
    ) async throws -> SKProduct {
        rig.store.state.withLock { $0.describe = describe }
        let app = rig.launch(observer: nil)
        return try #require(
            try await ProductsListener.ask(["credits.5"], app.device).products.first)
    }

    /// Rows: the period on the wire, and as the app sees it.
    @Test(arguments: [
        ("P3D", 3, SKProduct.PeriodUnit.day), ("P1W", 1, .week), ("P6M", 6, .month),
        ("P1Y", 1, .year),
    ])
    func `a period has a number and a unit`(
        text: String, count: Int, unit: SKProduct.PeriodUnit
    ) async throws {
        let period = try await product { $0.subscriptionPeriod = text }.subscriptionPeriod
        #expect(period?.numberOfUnits == count)
        #expect(period?.unit == unit)
    }

    @Test(arguments: [nil, "", "P", "3 months", "P1H"])
    func `what is no period is none`(text: String?) async throws {
        #expect(try await product { $0.subscriptionPeriod = text }.subscriptionPeriod == nil)
    }

    @Test func `offers are divided by kind, with price, length and mode`() async throws {
        let product = try await product { product in
            product.subscriptionGroupIdentifier = "press"
            product.priceLocale = "de_DE@currency=EUR"
            product.offers = [
                OfferDescription(
                    kind: "promotional", id: "half", paymentMode: "payUpFront", period: "P3M",
                    periodCount: 1, price: 2490),
                OfferDescription(
                    kind: "introductory", paymentMode: "free", period: "P1W", periodCount: 1,
                    price: 0),
                OfferDescription(
                    kind: "promotional", id: "loyal", paymentMode: "payAsYouGo", period: "P1M",
                    periodCount: 4, price: 990),
                OfferDescription(
                    kind: "win-back", id: "again", paymentMode: "free", period: "P1M",
                    periodCount: 1, price: 0),
            ]
        }
        let first = try #require(product.introductoryPrice)
        #expect(first.identifier == nil && first.type == .introductory)
        #expect(first.paymentMode == .freeTrial && first.price == 0)
        #expect(first.subscriptionPeriod.unit == .week && first.numberOfPeriods == 1)
        #expect(product.discounts.map(\.identifier) == ["half", "loyal"])
        #expect(product.discounts.map(\.type) == [.subscription, .subscription])
        #expect(product.discounts.map(\.paymentMode) == [.payUpFront, .payAsYouGo])
        #expect(product.discounts.map(\.numberOfPeriods) == [1, 4])
        #expect(product.discounts[0].price == NSDecimalNumber(string: "2.49"))
        #expect(product.discounts[0].priceLocale.currency?.identifier == "EUR")
        #expect(product.subscriptionGroupIdentifier == "press")
    }

    @Test func `a product without any of it has none`() async throws {
        let product = try await product { _ in }
        #expect(product.introductoryPrice == nil && product.discounts.isEmpty)
        #expect(product.subscriptionPeriod == nil && product.subscriptionGroupIdentifier == nil)
    }

    @Test func `the enumerations have Apple's numbers, and any other number`() throws {
        let units: [SKProduct.PeriodUnit] = [.day, .week, .month, .year]
        let modes: [SKProductDiscount.PaymentMode] = [.payAsYouGo, .payUpFront, .freeTrial]
        let types: [SKProductDiscount.`Type`] = [.introductory, .subscription]
        #expect(units.map(\.rawValue) == [0, 1, 2, 3])
        #expect(modes.map(\.rawValue) == [0, 1, 2])
        #expect(types.map(\.rawValue) == [0, 1])
        for number in [4, 99, UInt.max] {
            #expect(SKProduct.PeriodUnit(rawValue: number)?.rawValue == number)
            #expect(SKProductDiscount.PaymentMode(rawValue: number)?.rawValue == number)
            let type: SKProductDiscount.`Type`? = .init(rawValue: number)
            #expect(type?.rawValue == number)
        }
        for number in 0..<4 as Range<UInt> {
            #expect(SKProduct.PeriodUnit(rawValue: number) == units[Int(number)])
        }
    }

    // MARK: Signed offers

    private func discount() throws -> SKPaymentDiscount {
        SKPaymentDiscount(
            identifier: "half", keyIdentifier: "KEY1234567",
            nonce: try #require(UUID(uuidString: nonce.uppercased())), signature: "c2lnbmVk",
            timestamp: 1_700_000_000_123)
    }

    @Test func `a payment copies its signed offer, and loses it again`() throws {
        let payment = SKMutablePayment()
        payment.productIdentifier = "paper"
        #expect(payment.paymentDiscount == nil)
        payment.paymentDiscount = try discount()
        let copy = try #require((payment.copy() as? SKPayment)?.paymentDiscount)
        payment.paymentDiscount = nil

        #expect(payment.paymentDiscount == nil)
        #expect(copy.identifier == "half" && copy.keyIdentifier == "KEY1234567")
        #expect(copy.nonce == UUID(uuidString: nonce) && copy.signature == "c2lnbmVk")
        #expect(copy.timestamp == 1_700_000_000_123)
    }

    @Test func `the store gets the signed offer, with the nonce in lower case`() async throws {
        rig.store.state.withLock { $0.quoted = "credits.5" }
        let app = rig.launch()
        let payment = SKMutablePayment()
        payment.productIdentifier = "credits.5"
        payment.paymentDiscount = try discount()

        app.queue.add(payment)
        await app.observer.diary.wait(for: "purchased")

        let sent = try #require(rig.store.state.withLock { $0.purchases.values.first?.offer })
        #expect(sent.kind == "promotional" && sent.offerId == "half")
        #expect(sent.keyId == "KEY1234567" && sent.nonce == nonce)
        #expect(sent.signature == "c2lnbmVk" && sent.timestamp?.milliseconds == 1_700_000_000_123)
        let seen = app.observer.transactions.first?.payment.paymentDiscount
        #expect(seen?.identifier == "half")
    }

    /// A subclass that overrides the property, as tests of apps do.
    @Test func `an overridden offer is the one that counts`() async throws {
        final class Payment: SKPayment {
            var given: SKPaymentDiscount?
            override var productIdentifier: String { "credits.5" }
            override var paymentDiscount: SKPaymentDiscount? { given }
        }
        let payment = Payment()
        payment.given = try discount()
        #expect((payment.copy() as? SKPayment)?.paymentDiscount?.identifier == "half")
    }

    /// Rows: what the store answers, and the code that the app sees.
    @Test(arguments: [
        ("offerUnknown", SKError.Code.invalidOfferIdentifier),
        ("offerNotEligible", .ineligibleForOffer), ("offerSignatureInvalid", .invalidSignature),
        ("offerNonceUsed", .invalidSignature), ("offerFieldMissing", .missingOfferParams),
    ])
    func `a refused offer has Apple's code`(word: String, code: SKError.Code) async throws {
        rig.store.always(.answered(FakeStore.refusal(409, word))) { $0 == .offer }
        let app = rig.launch()
        let payment = SKMutablePayment()
        payment.productIdentifier = "credits.5"
        payment.paymentDiscount = try discount()

        app.queue.add(payment)
        await app.observer.diary.wait(for: "failed")

        #expect(app.observer.diary.lines.last == "failed credits.5 \(code.rawValue)")
    }
}
