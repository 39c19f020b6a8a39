// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire
import Synchronization

extension QueueBacking {
    /// Asks the observers in turn on the callback queue. The first that does not leave the
    /// method out decides. The app may take its time: the customer waits for nothing.
    func shouldAddStorePayment(
        _ contents: PaymentContents, for product: ProductDescription
    ) async -> StorePaymentAnswer {
        await withCheckedContinuation { continuation in
            callbacks {
                continuation.resume(returning: self.decide(contents, product))
            }
        }
    }

    private func decide(
        _ contents: PaymentContents, _ product: ProductDescription
    ) -> StorePaymentAnswer {
        let product = SKProduct(description: product)
        let payment = SKPayment(contents: contents)
        for (observer, queue) in listeners() {
            let isAdded = observer.paymentQueue(
                queue, shouldAddStorePayment: payment, for: product)
            if isAdded {
                // The queue adds it. What the app adds itself is another payment.
                payment.contents.intentID = nil
                return .add
            }
            let isUnhandled = queue.isStorePaymentUnhandled.withLock { mark in
                defer { mark = false }
                return mark
            }
            if !isUnhandled { return .later }
        }
        return .noHandler
    }
}
