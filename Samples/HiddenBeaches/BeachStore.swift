// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// Loads the products, sells them, and unlocks what was bought. Everything is on the
/// main thread.
final class BeachStore: NSObject, SKProductsRequestDelegate, SKPaymentTransactionObserver {
    let server: GameServer
    let promotions = Promotions()
    private(set) var products: [SKProduct] = []
    private var request: SKProductsRequest?
    private var onProducts: (((any Error)?) -> Void)?
    /// Payments of the store's page that wait for the server, one of each product.
    var kept: [SKPayment] = []
    /// A sentence for the player.
    var onNews: ((String) -> Void)?
    /// The payment sheet is shown next.
    var onPayment: (() -> Void)?
    /// A payment or a restore has ended: nil, or the error.
    var onEnd: (((any Error)?) -> Void)?

    init(server: GameServer) {
        self.server = server
        super.init()
        server.onChange = { self.serverChanged() }
        promotions.onNews = { self.onNews?($0) }
    }

    func loadProducts(_ done: @escaping ((any Error)?) -> Void) {
        onProducts = done
        let request = SKProductsRequest(
            productIdentifiers: Set(Item.allCases.map(\.productIdentifier)))
        request.delegate = self
        request.start()
        self.request = request
    }

    func product(of item: Item) -> SKProduct? {
        products.first { $0.productIdentifier == item.productIdentifier }
    }

    /// Asks the game's server first. `failed` is called with the reason if no payment
    /// was added.
    func buy(_ item: Item, failed: @escaping (String) -> Void) {
        guard SKPaymentQueue.canMakePayments() else { return failed("Store disabled") }
        guard let product = product(of: item) else {
            return failed("The store does not sell this.")
        }
        server.ask { isUp in
            if let reason = self.reasonNotToBuy(item) { return failed(reason) }
            guard isUp else { return failed("\(self.awayWords) Try again later.") }
            SKPaymentQueue.default().add(SKPayment(product: product))
        }
    }

    func restore() { SKPaymentQueue.default().restoreCompletedTransactions() }

    /// Nil for an item that may be bought.
    func reasonNotToBuy(_ item: Item) -> String? {
        if Island.isUnlocked(item) {
            return "\(item.name) is yours already. Nothing was charged."
        }
        return isQueued(item, [.purchasing, .deferred])
            ? "\(item.name) is being bought already." : nil
    }

    /// Whether the payment sheet is shown for it, or the store has not answered.
    func isPaying(_ item: Item) -> Bool { isQueued(item, [.purchasing]) }

    private func isQueued(_ item: Item, _ states: [SKPaymentTransactionState]) -> Bool {
        SKPaymentQueue.default().transactions.contains { transaction in
            transaction.payment.productIdentifier == item.productIdentifier
                && states.contains(transaction.transactionState)
        }
    }

    var awayWords: String {
        server.isKnownUp == nil
            ? "The game's server was not reached yet." : "The game's server is away."
    }

    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse) {
        products = Item.allCases.compactMap { item in
            response.products.first { $0.productIdentifier == item.productIdentifier }
        }
    }

    func requestDidFinish(_ request: SKRequest) {
        promotions.update(products)
        onProducts?(nil)
    }

    func request(_ request: SKRequest, didFailWithError error: any Error) { onProducts?(error) }
}

/// What becomes of payments.
extension BeachStore {
    func paymentQueue(
        _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions {
            switch transaction.transactionState {
            case .purchasing: onPayment?()
            case .purchased:
                deliver(transaction.payment, transaction, queue)
                onEnd?(nil)
            case .restored:
                // What was bought first is in the original transaction.
                deliver((transaction.original ?? transaction).payment, transaction, queue)
            case .failed:
                queue.finishTransaction(transaction)
                onEnd?(transaction.error)
            case .deferred:
                onNews?("The payment waits for approval.")
                onEnd?(nil)
            @unknown default: break
            }
        }
    }

    /// Saves first, then finishes. What could not be saved is delivered again.
    private func deliver(
        _ payment: SKPayment, _ transaction: SKPaymentTransaction, _ queue: SKPaymentQueue
    ) {
        guard let item = Item(productIdentifier: payment.productIdentifier) else {
            // Of an older version of the game.
            return queue.finishTransaction(transaction)
        }
        guard Island.unlock(item, by: transaction) else {
            onNews?("\(item.name) could not be saved. It comes again at the next start.")
            return
        }
        queue.finishTransaction(transaction)
        onNews?("\(item.name) is yours.")
        promotions.update(products)
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
        for item in productIdentifiers.compactMap(Item.init(productIdentifier:)) {
            Island.lock(item)
            onNews?("The store has taken back: \(item.name).")
        }
        promotions.update(products)
    }
}
