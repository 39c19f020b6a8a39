// SPDX-License-Identifier: Apache-2.0

import StoreWire
import Synchronization

/// What an app says to a payment that began outside of it.
enum StorePaymentAnswer: Sendable {
    /// The payment is added.
    case add
    /// The app may add the payment later.
    case later
    /// Nothing in the app takes such payments.
    case noHandler
}

/// What is reported to the store.
enum IntentOutcome: String, Sendable {
    case continued, deferred, cancelled, noHandler
}

extension StorePaymentAnswer {
    var outcome: IntentOutcome {
        switch self {
        case .add: .continued
        case .later: .deferred
        case .noHandler: .noHandler
        }
    }
}

/// Purchases that the customer began outside of the app, for example on the store's
/// page. The app decides about each, and the device reports the
/// decision to the store.
extension Device {
    /// Takes up the choices that wait, once in a launch for each customer, if the store
    /// announces some.
    func considerIntents(_ session: Session) {
        guard session.hasPurchaseIntents, consideredIntents.insert(session.owner).inserted
        else { return }
        takeUpIntents()
    }

    /// Takes up the choices that wait. A call during another one is made after it.
    func takeUpIntents() {
        guard intentTask == nil else {
            mustTakeUpIntents = true
            return
        }
        intentTask = Task {
            var failures = 0
            repeat {
                self.mustTakeUpIntents = false
                let wakes = self.wakeCount
                guard await self.takeUpIntentsOnce() else {
                    self.mustTakeUpIntents = true
                    await self.nap(failures, since: wakes)
                    failures += 1
                    continue
                }
            } while self.mustTakeUpIntents && !self.isClosed && self.isHeard
            self.intentTask = nil
        }
    }

    /// Returns false if the store is to be asked again.
    private func takeUpIntentsOnce() async -> Bool {
        do throws(DeviceFault) {
            let session = try await signIn()
            let reply = try await call(.claimIntents, in: session)
            guard reply.status == 200 else { throw refusal(reply) }
            let answer: PurchaseIntentsResponse = try decode(reply)
            for intent in answer.intents { try await take(intent, in: session) }
            // What an observer was not asked about is taken up when there is one again.
            if !isHeard { consideredIntents.remove(session.owner) }
            return true
        } catch {
            sayOnce("A purchase that began in the store waits: \(error.sentence)")
            if case .refused = error { return true }
            return isClosed || Task.isCancelled
        }
    }

    /// The payment is written down before the decision is reported, so that a crash in between
    /// loses nothing. It has the choice's own id, so that it is not bought twice.
    private func take(
        _ intent: PurchaseIntentDescription, in session: Session
    ) async throws(DeviceFault) {
        guard !isClosed, isHeard else { return }
        let id = intent.intentId
        if let known = entry(id) {
            try takeOver(known)
            return try await report(.continued, of: id, in: session)
        }
        guard let product = try await product(intent.productId) else {
            return try await report(.cancelled, of: id, in: session)
        }
        let payment = PaymentContents(productID: product.id, quantity: 1, intentID: id)
        let decision: StorePaymentAnswer
        if let known = intentDecisions[id] {
            decision = known
        } else {
            decision = await answer(to: payment, product)
            guard !isClosed else { return }
            intentDecisions[id] = decision
            if decision == .add { enqueue(payment, key: id) }
        }
        try await report(decision.outcome, of: id, in: session)
        intentDecisions[id] = nil
    }

    private func answer(
        to payment: PaymentContents, _ product: ProductDescription
    ) async -> StorePaymentAnswer {
        for listener in listeners.withLock({ $0 }) where listener.isListening {
            let answer = await listener.shouldAddStorePayment(payment, for: product)
            if answer != .noHandler { return answer }
        }
        return .noHandler
    }

    private func report(
        _ outcome: IntentOutcome, of id: String, in session: Session
    ) async throws(DeviceFault) {
        let body = try encode(PurchaseIntentOutcome(outcome: outcome.rawValue))
        let reply = try await call(.decideIntent(id: id), in: session, body: body)
        guard reply.status == 200 || reply.status == 404 else { throw refusal(reply) }
    }
}
