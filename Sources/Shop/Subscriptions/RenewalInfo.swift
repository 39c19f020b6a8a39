// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire

extension Realm {
    /// Signs what happens to a subscription next, dated now. `winBackOffers`: those
    /// that the customer may redeem.
    func sign(
        _ row: SubscriptionRow, winBackOffers: [String] = [], at now: Timestamp
    ) throws -> String {
        try sign(payload(row, winBackOffers: winBackOffers, at: now))
    }

    func sign(_ payload: JWSRenewalInfoDecodedPayload) throws -> String {
        ports.log(.debug, "renewal signed")
        return try authority.transactions.sign(payload)
    }

    /// The payload to sign.
    func payload(
        _ row: SubscriptionRow, winBackOffers: [String], at now: Timestamp
    ) -> JWSRenewalInfoDecodedPayload {
        var payload = row.renewalInfo(environment: description.environment, signedAt: now)
        payload.eligibleWinBackOfferIds = winBackOffers.isEmpty ? nil : winBackOffers
        return payload
    }

    /// Returns the win-back offers that a customer may redeem now: of all products
    /// of the group, the product that has expired first.
    func winBackOffers(for row: SubscriptionRow, at now: Timestamp) async throws -> [String] {
        guard row.subscription.status(at: now) == .expired else { return [] }
        let shelf = try await loadShelf(for: row.customer)
        let own = try await find(
            of: row.customer, Statement.Subscriptions.customer, [.integer(row.customer.value)])?
            .optionalText("storefront")
        guard let app = shelf.apps[row.bundleID],
            let storefront = Storefront.named(own ?? app.storefront)
        else { return [] }
        let last = row.subscription.current.productID
        let others = app.products.map(\.id).filter { $0 != last }
        return ([last] + others).flatMap { id in
            let plan = shelf.plan(id, of: row.bundleID, in: storefront, at: now)
            return plan?.groupID == row.subscription.groupID
                ? plan.map { row.subscription.winBackOffers(of: $0, at: now) } ?? [] : []
        }
    }
}

extension SubscriptionRow {
    /// Returns the renewal's payload to sign. Absent facts are left out. A member of the
    /// family, who pays nothing, has no price.
    func renewalInfo(
        environment: Environment, signedAt: Timestamp
    ) -> JWSRenewalInfoDecodedPayload {
        let renewal = subscription.renewal
        var payload = JWSRenewalInfoDecodedPayload()
        payload.originalTransactionId = subscription.originalID.description
        payload.productId = subscription.shownPeriod(at: signedAt).productID.value
        payload.autoRenewProductId = renewal.productID.value
        payload.autoRenewStatus = renewal.isOn ? 1 : 0
        payload.environment = environment.rawValue
        payload.signedDate = signedAt
        payload.recentSubscriptionStartDate = subscription.recentStart
        payload.renewalDate = subscription.end
        payload.appTransactionId = String(appTransactionID)
        payload.appAccountToken = appAccountToken
        if renewal.isOn, !isShared {
            let price = subscription.shownPrice(at: signedAt)
            payload.renewalPrice = price.amount.milliunits
            payload.currency = price.currency.code
        }
        if !subscription.hasEnded, let offer = subscription.nextShownOffer {
            payload.offerType = offer.kind.wireNumber
            payload.offerIdentifier = offer.id
            payload.offerDiscountType = offer.mode.wireName
            payload.offerPeriod = offer.period.description
        }
        if let end = subscription.current.commitmentEnd {
            state(end, renewal, at: signedAt, in: &payload)
        } else if renewal.isCommitted {
            // The first commitment begins with the next period.
            payload.renewalBillingPlanType = BillingPlan.Kind.monthly.rawValue
        }
        payload.priceIncreaseStatus = subscription.shownIncrease.map { $0.isAgreed ? 1 : 0 }
        state(subscription.state(at: signedAt), in: &payload)
        return payload
    }

    /// Until its end, a commitment is charged whatever the customer chose for the
    /// time after it. One that is over is renewed at no date.
    private func state(
        _ end: Timestamp, _ renewal: Renewal, at now: Timestamp,
        in payload: inout JWSRenewalInfoDecodedPayload
    ) {
        let plan = renewal.isCommitted ? BillingPlan.Kind.monthly : .upfront
        var info = RenewalCommitmentInfo()
        info.commitmentAutoRenewProductId = renewal.productID.value
        info.commitmentAutoRenewStatus = renewal.isOn ? 1 : 0
        info.commitmentRenewalBillingPlanType = plan.rawValue
        info.commitmentRenewalDate = subscription.hasEnded ? nil : end
        info.commitmentRenewalPrice =
            isShared ? nil : subscription.shownPrice(at: now).amount.milliunits
        payload.commitmentInfo = info
        payload.renewalBillingPlanType = plan.rawValue
        guard subscription.isCommitted else { return }
        payload.renewalBillingPlanType = BillingPlan.Kind.monthly.rawValue
        payload.autoRenewProductId = subscription.current.productID.value
        payload.autoRenewStatus = 1
        if isShared { return }
        let price = subscription.nextShownPrice(at: now)
        payload.renewalPrice = price.amount.milliunits
        payload.currency = price.currency.code
    }

    private func state(
        _ state: Subscription.State, in payload: inout JWSRenewalInfoDecodedPayload
    ) {
        switch state {
        case .active, .revoked: break
        case .unpaid(let failure):
            payload.isInBillingRetryPeriod = true
            payload.expirationIntent = Expiration.billing.intent
            payload.gracePeriodExpiresDate = failure.graceUntil
        case .expired(let reason, _):
            payload.isInBillingRetryPeriod = false
            payload.expirationIntent = reason.intent
        }
    }
}

extension Expiration {
    /// The number in signed renewals.
    /// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/expirationintent)
    var intent: Int {
        switch self {
        case .cancelled: 1
        case .billing: 2
        case .priceIncrease: 3
        case .unavailable: 4
        case .other: 5
        }
    }
}
