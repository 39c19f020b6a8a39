// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// Chooses the moment for the question whether the reader consents to a higher price:
/// not at the launch, but when the reader asks for it or opens the menu.
final class ConsentMoment: NSObject, SKPaymentQueueDelegate {
    func paymentQueueShouldShowPriceConsent(_ paymentQueue: SKPaymentQueue) -> Bool { false }

    /// A reader who has moved pays in the new storefront.
    func paymentQueue(
        _ paymentQueue: SKPaymentQueue, shouldContinue transaction: SKPaymentTransaction,
        in newStorefront: SKStorefront
    ) -> Bool { true }
}
