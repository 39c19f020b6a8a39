// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// Loads the products and buys them.
final class PurchaseManager: NSObject, SKProductsRequestDelegate {
    private(set) var products: [SKProduct] = []
    private var request: SKProductsRequest?
    private let retrySeconds: Double

    /// `retrySeconds`: the pause after a failed request.
    init(retrySeconds: Double = 3) {
        self.retrySeconds = retrySeconds
    }

    var canBuy: Bool { SKPaymentQueue.canMakePayments() && !products.isEmpty }

    func requestProducts() {
        let request = SKProductsRequest(
            productIdentifiers: Set(Pack.all.map(\.productIdentifier)))
        request.delegate = self
        request.start()
        self.request = request
    }

    func product(for pack: Pack) -> SKProduct? {
        products.first { $0.productIdentifier == pack.productIdentifier }
    }

    func buy(_ pack: Pack, quantity: Int) {
        guard let product = product(for: pack) else { return }
        let payment = SKMutablePayment(product: product)
        payment.quantity = quantity
        SKPaymentQueue.default().add(payment)
    }

    static func price(of product: SKProduct) -> String {
        let formatter = NumberFormatter()
        formatter.numberStyle = .currency
        formatter.locale = product.priceLocale
        return formatter.string(from: product.price) ?? "\(product.price)"
    }

    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse) {
        products = response.products
        NotificationCenter.default.post(name: .productsChanged, object: nil)
    }

    func request(_ request: SKRequest, didFailWithError error: any Error) {
        NotificationCenter.default.post(name: .requestFailed, object: error)
        DispatchQueue.main.asyncAfter(deadline: .now() + retrySeconds) { self.requestProducts() }
    }
}
