// SPDX-License-Identifier: Apache-2.0

import Foundation
import Live
import StoreWire

extension QueueBacking {
    /// Asks the delegates on the callback queue. Without an answer in time, the
    /// payment does not go on.
    func shouldContinue(_ key: String, in storefront: StorefrontDescription) async -> Bool {
        await answer { self.isContinued(key, in: storefront) }
    }

    /// Asks the delegates on the callback queue. Without an answer in time, the
    /// customer is not asked.
    func shouldShowPriceConsent() async -> Bool {
        await answer {
            self.queues.allSatisfy { queue in
                queue.delegate?.paymentQueueShouldShowPriceConsent(queue) ?? true
            }
        }
    }

    private func answer(_ body: @escaping @Sendable () -> Bool) async -> Bool {
        guard queues.contains(where: { $0.delegate != nil }) else { return true }
        let limit = Duration.milliseconds(answerMilliseconds)
        return await withCheckedContinuation { continuation in
            let answer = FirstAnswer(continuation)
            let timeOut = Task {
                do { try await Live.sleep(limit) } catch { return }
                answer.give(false)
            }
            callbacks {
                answer.give(body())
                timeOut.cancel()
            }
        }
    }

    private func isContinued(_ key: String, in storefront: StorefrontDescription) -> Bool {
        guard let transaction = transactions.first(where: { $0.key == key }) else { return true }
        let storefront = SKStorefront(storefront)
        return queues.allSatisfy { queue in
            queue.delegate?.paymentQueue(queue, shouldContinue: transaction, in: storefront)
                ?? true
        }
    }
}

/// Resumes a continuation with the first answer, and ignores later ones. A class
/// with a lock, because the answers come from different threads.
private final class FirstAnswer: @unchecked Sendable {
    private let lock = NSLock()
    private var continuation: CheckedContinuation<Bool, Never>?

    init(_ continuation: CheckedContinuation<Bool, Never>) {
        self.continuation = continuation
    }

    func give(_ answer: Bool) {
        let waiting = lock.withLock {
            defer { continuation = nil }
            return continuation
        }
        waiting?.resume(returning: answer)
    }
}
