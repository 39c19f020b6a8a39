// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// Observes all transactions as long as the app runs. Nothing needs to be saved:
/// what a reader has is in the receipt, which is on the device before a transaction
/// is reported.
final class Deliveries: NSObject, SKPaymentTransactionObserver {
    /// A payment that began while the app runs has ended: nil, or the error.
    var onPayment: (((any Error)?) -> Void)?
    /// A restore has ended: nil, or the error.
    var onRestore: (((any Error)?) -> Void)?
    /// The receipt has changed.
    var onDelivery: (() -> Void)?

    private var begun: Set<SKPaymentTransaction> = []

    func paymentQueue(
        _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions {
            switch transaction.transactionState {
            case .purchasing: begun.insert(transaction)
            case .purchased, .restored:
                queue.finishTransaction(transaction)
                onDelivery?()
                if begun.remove(transaction) != nil { onPayment?(nil) }
            case .failed:
                queue.finishTransaction(transaction)
                if begun.remove(transaction) != nil { onPayment?(transaction.error) }
            case .deferred: break
            @unknown default: break
            }
        }
    }

    func paymentQueueRestoreCompletedTransactionsFinished(_ queue: SKPaymentQueue) {
        onRestore?(nil)
    }

    func paymentQueue(
        _ queue: SKPaymentQueue, restoreCompletedTransactionsFailedWithError error: any Error
    ) {
        onRestore?(error)
    }
}
