// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// Sells the filters, and unlocks what was bought or restored.
final class Darkroom: NSObject, SKProductsRequestDelegate, SKPaymentTransactionObserver {
    private(set) var products: [SKProduct] = []
    private var request: SKProductsRequest?
    private var onProducts: (((any Error)?) -> Void)?
    /// A purchase or a restore has ended: nil, or the error.
    var onEnd: (((any Error)?) -> Void)?

    func loadProducts(_ done: @escaping ((any Error)?) -> Void) {
        onProducts = done
        let request = SKProductsRequest(
            productIdentifiers: Set(Filter.all.map(\.productIdentifier)))
        request.delegate = self
        request.start()
        self.request = request
    }

    /// `$0.99`, or nil if the store does not sell the filter here.
    func price(of filter: Filter) -> String? {
        guard let product = product(of: filter) else { return nil }
        let formatter = NumberFormatter()
        formatter.numberStyle = .currency
        formatter.locale = product.priceLocale
        return formatter.string(from: product.price)
    }

    /// Returns false if the store does not sell the filter here.
    func buy(_ filter: Filter) -> Bool {
        guard let product = product(of: filter) else { return false }
        SKPaymentQueue.default().add(SKPayment(product: product))
        return true
    }

    func restore() { SKPaymentQueue.default().restoreCompletedTransactions() }

    private func product(of filter: Filter) -> SKProduct? {
        products.first { $0.productIdentifier == filter.productIdentifier }
    }

    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse) {
        products = response.products
    }

    func requestDidFinish(_ request: SKRequest) { onProducts?(nil) }

    func request(_ request: SKRequest, didFailWithError error: any Error) { onProducts?(error) }

    func paymentQueue(
        _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions {
            switch transaction.transactionState {
            case .purchased:
                unlock(transaction.payment.productIdentifier, transaction, queue)
                onEnd?(nil)
            case .restored:
                let original = transaction.original ?? transaction
                unlock(original.payment.productIdentifier, transaction, queue)
            case .failed:
                queue.finishTransaction(transaction)
                onEnd?(transaction.error)
            case .purchasing, .deferred: break
            @unknown default: break
            }
        }
    }

    func paymentQueueRestoreCompletedTransactionsFinished(_ queue: SKPaymentQueue) { onEnd?(nil) }

    func paymentQueue(
        _ queue: SKPaymentQueue, restoreCompletedTransactionsFailedWithError error: any Error
    ) {
        onEnd?(error)
    }

    func paymentQueue(
        _ queue: SKPaymentQueue,
        didRevokeEntitlementsForProductIdentifiers productIdentifiers: [String]
    ) {
        for identifier in productIdentifiers {
            UserDefaults.standard.removeObject(forKey: identifier)
        }
        UserDefaults.standard.synchronize()
    }

    /// Saves first, then finishes. On Linux, defaults are on disk only after
    /// `synchronize()`. What could not be saved is delivered again.
    private func unlock(
        _ identifier: String, _ transaction: SKPaymentTransaction, _ queue: SKPaymentQueue
    ) {
        UserDefaults.standard.set(true, forKey: identifier)
        if UserDefaults.standard.synchronize() { queue.finishTransaction(transaction) }
    }
}
