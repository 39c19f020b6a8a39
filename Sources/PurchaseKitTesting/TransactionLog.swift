// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import PurchaseKit

/// An observer that records what it is notified of, and lets a test wait for
/// more. A class with a lock: it is called on the callback queue and read
/// elsewhere.
public final class TransactionLog: NSObject, SKPaymentTransactionObserver, @unchecked Sendable {
    /// One call of an observer for one transaction.
    public struct Entry: @unchecked Sendable {
        public let transaction: SKPaymentTransaction
        /// The state at the time of the call. Nil if the transaction was
        /// removed.
        public let state: SKPaymentTransactionState?
    }

    /// Everything that was reported.
    private struct Told {
        var entries: [Entry] = []
        var lost: [String] = []
        /// The ends of restores, each with the error of one that failed.
        var ends: [(any Error)?] = []
    }

    private struct Waiter {
        let isEnough: (Told) -> Bool
        let continuation: CheckedContinuation<Void, any Error>
    }

    private let lock = NSLock()
    private var told = Told()
    private var waiters: [Int: Waiter] = [:]
    private var waiterCount = 0
    private var isListening = false

    /// All calls so far, oldest first.
    public var entries: [Entry] { lock.withLock { told.entries } }

    /// Returns the transactions that were reported in a state, oldest first.
    public func transactions(_ state: SKPaymentTransactionState) -> [SKPaymentTransaction] {
        entries.filter { $0.state == state }.map(\.transaction)
    }

    /// Waits for the first transaction that is reported in a state. Throws
    /// `CancellationError` if the task is cancelled before.
    public func first(_ state: SKPaymentTransactionState) async throws -> SKPaymentTransaction {
        try await all(state, count: 1)[0]
    }

    /// Waits for the first `count` transactions that are reported in a state.
    public func all(
        _ state: SKPaymentTransactionState, count: Int
    ) async throws -> [SKPaymentTransaction] {
        try await until { $0.entries.count { $0.state == state } >= count }
        return Array(transactions(state).prefix(count))
    }

    /// Waits for the first `count` products that the store has revoked. The same one
    /// may come again.
    public func revoked(count: Int = 1) async throws -> [String] {
        try await until { $0.lost.count >= count }
        return lock.withLock { Array(told.lost.prefix(count)) }
    }

    /// The products that the store has revoked so far.
    public var lostProducts: [String] { lock.withLock { told.lost } }

    /// Waits for the end of the first `count` restores. Throws the error of the last
    /// of them if it failed.
    public func restoreEnded(count: Int = 1) async throws {
        try await until { $0.ends.count >= count }
        if let error = lock.withLock({ told.ends[count - 1] }) { throw error }
    }

    /// How many restores have ended.
    public var restoreEnds: Int { lock.withLock { told.ends.count } }

    /// Returns when `count` transactions have left the queue.
    public func removed(count: Int = 1) async throws {
        try await until { $0.entries.count { $0.state == nil } >= count }
    }

    public func paymentQueue(
        _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        note {
            $0.entries += transactions.map { Entry(transaction: $0, state: $0.transactionState) }
        }
    }

    public func paymentQueue(
        _ queue: SKPaymentQueue, removedTransactions transactions: [SKPaymentTransaction]
    ) {
        note { $0.entries += transactions.map { Entry(transaction: $0, state: nil) } }
    }

    public func paymentQueueRestoreCompletedTransactionsFinished(_ queue: SKPaymentQueue) {
        note { $0.ends.append(nil) }
    }

    public func paymentQueue(
        _ queue: SKPaymentQueue, restoreCompletedTransactionsFailedWithError error: any Error
    ) {
        note { $0.ends.append(error) }
    }

    public func paymentQueue(
        _ queue: SKPaymentQueue,
        didRevokeEntitlementsForProductIdentifiers productIdentifiers: [String]
    ) {
        note { $0.lost += productIdentifiers }
    }

    func listen(to queue: SKPaymentQueue) {
        let isNew = lock.withLock {
            defer { isListening = true }
            return !isListening
        }
        if isNew { queue.add(self) }
    }

    private func note(_ change: (inout Told) -> Void) {
        let woken = lock.withLock {
            change(&told)
            let ready = waiters.filter { $0.value.isEnough(told) }
            for number in ready.keys { waiters[number] = nil }
            return ready.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    private func until(_ isEnough: @escaping (Told) -> Bool) async throws {
        let number = lock.withLock {
            waiterCount += 1
            return waiterCount
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                wait(number, Waiter(isEnough: isEnough, continuation: continuation))
            }
        } onCancel: {
            giveUp(number)
        }
    }

    private func wait(_ number: Int, _ waiter: Waiter) {
        let isOver = lock.withLock {
            if waiter.isEnough(told) || Task.isCancelled { return true }
            waiters[number] = waiter
            return false
        }
        guard isOver else { return }
        if Task.isCancelled {
            waiter.continuation.resume(throwing: CancellationError())
        } else {
            waiter.continuation.resume()
        }
    }

    private func giveUp(_ number: Int) {
        let waiter = lock.withLock { waiters.removeValue(forKey: number) }
        waiter?.continuation.resume(throwing: CancellationError())
    }
}
