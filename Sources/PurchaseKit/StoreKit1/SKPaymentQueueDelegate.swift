// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Decides about payments under way.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skpaymentqueuedelegate)
///
/// A conforming class must itself implement the optional methods that it needs.
public protocol SKPaymentQueueDelegate: NSObjectProtocol {
    /// Optional. Whether a payment goes on although the customer has moved to
    /// another storefront since confirming its price. If it goes on, the payment
    /// sheet shows the new price. Otherwise, or without an answer within a second,
    /// the payment fails with `storeProductNotAvailable`. The default is `true`.
    func paymentQueue(
        _ paymentQueue: SKPaymentQueue, shouldContinue transaction: SKPaymentTransaction,
        in newStorefront: SKStorefront
    ) -> Bool
    /// Optional. Whether the customer is asked about a higher price of a subscription
    /// now, when the first observer is added. If not, the app calls
    /// `showPriceConsentIfNeeded()` at a better moment. The default is `true`.
    func paymentQueueShouldShowPriceConsent(_ paymentQueue: SKPaymentQueue) -> Bool
}

extension SKPaymentQueueDelegate {
    public func paymentQueue(
        _ paymentQueue: SKPaymentQueue, shouldContinue transaction: SKPaymentTransaction,
        in newStorefront: SKStorefront
    ) -> Bool { true }
    public func paymentQueueShouldShowPriceConsent(_ paymentQueue: SKPaymentQueue) -> Bool {
        true
    }
}
