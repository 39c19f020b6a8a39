// SPDX-License-Identifier: Apache-2.0

import Foundation
import Live
import PurchaseKit
import StoreWire

/// The observer of one payment, which waits for its outcome.
final class Buyer: NSObject, SKPaymentTransactionObserver, @unchecked Sendable {
    private let queue: SKPaymentQueue
    private let files: WatchedFiles
    private let finishes: Bool
    private let outcomes: AsyncStream<Result<String, Failure>>
    private let continuation: AsyncStream<Result<String, Failure>>.Continuation
    private let lock = NSLock()
    /// The key of the payment's own transaction.
    private var own: String?
    /// The result, which is returned once the transaction has left the queue.
    private var outcome: Result<String, Failure>?

    init(device: Device, files: WatchedFiles, finishes: Bool) {
        queue = SKPaymentQueue(device: device)
        self.files = files
        self.finishes = finishes
        (outcomes, continuation) = AsyncStream.makeStream()
        super.init()
    }

    /// Returns the transaction's number. Transactions of earlier payments in
    /// the queue are ignored.
    func buy(_ payment: SKPayment, timeout: TimeLimit) async throws -> String {
        queue.add(self)
        // Nothing is reported before the key is known.
        lock.withLock { own = queue.addForKey(payment) }
        let late = Task {
            try await Live.sleep(timeout.duration)
            continuation.yield(.failure(unanswered(timeout)))
        }
        defer {
            late.cancel()
            queue.remove(self)
        }
        for await outcome in outcomes { return try outcome.get() }
        throw Failure(.bug, "bug", "There was no outcome.")
    }

    func paymentQueue(
        _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions {
            let isOwn = isOwn(transaction)
            switch transaction.transactionState {
            case .purchased where isOwn: sold(transaction, queue)
            case .failed where isOwn: failed(transaction, queue)
            case .deferred where isOwn: continuation.yield(.failure(Self.deferred))
            // A failure from an earlier run that ended before finishing it.
            case .failed: queue.finishTransaction(transaction)
            default: break
            }
        }
    }

    func paymentQueue(
        _ queue: SKPaymentQueue, removedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions where isOwn(transaction) {
            guard let outcome = lock.withLock({ outcome }) else { continue }
            continuation.yield(outcome)
        }
    }

    private func isOwn(_ transaction: SKPaymentTransaction) -> Bool {
        lock.withLock { own == transaction.key }
    }

    private func sold(_ transaction: SKPaymentTransaction, _ queue: SKPaymentQueue) {
        guard let id = transaction.transactionIdentifier else { return }
        guard finishes else {
            continuation.yield(.success(id))
            return
        }
        lock.withLock { outcome = .success(id) }
        queue.finishTransaction(transaction)
    }

    private func failed(_ transaction: SKPaymentTransaction, _ queue: SKPaymentQueue) {
        let error = transaction.error as? SKError
        let isNetwork = error?.userInfo[NSUnderlyingErrorKey] is URLError
        let message = transaction.error?.localizedDescription ?? "The purchase failed."
        let failure =
            if transaction.isDiskFault {
                unusable(message, rule: "nothing was sent to the store, and nothing is charged")
            } else {
                error?.storeRefusal.map { Failure(.no, WireError($0)) }
                    ?? Failure(isNetwork ? .unavailable : .no, "purchaseFailed", message)
            }
        lock.withLock { outcome = .failure(failure) }
        queue.finishTransaction(transaction)
    }

    // MARK: Failures

    /// An approval may take hours, so the command does not wait. The payment
    /// stays queued.
    private static let deferred = Failure(
        .no, "deferred", "The purchase waits for approval.",
        rule: "the payment stays queued, and is delivered when it is approved",
        remedy: "`shopkeeper purchase list --waiting`, then `shopkeeper approve PURCHASE`")

    /// What is known at the end of the time-out.
    private func unanswered(_ timeout: TimeLimit) -> Failure {
        switch lock.withLock({ outcome }) {
        case .failure(let failure): return failure
        case .success(let id):
            return unusable(
                "The purchase was made (transaction \(id)), but not finished: "
                    + "\(files.fault ?? "the device did not record it").",
                rule: "the device delivers the transaction again")
        case nil: break
        }
        if let fault = files.fault {
            return unusable(
                "The device waits for its own files: \(fault).",
                rule: "a payment that is in the queue stays there and is asked again")
        }
        return Failure(
            .no, "unanswered", "The store has not answered in \(timeout) seconds.",
            rule: "the payment stays queued and is asked again",
            remedy: "run the same command again later")
    }

    private func unusable(_ message: String, rule: String) -> Failure {
        Failure(
            .taken, "deviceFilesUnusable", message, field: "--data", rule: rule,
            remedy: "mend what the message names, or remove it, and run the same command again")
    }
}

extension WireError {
    /// Makes a failure with the store's own texts.
    fileprivate init(_ refusal: StoreRefusal) {
        self.init(
            code: refusal.code, message: refusal.message, field: refusal.field,
            rule: refusal.rule, remedy: refusal.remedy)
    }
}
