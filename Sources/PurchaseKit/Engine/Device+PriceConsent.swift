// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Synchronization

/// The customer's consent to higher prices. A customer who does not agree is asked
/// again at the next launch, until the price applies and the subscription ends.
extension Device {
    /// Asks the customer about the higher prices that wait for consent. Does nothing
    /// without one.
    nonisolated func showPriceConsent() {
        post { device in Task { await device.askForConsent() } }
    }

    /// Asks once in a launch, if the store announces a higher price and the app does
    /// not want to choose the moment itself.
    func considerPriceConsent(_ session: Session) {
        guard session.asksPriceConsent, considered.insert(session.owner).inserted else { return }
        askForConsentIfWanted()
    }

    /// Asks now, unless the app wants to choose the moment itself.
    func askForConsentIfWanted() {
        Task {
            for listener in self.listeners.withLock({ $0 }) where listener.isListening {
                guard await listener.shouldShowPriceConsent() else { return }
            }
            await self.askForConsent()
        }
    }

    private func askForConsent() async {
        guard !isAskingForConsent, !isClosed else { return }
        isAskingForConsent = true
        defer { isAskingForConsent = false }
        do throws(DeviceFault) {
            let session = try await signIn()
            // Nothing consents for a customer who sees no question.
            if storeDisablesDialogs, session.environment != .production { return }
            let reply = try await call(.priceIncreases, in: session)
            guard reply.status == 200 else { throw refusal(reply) }
            let answer: PriceIncreasesResponse = try decode(reply)
            for increase in answer.increases { try await ask(increase, in: session) }
        } catch {
            ports.log("The customer was not asked about a higher price: \(error.sentence)")
        }
    }

    private func ask(
        _ increase: PriceIncreaseDescription, in session: Session
    ) async throws(DeviceFault) {
        guard let product = try await product(increase.productId),
            let contents = SheetPriceIncrease(increase, product)
        else { return }
        await sheetGate.enter()
        let answer = await ports.sheet.askForConsent(contents)
        await sheetGate.leave()
        guard answer == .confirm, !isClosed else { return }
        let body = try encode(PriceConsentRequest(price: increase.price))
        let reply = try await call(
            .consent(subscriptionID: increase.subscriptionId), in: session, body: body)
        guard reply.status == 200 else { throw refusal(reply) }
    }
}
