// SPDX-License-Identifier: Apache-2.0

import Commerce
public import Foundation

/// One payment's way through the queue. One object for its whole life in a
/// process, so it may be a dictionary's key.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skpaymenttransaction)
open class SKPaymentTransaction: NSObject, @unchecked Sendable {
    let backing: TransactionBacking

    /// An empty transaction, for subclasses in tests.
    public override init() {
        backing = TransactionBacking(payment: SKPayment())
        super.init()
    }

    init(backing: TransactionBacking) {
        self.backing = backing
        super.init()
    }

    /// Set in `.failed`: an ``SKError``.
    open var error: (any Error)? { backing.facts.failure?.error }
    /// Set in `.restored` only.
    open var original: SKPaymentTransaction? { nil }
    /// A copy of what was added.
    open var payment: SKPayment { backing.payment }
    /// When it was sold, by the store's time. Set in `.purchased`.
    open var transactionDate: Date? {
        backing.facts.date.map { Date(timeIntervalSince1970: Double($0.milliseconds) / 1000) }
    }
    /// The store's number of it. Set in `.purchased`.
    open var transactionIdentifier: String? { backing.facts.transactionID }
    open var transactionState: SKPaymentTransactionState { backing.facts.state }
}
