// SPDX-License-Identifier: Apache-2.0

import Commerce
public import Foundation

/// One payment's way through the queue. It is the same object as long as the
/// process runs, so it can be the key of a dictionary.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skpaymenttransaction)
open class SKPaymentTransaction: NSObject, @unchecked Sendable {
    private(set) var backing: TransactionBacking

    /// Makes an empty transaction, for subclasses in tests.
    public override init() {
        backing = TransactionBacking(payment: SKPayment())
        super.init()
    }

    convenience init(backing: TransactionBacking) {
        self.init()
        self.backing = backing
    }

    /// The first purchase of what was restored. It is in no queue, so finishing it
    /// does nothing.
    convenience init(original: OriginalFacts) {
        let facts = TransactionFacts(
            key: "", state: .purchased, payment: original.payment,
            transactionID: original.transactionID, date: original.date)
        self.init(
            backing: TransactionBacking(
                payment: SKPayment(contents: original.payment), facts: facts))
    }

    /// An ``SKError``, or a ``StoreServiceError``. Set in `.failed`.
    open var error: (any Error)? { backing.facts.failure.map(\.transactionError) }
    /// The first purchase of what was restored: of a subscription, that of its
    /// first period. Set only in `.restored`.
    open var original: SKPaymentTransaction? { backing.original }
    /// A copy of the payment that was added.
    open var payment: SKPayment { backing.payment }
    /// The content that the store hosts for the product. Only in `.purchased` and
    /// `.restored`, and until the transaction is finished.
    open var downloads: [SKDownload] { backing.downloads }
    /// When it was sold or restored, in the store's time. Set in `.purchased` and
    /// `.restored`.
    open var transactionDate: Date? {
        backing.facts.date.map { Date(timeIntervalSince1970: Double($0.milliseconds) / 1000) }
    }
    /// In `.purchased` the store's number of the transaction. In `.restored` an id
    /// that only this device knows; the store's is that of ``original``.
    open var transactionIdentifier: String? { backing.facts.transactionID }
    /// The signed transaction, a compact JWS in UTF-8. Set in `.purchased`.
    @available(*, deprecated, message: "use the app's receipt")
    open var transactionReceipt: Data? {
        backing.facts.signedTransaction.map { Data($0.utf8) }
    }
    open var transactionState: SKPaymentTransactionState { backing.facts.state }
}

extension SKPaymentTransaction {
    /// Identifies the transaction on this device.
    package var key: String { backing.facts.key }
    /// Whether the device's own files failed it.
    package var isDiskFault: Bool { backing.facts.failure?.code == .disk }
}
