// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Hears what becomes of payments.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skpaymenttransactionobserver)
///
/// A class that conforms must itself implement the optional methods it wants
/// called: on this platform one that only a subclass has is not found.
public protocol SKPaymentTransactionObserver: NSObjectProtocol {
    /// Transactions are new or have moved on; also the unfinished ones at each launch.
    func paymentQueue(
        _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction])
    /// Optional: transactions were finished and have left the queue.
    func paymentQueue(
        _ queue: SKPaymentQueue, removedTransactions transactions: [SKPaymentTransaction])
}

extension SKPaymentTransactionObserver {
    public func paymentQueue(
        _ queue: SKPaymentQueue, removedTransactions transactions: [SKPaymentTransaction]
    ) {}
}
