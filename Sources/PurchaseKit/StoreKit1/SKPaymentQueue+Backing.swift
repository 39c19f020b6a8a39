// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A device's observers and transaction objects. A class with a lock: observers
/// are added and removed on the app's threads, and news arrives on the callback
/// queue. Transactions change only there, so that a state is never ahead of the
/// callback that reports it.
final class QueueBacking: DeviceListener, @unchecked Sendable {
    private struct Attachment {
        weak var observer: (any SKPaymentTransactionObserver)?
        weak var queue: SKPaymentQueue?
    }

    let callbacks: @Sendable (@escaping @Sendable () -> Void) -> Void
    let answerMilliseconds: Int
    private let lock = NSLock()
    private var attachments: [Attachment] = []
    private var live: [SKPaymentTransaction] = []
    /// The same, by key: a launch may deliver thousands at once.
    private var byKey: [String: SKPaymentTransaction] = [:]

    /// `answerMilliseconds`: how long a delegate may take to answer.
    init(
        answerMilliseconds: Int,
        callbacks: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.answerMilliseconds = answerMilliseconds
        self.callbacks = callbacks
    }

    var observers: [any SKPaymentTransactionObserver] {
        lock.withLock { attachments.compactMap(\.observer) }
    }

    var isListening: Bool { !observers.isEmpty }

    var transactions: [SKPaymentTransaction] { lock.withLock { live } }

    /// The queues with an observer, each once.
    var queues: [SKPaymentQueue] {
        listeners().map(\.1).reduce(into: []) { queues, queue in
            if !queues.contains(queue) { queues.append(queue) }
        }
    }

    func attach(_ observer: any SKPaymentTransactionObserver, to queue: SKPaymentQueue) {
        lock.withLock {
            attachments.removeAll { $0.observer == nil || $0.queue == nil }
            guard !attachments.contains(where: { $0.observer === observer }) else { return }
            attachments.append(Attachment(observer: observer, queue: queue))
        }
    }

    func detach(_ observer: any SKPaymentTransactionObserver) {
        lock.withLock {
            attachments.removeAll { $0.observer == nil || $0.observer === observer }
        }
    }

    /// Notifies the observers on the callback queue, in the order of the calls.
    func hear(_ news: QueueNews) {
        callbacks { self.tell(news) }
    }

    private func tell(_ news: QueueNews) {
        switch news {
        case .updated(let entries):
            let transactions = lock.withLock { entries.map { update(TransactionFacts($0)) } }
            for (observer, queue) in listeners() {
                observer.paymentQueue(queue, updatedTransactions: transactions)
            }
        case .revoked(let products):
            for (observer, queue) in listeners() {
                observer.paymentQueue(
                    queue, didRevokeEntitlementsForProductIdentifiers: products)
            }
        case .storefrontChanged:
            for (observer, queue) in listeners() {
                observer.paymentQueueDidChangeStorefront(queue)
            }
        case .restoreEnded(nil):
            for (observer, queue) in listeners() {
                observer.paymentQueueRestoreCompletedTransactionsFinished(queue)
            }
        case .restoreEnded(let failure?):
            for (observer, queue) in listeners() {
                observer.paymentQueue(
                    queue, restoreCompletedTransactionsFailedWithError: failure.requestError)
            }
        case .removed(let keys):
            let transactions = lock.withLock { remove(keys) }
            guard !transactions.isEmpty else { return }
            for (observer, queue) in listeners() {
                observer.paymentQueue(queue, removedTransactions: transactions)
            }
        }
    }

    /// Reports changed downloads to the observers.
    func report(_ downloads: [SKDownload]) {
        callbacks {
            for (observer, queue) in self.listeners() {
                observer.paymentQueue(queue, updatedDownloads: downloads)
            }
        }
    }

    private func listeners() -> [(any SKPaymentTransactionObserver, SKPaymentQueue)] {
        lock.withLock {
            attachments.compactMap { attachment in
                guard let observer = attachment.observer, let queue = attachment.queue else {
                    return nil
                }
                return (observer, queue)
            }
        }
    }

    private func update(_ facts: TransactionFacts) -> SKPaymentTransaction {
        if let known = byKey[facts.key] {
            known.backing.facts = facts
            return known
        }
        let payment = SKPayment(contents: facts.payment)
        let transaction = SKPaymentTransaction(
            backing: TransactionBacking(payment: payment, facts: facts))
        live.append(transaction)
        byKey[facts.key] = transaction
        return transaction
    }

    private func remove(_ keys: [String]) -> [SKPaymentTransaction] {
        let removed = keys.compactMap { byKey.removeValue(forKey: $0) }
        guard !removed.isEmpty else { return [] }
        let gone = Set(removed.map(ObjectIdentifier.init))
        live.removeAll { gone.contains(ObjectIdentifier($0)) }
        return removed
    }
}

extension Device {
    /// This device's observers and transaction objects.
    nonisolated var backing: QueueBacking {
        listener {
            QueueBacking(
                answerMilliseconds: options.storefrontAnswerMilliseconds,
                callbacks: ports.callbacks)
        }
    }
}
