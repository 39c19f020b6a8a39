// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import Synchronization

/// Lines that were written, and a way to wait for one.
final class Diary: Sendable {
    private struct State {
        var lines: [String] = []
        var waiters:
            [(test: @Sendable ([String]) -> Bool, wake: CheckedContinuation<Void, Never>)] =
                []
    }

    private let state = Mutex(State())

    var lines: [String] { state.withLock { $0.lines } }

    func write(_ line: String) {
        let woken = state.withLock { state in
            state.lines.append(line)
            let lines = state.lines
            let woken = state.waiters.filter { $0.test(lines) }.map(\.wake)
            state.waiters.removeAll { $0.test(lines) }
            return woken
        }
        for waiter in woken { waiter.resume() }
    }

    func wait(until test: @escaping @Sendable ([String]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if test(state.lines) { return true }
                state.waiters.append((test, continuation))
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// Waits for a line that begins so.
    func wait(for prefix: String, count: Int = 1) async {
        await wait { $0.filter { $0.hasPrefix(prefix) }.count >= count }
    }
}

/// An observer that keeps a diary, and finishes what it is told to.
final class DiaryObserver: NSObject, SKPaymentTransactionObserver, @unchecked Sendable {
    let diary: Diary
    let finishes: Bool
    private let lock = NSLock()
    private var seen: [SKPaymentTransaction] = []

    init(finishes: Bool = false, diary: Diary = Diary()) {
        self.finishes = finishes
        self.diary = diary
    }

    var transactions: [SKPaymentTransaction] { lock.withLock { seen } }

    func paymentQueue(
        _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions {
            lock.withLock { seen.append(transaction) }
            diary.write(Self.line(transaction))
            if finishes, [.purchased, .failed].contains(transaction.transactionState) {
                queue.finishTransaction(transaction)
            }
        }
    }

    func paymentQueue(
        _ queue: SKPaymentQueue, removedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions {
            diary.write("removed \(transaction.payment.productIdentifier)")
        }
    }

    static func line(_ transaction: SKPaymentTransaction) -> String {
        let product = transaction.payment.productIdentifier
        switch transaction.transactionState {
        case .purchasing: return "purchasing \(product)"
        case .purchased: return "purchased \(product) \(transaction.transactionIdentifier ?? "-")"
        case .failed:
            let code = (transaction.error as? SKError)?.code.rawValue ?? -1
            return "failed \(product) \(code)"
        case .deferred: return "deferred \(product)"
        default: return "unknown \(product)"
        }
    }
}
