// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import Synchronization
import TestSupport
import Testing

/// Lines that were written, and a way to wait for one.
final class Diary: Sendable {
    private let state = Mutex<[String]>([])

    var lines: [String] { state.withLock { $0 } }

    func write(_ line: String) { state.withLock { $0.append(line) } }

    func wait(
        until test: ([String]) -> Bool, _ what: String = "other lines in the diary",
        at place: SourceLocation = .here()
    ) async {
        await until(what, seen: "\(lines)", at: place) { test(lines) }
    }

    /// Waits for lines that begin so.
    func wait(
        for prefix: String, count: Int = 1, at place: SourceLocation = .here()
    ) async {
        let what = "\(count == 1 ? "a line" : "\(count) lines") beginning with “\(prefix)”"
        await wait(until: { $0.count { $0.hasPrefix(prefix) } >= count }, what, at: place)
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
            if finishes, [.purchased, .failed, .restored].contains(transaction.transactionState) {
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

    func paymentQueueRestoreCompletedTransactionsFinished(_ queue: SKPaymentQueue) {
        diary.write("restore finished")
    }

    func paymentQueue(
        _ queue: SKPaymentQueue, restoreCompletedTransactionsFailedWithError error: any Error
    ) {
        diary.write("restore failed \((error as NSError).code)")
    }

    func paymentQueueDidChangeStorefront(_ queue: SKPaymentQueue) {
        diary.write("storefront \(queue.storefront?.countryCode ?? "-")")
    }

    static func line(_ transaction: SKPaymentTransaction) -> String {
        let product = transaction.payment.productIdentifier
        switch transaction.transactionState {
        case .purchasing: return "purchasing \(product)"
        case .purchased: return "purchased \(product) \(transaction.transactionIdentifier ?? "-")"
        case .failed:
            let code = transaction.error.map { ($0 as NSError).code } ?? -1
            return "failed \(product) \(code)"
        case .deferred: return "deferred \(product)"
        case .restored:
            return "restored \(product) \(transaction.original?.transactionIdentifier ?? "-")"
        default: return "unknown \(product)"
        }
    }
}
