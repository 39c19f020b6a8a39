// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// Loads the magazines' products, subscribes, restores, and refreshes the receipt.
final class Kiosk: NSObject, SKProductsRequestDelegate {
    private(set) var products: [SKProduct] = []
    private var onProducts: (((any Error)?) -> Void)?
    private var onReceipt: (((any Error)?) -> Void)?
    private var requests: [SKRequest] = []

    func loadProducts(_ done: @escaping ((any Error)?) -> Void) {
        onProducts = done
        let request = SKProductsRequest(
            productIdentifiers: Set(Magazine.all.map(\.productIdentifier)))
        request.delegate = self
        start(request)
    }

    /// The receipt changes by itself when something is bought. It does not when a
    /// subscription ends, or when another device buys.
    func refreshReceipt(_ done: @escaping ((any Error)?) -> Void) {
        onReceipt = done
        let request = SKReceiptRefreshRequest()
        request.delegate = self
        start(request)
    }

    func product(of magazine: Magazine) -> SKProduct? {
        products.first { $0.productIdentifier == magazine.productIdentifier }
    }

    /// Returns false if the store does not sell the magazine here.
    func subscribe(to magazine: Magazine) -> Bool {
        guard let product = product(of: magazine) else { return false }
        SKPaymentQueue.default().add(SKPayment(product: product))
        return true
    }

    /// Subscribes with an offer for which the publisher's server has signed. Returns
    /// false if the store does not sell the magazine here.
    func subscribe(to magazine: Magazine, with offer: SKPaymentDiscount) -> Bool {
        guard let product = product(of: magazine) else { return false }
        let payment = SKMutablePayment(product: product)
        payment.paymentDiscount = offer
        SKPaymentQueue.default().add(payment)
        return true
    }

    /// Lets the reader enter an offer's code.
    func redeem() { SKPaymentQueue.default().presentCodeRedemptionSheet() }

    /// Lets the reader consent to a higher price, if one was announced.
    func showPriceConsent() { SKPaymentQueue.default().showPriceConsentIfNeeded() }

    func restore() { SKPaymentQueue.default().restoreCompletedTransactions() }

    /// `$4.99 every month`, or `free`.
    static func price(of product: SKProduct) -> String {
        guard product.price != .zero else { return "free" }
        let formatter = NumberFormatter()
        formatter.numberStyle = .currency
        formatter.locale = product.priceLocale
        let price = formatter.string(from: product.price) ?? "\(product.price)"
        guard let period = product.subscriptionPeriod else { return price }
        let regular = "\(price) every \(words(period))"
        guard let first = product.introductoryPrice else { return regular }
        return "\(words(of: first, formatter)), then \(regular)"
    }

    /// `Half: $2.49 every month, 2 times`, for each offer that is signed for.
    static func offers(of product: SKProduct) -> [String] {
        let formatter = NumberFormatter()
        formatter.numberStyle = .currency
        return product.discounts.map { offer in
            formatter.locale = offer.priceLocale
            return "\(offer.identifier ?? ""): \(words(of: offer, formatter))"
        }
    }

    private static func words(
        of offer: SKProductDiscount, _ formatter: NumberFormatter
    ) -> String {
        let period = words(offer.subscriptionPeriod)
        let price = formatter.string(from: offer.price) ?? "\(offer.price)"
        switch offer.paymentMode {
        case .freeTrial: return "the first \(period) free"
        case .payUpFront: return "\(price) for the first \(period)"
        case .payAsYouGo: return "\(price) every \(period), \(offer.numberOfPeriods) times"
        @unknown default: return price
        }
    }

    private static func words(_ period: SKProductSubscriptionPeriod) -> String {
        let unit: String
        switch period.unit {
        case .day: unit = "day"
        case .week: unit = "week"
        case .month: unit = "month"
        case .year: unit = "year"
        @unknown default: unit = "period"
        }
        return period.numberOfUnits == 1 ? unit : "\(period.numberOfUnits) \(unit)s"
    }

    private func start(_ request: SKRequest) {
        requests.append(request)
        request.start()
    }

    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse) {
        products = response.products
    }

    func requestDidFinish(_ request: SKRequest) { end(request, nil) }

    func request(_ request: SKRequest, didFailWithError error: any Error) { end(request, error) }

    private func end(_ request: SKRequest, _ error: (any Error)?) {
        requests.removeAll { $0 === request }
        if request is SKProductsRequest { onProducts?(error) } else { onReceipt?(error) }
    }
}

enum Sentences {
    /// Returns the text for an error. Network failures have a text of their own.
    static func failure(_ error: any Error) -> String {
        let underlying = (error as? SKError)?.userInfo[NSUnderlyingErrorKey]
        if error is URLError || underlying is URLError { return "Network down?" }
        return "It failed: \(error.localizedDescription)"
    }

    static func isCancelled(_ error: any Error) -> Bool {
        (error as? SKError)?.code == .paymentCancelled
    }
}
