// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Synchronization

/// Is notified of the progress of payments.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skpaymenttransactionobserver)
///
/// A conforming class must itself implement the optional methods that it needs.
/// On this platform, a method that only a subclass implements is not called.
public protocol SKPaymentTransactionObserver: NSObjectProtocol {
    /// Transactions are new or have changed. Also called with the unfinished
    /// ones at each launch.
    func paymentQueue(
        _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction])
    /// Optional. Transactions were finished and have left the queue.
    func paymentQueue(
        _ queue: SKPaymentQueue, removedTransactions transactions: [SKPaymentTransaction])
    /// Optional. A restore has ended. Everything that it restored was reported
    /// before.
    func paymentQueueRestoreCompletedTransactionsFinished(_ queue: SKPaymentQueue)
    /// Optional. A restore has failed or was cancelled. Some transactions may have
    /// been restored before. The error is a `URLError` after a network failure,
    /// otherwise an ``SKError``.
    func paymentQueue(
        _ queue: SKPaymentQueue, restoreCompletedTransactionsFailedWithError error: any Error)
    /// Optional. The customer has moved to another storefront, which is read from
    /// `storefront`. Prices may be different.
    func paymentQueueDidChangeStorefront(_ queue: SKPaymentQueue)
    /// Optional. The states of downloads have changed.
    func paymentQueue(_ queue: SKPaymentQueue, updatedDownloads downloads: [SKDownload])
    /// Optional. The customer has chosen a promoted product in the store. With
    /// `true`, the queue adds the payment; an app that returns `false` can add the
    /// same payment later.
    /// The default is `false`; the customer then reads that the product is to be bought in the app.
    func paymentQueue(
        _ queue: SKPaymentQueue, shouldAddStorePayment payment: SKPayment, for product: SKProduct
    ) -> Bool
    /// Optional. The customer may no longer use these products, because the store
    /// has refunded or revoked them. The receipt says so already. It may be called
    /// more than once for the same refund. Not called for consumables.
    func paymentQueue(
        _ queue: SKPaymentQueue,
        didRevokeEntitlementsForProductIdentifiers productIdentifiers: [String])
}

extension SKPaymentTransactionObserver {
    public func paymentQueueDidChangeStorefront(_ queue: SKPaymentQueue) {}
    public func paymentQueue(_ queue: SKPaymentQueue, updatedDownloads downloads: [SKDownload]) {}
    public func paymentQueue(
        _ queue: SKPaymentQueue, shouldAddStorePayment payment: SKPayment, for product: SKProduct
    ) -> Bool {
        queue.isStorePaymentUnhandled.withLock { $0 = true }
        return false
    }
    public func paymentQueueRestoreCompletedTransactionsFinished(_ queue: SKPaymentQueue) {}
    public func paymentQueue(
        _ queue: SKPaymentQueue, restoreCompletedTransactionsFailedWithError error: any Error
    ) {}
    public func paymentQueue(
        _ queue: SKPaymentQueue, removedTransactions transactions: [SKPaymentTransaction]
    ) {}
    public func paymentQueue(
        _ queue: SKPaymentQueue,
        didRevokeEntitlementsForProductIdentifiers productIdentifiers: [String]
    ) {}
}
