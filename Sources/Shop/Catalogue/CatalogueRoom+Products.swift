// SPDX-License-Identifier: Apache-2.0

import Commerce
public import StoreWire

extension CatalogueRoom {
    /// Returns the requested products of the session's app, in the order of the
    /// request, each once. Refusals: `tooManyIds`, `textInvalid`, and
    /// `simulatedError` in a sandbox that is configured for it.
    public func products(
        _ request: ProductsRequest, _ session: DeviceSession, _ context: RequestContext
    ) async throws -> ProductsResponse {
        guard request.ids.count <= ProductsRequest.idsMax else {
            throw Refusal(
                .badRequest, code: "tooManyIds", "The request names too many products.",
                field: "ids", rule: "at most \(ProductsRequest.idsMax) ids",
                remedy: "ask in several requests")
        }
        for id in request.ids { try Edge.text(id, "ids") }
        let shelf = try await realm.shelf(
            revision: session.clock.catalogueRevision, for: session.customer)
        let settings = shelf.apps[session.bundleID]?.settings
        if let error = settings?.error(of: .loadProducts) { throw Self.simulated(error) }
        let now = session.clock.now(wall: realm.ports.wall.now)
        let subscribed = try await subscribed(request.ids, shelf, session)
        let owned = try await owned(request.ids, shelf, session)
        var response = ProductsResponse(
            products: [], invalid: [], storefront: session.storefrontDescription,
            disablesDialogs: settings?.disablesDialogs == true ? true : nil)
        var seen: Set<ProductID> = []
        for id in request.ids where seen.insert(ProductID(id)).inserted {
            if var described = described(ProductID(id), shelf, session, subscribed, at: now) {
                if owned.contains(id) { described.isOwned = true }
                described.content = shelf.content(of: ProductID(id), in: session.bundleID)
                response.products.append(described)
            } else {
                let offering = shelf.offering(
                    ProductID(id), of: session.bundleID, in: session.storefront, at: now)
                response.invalid.append(
                    Self.invalid(id, offering, shelf, session.bundleID))
            }
        }
        return response
    }

    /// Returns a product as a customer sees it now. Nil if it is not offered.
    func described(
        _ id: ProductID, _ shelf: Shelf, _ session: DeviceSession, at now: Timestamp
    ) async throws -> ProductDescription? {
        described(
            id, shelf, session, try await subscribed([id.value], shelf, session), at: now)
    }

    /// `subscribed`: the customer's subscriptions.
    private func described(
        _ id: ProductID, _ shelf: Shelf, _ session: DeviceSession,
        _ subscribed: [Subscription], at now: Timestamp
    ) -> ProductDescription? {
        let (app, place) = (session.bundleID, session.storefront)
        guard let product = shelf.offered(id, of: app, in: place, at: now) else { return nil }
        var described = product.described(for: session)
        if product.type == .autoRenewable {
            let plan = shelf.plan(id, of: app, in: place, at: now)
            described.isSold = plan != nil
            let sale = shelf.subscriptionSale(
                plan, current: plan.flatMap { SubscriptionRow.find($0, among: subscribed) { $0 } },
                of: app, in: place, at: now)
            if sale?.offer?.kind == .introductory {
                described.offer = plan?.introductoryOffer?.described(as: .introductory)
            }
            described.offers = plan.map(Self.offers)
            described.monthlyPrice =
                shelf.plan(id, isCommitted: true, of: app, in: place, at: now)?
                .price.amount.milliunits
        }
        return described
    }

    /// The offers that apps show. Codes are not shown.
    private static func offers(_ plan: SubscriptionPlan) -> [OfferDescription] {
        [OfferKind.introductory, .promotional, .winBack].flatMap { kind in
            let offers =
                kind == .introductory
                ? [plan.introductoryOffer].compactMap(\.self) : plan.redeemableOffers[kind] ?? []
            return offers.map { $0.described(as: kind) }
        }
    }

    /// Returns the customer's subscriptions. Asks only if one of the products
    /// has an introductory offer, which depends on them.
    private func subscribed(
        _ ids: [String], _ shelf: Shelf, _ session: DeviceSession
    ) async throws -> [Subscription] {
        let listed = shelf.apps[session.bundleID]?.byID
        guard ids.contains(where: { listed?[ProductID($0)]?.hasIntroduction == true }) else {
            return []
        }
        return try await realm.subscriptions.all(of: session.customer, in: session.bundleID)
    }

    /// Returns the products that the customer owns. Asks only if one of the requested
    /// ones can be owned.
    private func owned(
        _ ids: [String], _ shelf: Shelf, _ session: DeviceSession
    ) async throws -> Set<String> {
        let listed = shelf.apps[session.bundleID]?.byID
        guard ids.contains(where: { listed?[ProductID($0)]?.product.type == .nonConsumable }) else {
            return []
        }
        return try await realm.purchases.owned(by: session.customer, in: session.bundleID)
    }

    private static func simulated(_ error: SimulatedError) -> Refusal {
        Refusal(
            .conflict, code: "simulatedError",
            "This sandbox is configured to make \(error.call.rawValue) fail: \(error.word).",
            rule: "settings._storeKitErrors of the app's catalogue file",
            remedy: "switch the simulated error off")
    }

    /// Returns the reason for an id without a product. A sandbox explains it to
    /// the developer. Production does not reveal unpublished products.
    private static func invalid(
        _ id: String, _ offering: Offering, _ shelf: Shelf, _ bundleID: BundleID
    ) -> InvalidProduct {
        if offering != .unknown, !shelf.isProduction {
            return InvalidProduct(id: id, reason: offering.words)
        }
        let sold = shelf.apps[bundleID]?.products ?? []
        let listed = shelf.isProduction ? [] : sold.prefix(5)
        let known = listed.map { "`\($0.id)`" }.joined(separator: ", ")
        if sold.isEmpty {
            return InvalidProduct(
                id: id, reason: "the app `\(bundleID)` sells nothing at this store")
        }
        let reason = "the app `\(bundleID)` has no product of this id"
        return InvalidProduct(id: id, reason: known.isEmpty ? reason : "\(reason); it has \(known)")
    }
}

extension Offering {
    /// A sentence for the editors of the catalogue.
    var words: String {
        switch self {
        case .unknown: "there is no product with this id"
        case .removed: "the product was removed, and its id is spent"
        case .withdrawn: "the product was withdrawn: its catalogue file names it no more"
        case .draft: "the product is a draft, which is not offered"
        case .notApproved: "the product is ready but not approved, which production requires"
        case .awaitsVersion:
            "the app's first product goes live with a version of the app that it comes with"
        case .purchasesNotEnabled: "purchases are not enabled for the app"
        case .noPriceHere: "the product is not sold in this storefront, or has no price there yet"
        case .offered: "the product is sold"
        }
    }
}

extension Product {
    /// Returns the product as a customer in the session's storefront sees it.
    func described(for session: DeviceSession) -> ProductDescription {
        let words = localization(for: session.locale)
        let currency = session.storefront.currency.code
        return ProductDescription(
            id: id.value, type: type.name, displayName: words?.displayName ?? "",
            description: words?.details ?? "", price: price.milliunits, currency: currency,
            priceLocale: session.storefront.priceLocale(ofWords: words?.locale ?? session.locale),
            isFamilyShareable: isFamilyShareable, subscriptionGroupIdentifier: groupID,
            subscriptionPeriod: period, isSold: true)
    }
}

extension ListedProduct {
    fileprivate var hasIntroduction: Bool { terms?.introductoryOffers.isEmpty == false }
}

extension Offer {
    /// The offer on the wire.
    fileprivate func described(as kind: OfferKind) -> OfferDescription {
        OfferDescription(
            kind: kind.rawValue, id: kind == .introductory ? nil : name(as: kind),
            paymentMode: mode.rawValue, period: period.description, periodCount: periodCount,
            price: price.milliunits)
    }
}

extension ProductType {
    /// The name in signed transactions.
    /// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/type)
    var name: String {
        switch self {
        case .consumable: "Consumable"
        case .nonConsumable: "Non-Consumable"
        case .autoRenewable: "Auto-Renewable Subscription"
        case .nonRenewing: "Non-Renewing Subscription"
        }
    }
}
