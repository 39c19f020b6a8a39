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
    /// Of downloads whose transaction is reported next.
    private var known: [String: DownloadFacts] = [:]

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
        case .downloadsKnown(let facts):
            lock.withLock { for facts in facts { known[facts.key] = facts } }
        case .downloads(let facts):
            tell(lock.withLock { facts.compactMap(download) })
        case .downloadLost(let key, let failure):
            let lost = lock.withLock { byKey[key]?.backing.downloads ?? [] }
            for download in lost { download.fail(failure) }
            tell(lost)
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

    /// Reports downloads that cannot be started to the observers.
    func report(_ downloads: [SKDownload], _ failure: PaymentFailure) {
        callbacks {
            for download in downloads { download.fail(failure) }
            self.tell(downloads)
        }
    }

    private func tell(_ downloads: [SKDownload]) {
        guard !downloads.isEmpty else { return }
        for (observer, queue) in listeners() {
            observer.paymentQueue(queue, updatedDownloads: downloads)
        }
    }

    /// Whether a download is that of a transaction in this queue.
    func holds(_ download: SKDownload) -> Bool {
        guard let key = download.key else { return false }
        return lock.withLock {
            byKey[key]?.backing.downloads.contains { $0 === download } == true
        }
    }

    /// Takes up the facts of a download. Nil if its transaction is not in the queue.
    private func download(_ facts: DownloadFacts) -> SKDownload? {
        guard let transaction = byKey[facts.key] else { return nil }
        if let known = transaction.backing.downloads.first {
            known.take(facts)
            return known
        }
        let download = SKDownload(facts, of: transaction)
        transaction.backing.downloads = [download]
        return download
    }

    func listeners() -> [(any SKPaymentTransactionObserver, SKPaymentQueue)] {
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
        defer { takeUpDownload(facts.key) }
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

    private func takeUpDownload(_ key: String) {
        if let facts = known.removeValue(forKey: key) { _ = download(facts) }
    }

    private func remove(_ keys: [String]) -> [SKPaymentTransaction] {
        let removed = keys.compactMap { byKey.removeValue(forKey: $0) }
        // A download and its transaction refer to each other.
        for transaction in removed { transaction.backing.downloads = [] }
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
