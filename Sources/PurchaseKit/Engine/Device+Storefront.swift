// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import StoreWire
import Synchronization

extension Device {
    /// How long ``awaitedStorefront()`` waits.
    private static let storefrontSeconds = 5

    /// Returns the customer's storefront. If no answer of the store has named it
    /// yet, asks and waits for a few seconds: nil if there is no answer by then.
    /// The device's own queue answers, so that any thread may wait.
    nonisolated func awaitedStorefront() -> StorefrontDescription? {
        if let storefront { return storefront }
        let answered = DispatchSemaphore(value: 0)
        post { device in
            Task {
                _ = try? await device.signIn()
                answered.signal()
            }
        }
        _ = answered.wait(timeout: .now() + .seconds(Self.storefrontSeconds))
        return storefront
    }

    /// Whether a payment goes on whose price the store has refused. The app decides,
    /// if the customer has moved to another storefront since the confirmation.
    func goesOn(_ entry: QueueEntry) async -> Bool {
        // A price may also change within a storefront.
        _ = try? await products(ids: [entry.payment.productID])
        guard let storefront, let country = confirmedCountries[entry.key],
            country != storefront.countryCode
        else { return true }
        for listener in listeners.withLock({ $0 }) where listener.isListening {
            guard await listener.shouldContinue(entry.key, in: storefront) else { return false }
        }
        return true
    }

    /// Asks the customer for the text of a code, and adds a payment for its product.
    /// The payment sheet then shows the price.
    nonisolated func redeemCode() {
        post { device in Task { await device.redeem() } }
    }

    private func redeem() async {
        await sheetGate.enter()
        let text = await ports.sheet.askForCode()
        await sheetGate.leave()
        guard let text, !text.isEmpty, !isClosed else { return }
        let offer = OfferRequest(kind: OfferKind.code.rawValue, code: text)
        do throws(DeviceFault) {
            let product = try await quote(OfferQuoteRequest(offer: offer))
            add(PaymentContents(productID: product.id, quantity: 1, offer: offer))
        } catch {
            await ports.sheet.notify(error.paymentFailure.message)
        }
    }
}
