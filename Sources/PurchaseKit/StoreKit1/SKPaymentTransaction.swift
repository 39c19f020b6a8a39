// SPDX-License-Identifier: Apache-2.0

import Commerce
public import Foundation

/// One payment's way through the queue. It is the same object as long as the
/// process runs, so it can be the key of a dictionary.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skpaymenttransaction)
open class SKPaymentTransaction: NSObject, @unchecked Sendable {
    let backing: TransactionBacking

    /// Makes an empty transaction, for subclasses in tests.
    public override init() {
        backing = TransactionBacking(payment: SKPayment())
        super.init()
    }

    init(backing: TransactionBacking) {
        self.backing = backing
        super.init()
    }

    /// An ``SKError``. Set in `.failed`.
    open var error: (any Error)? { backing.facts.failure.map { SKError($0) } }
    /// Set only in `.restored`.
    open var original: SKPaymentTransaction? { nil }
    /// A copy of the payment that was added.
    open var payment: SKPayment { backing.payment }
    /// When it was sold, in the store's time. Set in `.purchased`.
    open var transactionDate: Date? {
        backing.facts.date.map { Date(timeIntervalSince1970: Double($0.milliseconds) / 1000) }
    }
    /// The store's number of the transaction. Set in `.purchased`.
    open var transactionIdentifier: String? { backing.facts.transactionID }
    open var transactionState: SKPaymentTransactionState { backing.facts.state }
}

extension SKPaymentTransaction {
    /// Identifies the transaction on this device.
    package var key: String { backing.facts.key }
    /// Whether the device's own files failed it.
    package var isDiskFault: Bool { backing.facts.failure?.code == .disk }
}
