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
    var signedTransaction: String?
    /// The first purchase of what was restored.
    var original: OriginalFacts?
}

/// What an observer receives about the first purchase of what was restored.
struct OriginalFacts: Sendable {
    var payment: PaymentContents
    var transactionID: String
    var date: Timestamp?
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
        case .restored: state = .restored
        }
        transactionID = entry.sold?.transactionID
        date = entry.sold?.purchaseDate
        failure = entry.failure
        signedTransaction = entry.sold?.signedTransaction
        guard let sale = entry.restored else { return }
        transactionID = entry.key
        date = sale.date
        original = OriginalFacts(
            payment: sale.originalPayment ?? entry.payment, transactionID: sale.originalID,
            date: sale.originalDate)
    }
}

/// The changing part of a transaction. A class with a lock, because any thread
/// may read a transaction while the callback queue changes it.
final class TransactionBacking: @unchecked Sendable {
    /// The first purchase of what was restored.
    let original: SKPaymentTransaction?
    private let lock = NSLock()
    private var current: TransactionFacts
    private var currentPayment: SKPayment
    private var currentDownloads: [SKDownload] = []

    init(payment: SKPayment) {
        currentPayment = payment
        original = nil
        current = TransactionFacts(key: "", state: .purchasing, payment: payment.contents)
    }

    init(payment: SKPayment, facts: TransactionFacts) {
        currentPayment = payment
        original = facts.original.map { SKPaymentTransaction(original: $0) }
        current = facts
    }

    var facts: TransactionFacts {
        get { lock.withLock { current } }
        set {
            lock.withLock {
                // The transaction of an earlier payment came in answer to this one.
                if newValue.payment != current.payment {
                    currentPayment = SKPayment(contents: newValue.payment)
                }
                current = newValue
            }
        }
    }

    var payment: SKPayment { lock.withLock { currentPayment } }

    var downloads: [SKDownload] {
        get { lock.withLock { currentDownloads } }
        set { lock.withLock { currentDownloads = newValue } }
    }
}
