// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// What the player chooses on the store's page.
extension BeachStore {
    /// With `true`, the queue adds the payment. With `false`, nothing is charged, and the
    /// game may add the same payment later.
    func paymentQueue(
        _ queue: SKPaymentQueue, shouldAddStorePayment payment: SKPayment, for product: SKProduct
    ) -> Bool {
        guard let item = Item(productIdentifier: payment.productIdentifier) else { return false }
        if let reason = reasonNotToBuy(item) {
            onNews?(reason)
            return false
        }
        guard server.isUp else {
            keep(payment, for: item)
            return false
        }
        onNews?("Chosen in the store: \(item.name).")
        onPayment?()
        return true
    }

    /// Choosing again while the server is away adds no second payment.
    private func keep(_ payment: SKPayment, for item: Item) {
        if kept.contains(where: { $0.productIdentifier == payment.productIdentifier }) {
            onNews?("\(item.name) waits for the game's server already.")
        } else {
            kept.append(payment)
            onNews?(
                "\(awayWords) \(item.name) is bought as soon as it is there. Until then nothing "
                    + "is charged.")
        }
    }

    /// Adds the payments that were kept: the same objects, so that the store knows them.
    func serverChanged() {
        guard server.isUp else {
            onNews?(awayWords)
            return
        }
        onNews?("The game's server is there.")
        let payments = kept
        kept = []
        for payment in payments {
            guard let item = Item(productIdentifier: payment.productIdentifier) else { continue }
            if let reason = reasonNotToBuy(item) {
                onNews?(reason)
            } else {
                onPayment?()
                SKPaymentQueue.default().add(payment)
            }
        }
    }
}
