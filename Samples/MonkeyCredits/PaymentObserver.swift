// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// Observes all transactions as long as the app runs: those that it started,
/// and those that were completed while it did not run.
final class PaymentObserver: NSObject, SKPaymentTransactionObserver {
    private let wallet: Wallet
    /// Purchases that began while the app runs.
    private var begun: Set<SKPaymentTransaction> = []

    init(wallet: Wallet) {
        self.wallet = wallet
    }

    func paymentQueue(
        _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions {
            switch transaction.transactionState {
            case .purchased, .restored: complete(transaction, in: queue)
            case .failed: fail(transaction, in: queue)
            case .purchasing: begun.insert(transaction)
            case .deferred: break
            @unknown default: break
            }
        }
    }

    func paymentQueue(
        _ queue: SKPaymentQueue, removedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions where begun.remove(transaction) != nil {
            guard transaction.transactionState != .failed else { continue }
            NotificationCenter.default.post(name: .purchaseFinished, object: nil)
        }
    }

    /// Adds the credits first, then finishes. A transaction that could not be
    /// saved is delivered again.
    private func complete(_ transaction: SKPaymentTransaction, in queue: SKPaymentQueue) {
        let payment = transaction.payment
        guard let identifier = transaction.transactionIdentifier else { return }
        guard let pack = Pack.of(payment.productIdentifier) else {
            queue.finishTransaction(transaction)
            return
        }
        let credits = pack.credits * payment.quantity
        do {
            let isNew = try wallet.credit(credits, for: identifier)
            queue.finishTransaction(transaction)
            guard isNew else { return }
            NotificationCenter.default.post(name: .purchaseSucceeded, object: credits)
        } catch {
            NotificationCenter.default.post(name: .purchaseFailed, object: error)
        }
    }

    private func fail(_ transaction: SKPaymentTransaction, in queue: SKPaymentQueue) {
        guard begun.contains(transaction) else {
            queue.finishTransaction(transaction)
            return
        }
        let isCancelled = (transaction.error as? SKError)?.code == .paymentCancelled
        queue.finishTransaction(transaction)
        NotificationCenter.default.post(
            name: .purchaseFailed, object: isCancelled ? nil : transaction.error)
    }
}
