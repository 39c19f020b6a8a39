// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// Sells the filters, and unlocks what was bought or restored. With a server, the ids of
/// the products come from there, and a transaction is finished only after its filter has
/// arrived.
final class Darkroom: NSObject, SKProductsRequestDelegate, SKPaymentTransactionObserver {
    private(set) var products: [SKProduct] = []
    private var request: SKProductsRequest?
    private var onProducts: (((any Error)?) -> Void)?
    private let server = FilterServer.configured
    /// Deliveries under way, and what follows the last of them.
    private var deliveries = 0
    private var afterDeliveries: (() -> Void)?
    /// A purchase or a restore has ended: nil, or the error.
    var onEnd: (((any Error)?) -> Void)?

    func loadProducts(_ done: @escaping ((any Error)?) -> Void) {
        guard let server else { return request(done) }
        server.list { result in
            switch result {
            case .failure(let error): done(error)
            case .success(let filters):
                Filter.keep(names: filters)
                self.request(done)
            }
        }
    }

    private func request(_ done: @escaping ((any Error)?) -> Void) {
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
                deliver(transaction.payment.productIdentifier, transaction, queue) {
                    self.onEnd?($0)
                }
            case .restored:
                let original = transaction.original ?? transaction
                deliver(original.payment.productIdentifier, transaction, queue) { _ in }
            case .failed:
                queue.finishTransaction(transaction)
                onEnd?(transaction.error)
            case .purchasing, .deferred: break
            @unknown default: break
            }
        }
    }

    func paymentQueueRestoreCompletedTransactionsFinished(_ queue: SKPaymentQueue) {
        guard deliveries > 0 else {
            onEnd?(nil)
            return
        }
        afterDeliveries = { self.onEnd?(nil) }
    }

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

    /// Unlocks what the app contains, or fetches it from the server first.
    private func deliver(
        _ identifier: String, _ transaction: SKPaymentTransaction, _ queue: SKPaymentQueue,
        _ done: @escaping ((any Error)?) -> Void
    ) {
        guard let server else {
            unlock(identifier, transaction, queue)
            return done(nil)
        }
        // The receipt contains the purchase before its transaction is reported.
        guard let receipt = Bundle.main.appStoreReceiptURL.flatMap({ try? Data(contentsOf: $0) })
        else { return done(SKError(.unknown)) }
        deliveries += 1
        server.deliver(receipt) { result in
            self.deliveries -= 1
            done(self.arrived(result, identifier, transaction, queue))
            if self.deliveries == 0 { self.afterDeliveries?() }
        }
    }

    /// Returns nil, or why the filter is not on this device.
    private func arrived(
        _ result: Result<[Filter], any Error>, _ identifier: String,
        _ transaction: SKPaymentTransaction, _ queue: SKPaymentQueue
    ) -> (any Error)? {
        switch result {
        case .failure(let error): return error
        case .success(let files):
            let isThere = files.contains { $0.productIdentifier == identifier }
            guard isThere, Filter.keep(files: files) else { return SKError(.unknown) }
            unlock(identifier, transaction, queue)
            return nil
        }
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
