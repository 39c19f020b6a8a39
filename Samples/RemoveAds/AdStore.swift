// SPDX-License-Identifier: Apache-2.0

import StoreKit

extension Notification.Name {
    /// The ads were removed. `object` is the product's identifier.
    static let adsRemoved = Notification.Name("RemoveAdsAdsRemoved")
    /// A purchase or a restore has ended without removing anything. `object` is the
    /// error, or nil.
    static let purchaseEnded = Notification.Name("RemoveAdsPurchaseEnded")
}

/// Sells one product, and remembers under its identifier that it was bought.
final class AdStore: NSObject, SKProductsRequestDelegate, SKPaymentTransactionObserver {
    static let productIdentifier = "com.example.removeads.noads"

    private(set) var product: SKProduct?
    private var request: SKProductsRequest?
    private var onProduct: (((any Error)?) -> Void)?

    /// Whether this installation shows ads.
    var showsAds: Bool { !UserDefaults.standard.bool(forKey: Self.productIdentifier) }

    func loadProduct(_ done: @escaping ((any Error)?) -> Void) {
        onProduct = done
        let request = SKProductsRequest(productIdentifiers: [Self.productIdentifier])
        request.delegate = self
        request.start()
        self.request = request
    }

    /// Returns false if the store does not sell the product here.
    func buy() -> Bool {
        guard let product else { return false }
        SKPaymentQueue.default().add(SKPayment(product: product))
        return true
    }

    func restore() { SKPaymentQueue.default().restoreCompletedTransactions() }

    /// `$1.99`.
    var price: String? {
        guard let product else { return nil }
        let formatter = NumberFormatter()
        formatter.numberStyle = .currency
        formatter.locale = product.priceLocale
        return formatter.string(from: product.price)
    }

    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse) {
        product = response.products.first
    }

    func requestDidFinish(_ request: SKRequest) { onProduct?(nil) }

    func request(_ request: SKRequest, didFailWithError error: any Error) { onProduct?(error) }

    func paymentQueue(
        _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions {
            switch transaction.transactionState {
            case .purchased: unlock(transaction.payment.productIdentifier, transaction, queue)
            case .restored:
                // What was bought first is in the original transaction.
                let original = transaction.original ?? transaction
                unlock(original.payment.productIdentifier, transaction, queue)
            case .failed:
                queue.finishTransaction(transaction)
                NotificationCenter.default.post(name: .purchaseEnded, object: transaction.error)
            case .purchasing, .deferred: break
            @unknown default: break
            }
        }
    }

    func paymentQueueRestoreCompletedTransactionsFinished(_ queue: SKPaymentQueue) {
        NotificationCenter.default.post(name: .purchaseEnded, object: nil)
    }

    func paymentQueue(
        _ queue: SKPaymentQueue, restoreCompletedTransactionsFailedWithError error: any Error
    ) {
        NotificationCenter.default.post(name: .purchaseEnded, object: error)
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
    /// `synchronize()`.
    private func unlock(
        _ identifier: String, _ transaction: SKPaymentTransaction, _ queue: SKPaymentQueue
    ) {
        UserDefaults.standard.set(true, forKey: identifier)
        guard UserDefaults.standard.synchronize() else { return }
        queue.finishTransaction(transaction)
        NotificationCenter.default.post(name: .adsRemoved, object: identifier)
    }
}

enum Sentences {
    /// Returns the text for an error. Nil for what the customer has cancelled.
    static func failure(_ error: any Error) -> String? {
        if (error as? SKError)?.code == .paymentCancelled { return nil }
        let underlying = (error as? SKError)?.userInfo[NSUnderlyingErrorKey]
        if error is URLError || underlying is URLError { return "Network down?" }
        return "It failed: \(error.localizedDescription)"
    }
}
