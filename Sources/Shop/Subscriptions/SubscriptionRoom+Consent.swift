// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// The customer's consent to a higher price, on a device.
extension SubscriptionRoom {
    /// Returns the higher prices that wait for the consent of a session's customer.
    public func priceIncreases(_ session: DeviceSession) async throws -> PriceIncreasesResponse {
        PriceIncreasesResponse(
            increases: try await waiting(session.customer, session.bundleID).compactMap {
                $0.waitingIncrease
            })
    }

    /// Whether a higher price waits for the customer's consent.
    func asksForConsent(_ customer: CustomerID, _ app: BundleID) async throws -> Bool {
        try await !waiting(customer, app).isEmpty
    }

    /// Records the customer's consent to the price that the device showed. Refusals,
    /// in order: `subscriptionNotFound`, `subscriptionEnded`, `noPriceIncrease`, also
    /// for another price.
    public func consent(
        to request: PriceConsentRequest, for id: String, _ session: DeviceSession,
        _ context: RequestContext
    ) async throws -> PriceConsentResponse {
        let found = try await row(id)
        guard found.customer == session.customer, found.bundleID == session.bundleID else {
            throw Self.subscriptionNotFound
        }
        try await change(id, nil, context) { change in
            let subscription = change.subscription
            if let increase = subscription.shownIncrease,
                increase.price.amount.milliunits != request.price
            {
                throw SubscriptionRefusal.noIncrease
            }
            return try subscription.answeringIncrease(true, at: change.now, cause: .customer)
        }
        return PriceConsentResponse(
            subscriptionId: found.subscription.originalID.description, price: request.price)
    }

    private func waiting(_ customer: CustomerID, _ app: BundleID) async throws
        -> [SubscriptionRow]
    {
        let values: [SQLValue] = [.integer(customer.value), .text(app.value)]
        return try await realm.read(of: customer) {
            try $0.query(Statement.Subscriptions.ofApp, values).map(SubscriptionRow.init(row:))
        }.filter { $0.waitingIncrease != nil }
    }
}

extension SubscriptionRow {
    /// The higher price that the customer has neither accepted nor refused. Nil if
    /// the subscription ends anyway, or if the customer has chosen another product or plan.
    fileprivate var waitingIncrease: PriceIncreaseDescription? {
        guard let increase = subscription.shownIncrease, !increase.isAgreed,
            !subscription.hasEnded, subscription.renewal.isOn
        else { return nil }
        return PriceIncreaseDescription(
            subscriptionId: subscription.originalID.description,
            productId: subscription.renewal.productID.value,
            presentPrice: subscription.renewal.price.amount.milliunits,
            price: increase.price.amount.milliunits, currency: increase.price.currency.code,
            startDate: increase.startsAt)
    }
}
