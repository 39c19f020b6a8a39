// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import Testing

/// What apps and their tests write against StoreKit 1.
struct SurfaceTests {
    func thrown(_ code: SKError.Code) throws { throw SKError(code) }

    @Test func `an error is caught by its code`() throws {
        do {
            try thrown(.paymentCancelled)
            Issue.record("nothing was thrown")
        } catch SKError.paymentCancelled {
        }
    }

    @Test func `an error is compared in all the ways that apps write`() {
        let error: any Error = SKError(.paymentCancelled, userInfo: ["key": "value"])

        #expect((error as? SKError)?.code == .paymentCancelled)
        #expect((error as NSError).code == SKError.paymentCancelled.rawValue)
        #expect((error as NSError).domain == SKErrorDomain)
        #expect(error._code == 2)
        #expect((error as? SKError)?.userInfo["key"] as? String == "value")
        #expect((error as? SKError)?.errorCode == 2)
        let optional: (any Error)? = error
        if case SKError.paymentCancelled? = optional {
        } else {
            Issue.record("the optional pattern does not match")
        }
        #expect(SKError(.unknown) != SKError(.clientInvalid))
    }

    @Test func `an error with an undocumented number keeps it`() {
        let error = SKError(_nsError: NSError(domain: SKErrorDomain, code: 907))
        #expect(error.code.rawValue == 907)
        #expect(SKError.Code(rawValue: 907) != nil)
    }

    /// As libraries do that hand on whatever a delegate reported.
    @Test func `an error of any domain is wrapped and kept`() {
        let url = NSError(domain: NSURLErrorDomain, code: -1004, userInfo: ["key": "value"])
        let error = SKError(_nsError: url)
        #expect(error._nsError === url)
        #expect(error.code.rawValue == -1004)
        #expect(error.errorCode == -1004)
        #expect(error.userInfo["key"] as? String == "value")
        #expect(error != SKError(.unknown))
        #expect(SKError(_nsError: URLError(.timedOut) as NSError).code != .paymentCancelled)
    }

    @Test(arguments: [Int.min, -1, 5, 21, 92_159_124, .max])
    func `a state and a code of any number keep it`(number: Int) throws {
        let state = try #require(SKPaymentTransactionState(rawValue: number))
        #expect(state.rawValue == number)
        #expect(state == SKPaymentTransactionState(rawValue: number))
        #expect(state != .purchasing)
        let code = try #require(SKError.Code(rawValue: number))
        #expect(code.rawValue == number)
        #expect(SKError(code).code == code)
        #expect((SKError(code) as NSError).code == number)
        switch state {
        case .purchasing, .purchased, .failed, .restored, .deferred:
            Issue.record("a number that nobody documented is taken for another")
        @unknown default: break
        }
    }

    @Test func `states and codes have Apple's numbers`() {
        let states: [SKPaymentTransactionState] = [
            .purchasing, .purchased, .failed, .restored, .deferred,
        ]
        #expect(states.map(\.rawValue) == Array(0...4))
        #expect((0...4).map { SKPaymentTransactionState(rawValue: $0) } == states)
        let codes: [SKError.Code] = [
            .unknown, .clientInvalid, .paymentCancelled, .paymentInvalid, .paymentNotAllowed,
            .storeProductNotAvailable, .cloudServicePermissionDenied,
            .cloudServiceNetworkConnectionFailed, .cloudServiceRevoked,
            .privacyAcknowledgementRequired, .unauthorizedRequestData,
            .invalidOfferIdentifier, .invalidSignature, .missingOfferParams,
            .invalidOfferPrice, .overlayCancelled, .overlayInvalidConfiguration,
            .overlayTimeout, .ineligibleForOffer, .unsupportedPlatform,
            .overlayPresentedInBackgroundScene, .paymentMethodBindingConfigurationRequired,
        ]
        #expect(codes.map(\.rawValue) == Array(0...21))
        #expect((0...21).map { SKError.Code(rawValue: $0) } == codes)
    }

    @Test func `a payment copies what it holds`() throws {
        let product = NamedProduct("credits.5")
        let payment = SKMutablePayment(product: product)
        payment.quantity = 4

        let copy = try #require(payment.copy() as? SKPayment)
        let mutable = try #require(copy.mutableCopy() as? SKMutablePayment)
        mutable.quantity = 2

        #expect(SKPayment(product: product).quantity == 1)
        #expect(copy.productIdentifier == "credits.5")
        #expect(copy.quantity == 4)
    }

    @Test func `doubles of every class can be made`() {
        final class Transaction: SKPaymentTransaction, @unchecked Sendable {
            override var transactionState: SKPaymentTransactionState { .purchased }
            override var transactionIdentifier: String? { "1" }
        }
        final class Queue: SKPaymentQueue, @unchecked Sendable {
            var added: [SKPayment] = []
            override func add(_ payment: SKPayment) { added.append(payment) }
            override func restoreCompletedTransactions() {}
            override func restoreCompletedTransactions(
                withApplicationUsername username: String?
            ) {}
            override var storefront: SKStorefront? { nil }
            override func presentCodeRedemptionSheet() {}
        }
        let queue = Queue()
        queue.add(SKPayment(product: NamedProduct("a")))
        #expect(queue.added.count == 1)
        #expect(Transaction().transactionIdentifier == "1")
        #expect(SKProductsResponse().products.isEmpty)
        final class Discount: SKProductDiscount, @unchecked Sendable {
            override var identifier: String? { "half" }
        }
        final class Country: SKStorefront, @unchecked Sendable {
            override var countryCode: String { "JPN" }
        }
        #expect(Discount().type == .introductory && Discount().identifier == "half")
        #expect(SKProductSubscriptionPeriod().numberOfUnits == 0)
        #expect(Country().countryCode == "JPN" && Country().identifier == "")
    }

    /// As test doubles do: no call of `super.init()`, or one of a designated `init()`.
    @Test func `a double leaves out the superclass's initializer where Apple's may`() {
        final class Queue: SKPaymentQueue, @unchecked Sendable {
            let log: [String]
            init(log: [String]) { self.log = log }
        }
        final class Transaction: SKPaymentTransaction, @unchecked Sendable {
            let state: SKPaymentTransactionState
            init(state: SKPaymentTransactionState) { self.state = state }
            override var transactionState: SKPaymentTransactionState { state }
        }
        final class Product: SKProduct, @unchecked Sendable {
            let name: String
            init(name: String) { self.name = name }
        }
        final class Response: SKProductsResponse, @unchecked Sendable {
            let all: [SKProduct]
            init(all: [SKProduct]) { self.all = all }
            override var products: [SKProduct] { all }
        }
        final class Request: SKProductsRequest {
            let ids: [String]
            init(ids: [String]) {
                self.ids = ids
                super.init()
            }
        }
        final class Refresh: SKReceiptRefreshRequest {
            override init() { super.init() }
        }
        #expect(Queue(log: ["a"]).log == ["a"])
        #expect(Transaction(state: .purchased).transactionState == .purchased)
        #expect(Response(all: [Product(name: "a")]).products.count == 1)
        #expect(Request(ids: ["a"]).ids == ["a"] && Refresh().receiptProperties == nil)
        #expect(SKPaymentDiscount().identifier == "")
    }

    @Test func `one weak delegate, seen as either kind`() {
        let request = SKProductsRequest(productIdentifiers: ["a"])
        let listener = CountingListener()
        request.delegate = listener
        let plain: SKRequest = request

        #expect(plain.delegate === listener)
        do {
            let passing = CountingListener()
            request.delegate = passing
        }
        #expect(plain.delegate == nil)
    }

    @Test func `an app's purchase code compiles with the required methods alone`() {
        let observer = MinimalObserver()
        let request = SKRequest()
        let delegate = MinimalDelegate()
        request.delegate = delegate
        observer.paymentQueue(SKPaymentQueue(), removedTransactions: [])
        delegate.requestDidFinish(request)
        delegate.request(request, didFailWithError: SKError(.unknown))
        #expect(observer.unlocked == [])
    }
}

final class NamedProduct: SKProduct, @unchecked Sendable {
    private let name: String

    init(_ name: String) {
        self.name = name
        super.init()
    }

    override var productIdentifier: String { name }
    override var price: NSDecimalNumber { 1.99 }
    override var priceLocale: Locale { Locale(identifier: "en_US@currency=EUR") }
}

/// Written as apps write it.
private final class MinimalObserver: NSObject, SKPaymentTransactionObserver {
    var unlocked: [String] = []

    func paymentQueue(
        _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions {
            switch transaction.transactionState {
            case .purchasing, .deferred: break
            case .purchased:
                unlocked.append(transaction.payment.productIdentifier)
                queue.finishTransaction(transaction)
            case .restored:
                unlocked.append(transaction.original?.payment.productIdentifier ?? "")
                queue.finishTransaction(transaction)
            case .failed:
                if let error = transaction.error as? SKError, error.code != .paymentCancelled {
                    print(error.localizedDescription)
                }
                queue.finishTransaction(transaction)
            @unknown default: break
            }
        }
    }
}

private final class MinimalDelegate: NSObject, SKProductsRequestDelegate {
    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse) {}
}
