// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// Payments that ask for an offer.
extension PurchaseRoom {
    /// Returns the product with the offer that a payment would get now, and its
    /// price. Uses nothing up: not the code, and not what the merchant's server has
    /// signed. Refusals: those of the offer's form, `billingPlanUnknown`,
    /// `textInvalid`, `textTooLong`, and ``PurchaseRefusal``.
    public func quote(
        _ request: OfferQuoteRequest, _ session: DeviceSession
    ) async throws -> ProductDescription {
        let offer = try request.offer.map { try RequestedOffer($0) }
        let isCommitted = try Edge.isCommitted(request.billingPlan)
        if let product = request.productId { try Edge.text(product, "productId") }
        if let username = request.applicationUsername {
            try Edge.text(username, "applicationUsername", bytesMax: Edge.usernameBytesMax)
        }
        let product = try await product(of: offer, request, session)
        let claimant = OfferClaim.Claimant(
            customer: session.customer, bundleID: session.bundleID, purchaseID: PurchaseID(""))
        var evidence: OfferEvidence?
        if let offer {
            let question = OfferQuestion(
                offer: offer, product: product, username: request.applicationUsername,
                appTransactionID: session.appTransactionID, claimant: claimant)
            evidence = try await realm.offers.evidence(for: question, isClaiming: false)
        }
        return try await quoted(product, evidence, isCommitted: isCommitted, session)
    }

    /// Returns the product as the payment's sheet shows it.
    func quoted(
        _ id: ProductID, _ evidence: OfferEvidence?, isCommitted: Bool, _ session: DeviceSession
    ) async throws -> ProductDescription {
        let shelf = try await realm.loadShelf(for: session.customer)
        let now = session.clock.now(wall: realm.ports.wall.now)
        let (app, place) = (session.bundleID, session.storefront)
        guard
            var described = try await realm.catalogue.described(id, shelf, session, at: now)
        else { throw Self.refusal(.unknownProduct) }
        let plan = shelf.plan(id, isCommitted: isCommitted, of: app, in: place, at: now)
        let row = try await realm.read(of: session.customer) { reading in
            try plan.flatMap {
                try SubscriptionRow.find($0, of: session.customer, in: app, reading)
            }
        }
        guard
            let sale = shelf.subscriptionSale(
                plan, current: row?.subscription, evidence, of: app, in: place, at: now)
        else { throw Self.refusal(isCommitted ? .notSoldYet : .offerUnknown) }
        if let refusal = sale.refusal { throw Self.refusal(refusal) }
        described.offer = sale.offer.map(OfferDescription.init)
        // A failed renewal may cost something else than the product now.
        let isOwnPrice = sale.purchase == .recover && sale.offer == nil
        described.price = (isOwnPrice ? sale.price : sale.plan.price).amount.milliunits
        described.subscriptionPeriod = sale.plan.period.description
        described.commitmentPrice = sale.plan.commitment?.price.amount.milliunits
        return described
    }

    /// What was found out about a payment's offer before its commit.
    func evidence(
        for payment: Payment, _ key: PurchaseKey, appTransactionID: Int64, isAsked: Bool
    ) async throws -> OfferEvidence? {
        guard let offer = payment.offer else { return nil }
        let question = OfferQuestion(
            offer: offer, product: payment.productID, username: payment.applicationUsername,
            appTransactionID: appTransactionID,
            claimant: OfferClaim.Claimant(
                customer: key.customer, bundleID: key.bundleID, purchaseID: key.purchaseID,
                replaces: payment.replaces))
        return isAsked
            ? try await realm.offers.evidence(ofAsked: question)
            : try await realm.offers.evidence(for: question, isClaiming: true)
    }

    private func product(
        of offer: RequestedOffer?, _ request: OfferQuoteRequest, _ session: DeviceSession
    ) async throws -> ProductID {
        if let product = request.productId { return ProductID(product) }
        guard case .code(let text) = offer, let code = OfferCode(text: text),
            let row = try await realm.offers.code(code, of: session.bundleID)
        else { throw Self.refusal(.offerCodeInvalid) }
        return row.productID
    }

    private static func refusal(_ refusal: PurchaseRefusal) -> Refusal {
        Refusal(.conflict, refusal.wireError)
    }
}

extension OfferDescription {
    init(_ offer: AppliedOffer) {
        self.init(
            kind: offer.kind.rawValue, id: offer.id, paymentMode: offer.mode.rawValue,
            period: offer.period.description, periodCount: offer.periodsLeft + 1,
            price: offer.price.milliunits)
    }
}
