// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation

/// What an observer receives about one entry of the queue.
struct TransactionFacts: Sendable {
    var key: String
    var state: SKPaymentTransactionState
    var payment: PaymentContents
    var transactionID: String?
    var date: Timestamp?
    var failure: PaymentFailure?
}

extension TransactionFacts {
    init(_ entry: QueueEntry) {
        key = entry.key
        payment = entry.payment
        switch entry.state {
        case .asked, .confirmed: state = .purchasing
        case .waiting: state = .deferred
        case .failed: state = .failed
        case .purchased, .finished: state = .purchased
        }
        transactionID = entry.sold?.transactionID
        date = entry.sold?.purchaseDate
        failure = entry.failure
    }
}

/// The changing part of a transaction. A class with a lock, because any thread
/// may read a transaction while the callback queue changes it.
final class TransactionBacking: @unchecked Sendable {
    let payment: SKPayment
    private let lock = NSLock()
    private var current: TransactionFacts

    init(payment: SKPayment) {
        self.payment = payment
        current = TransactionFacts(key: "", state: .purchasing, payment: payment.contents)
    }

    init(payment: SKPayment, facts: TransactionFacts) {
        self.payment = payment
        current = facts
    }

    var facts: TransactionFacts {
        get { lock.withLock { current } }
        set { lock.withLock { current = newValue } }
    }
}
