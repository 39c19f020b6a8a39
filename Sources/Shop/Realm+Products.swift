// SPDX-License-Identifier: Apache-2.0

import Commerce
public import StoreWire

extension Realm {
    /// The products of the session's app that are asked for, in the order of
    /// asking, each once. Refusals: `tooManyIds`, `textInvalid`.
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
        let shelf = try await shelf(revision: session.clock.catalogueRevision)
        let app = shelf.apps[session.bundleID]
        var response = ProductsResponse(
            products: [], invalid: [], storefront: session.storefrontDescription)
        var seen: Set<String> = []
        for id in request.ids where seen.insert(id).inserted {
            if let product = app?.byID[ProductID(id)] {
                response.products.append(product.described(for: session))
            } else {
                response.invalid.append(Self.invalid(id, app, session.bundleID))
            }
        }
        return response
    }

    private static func invalid(
        _ id: String, _ app: Shelf.App?, _ bundleID: BundleID
    ) -> InvalidProduct {
        let known = app?.products.prefix(5).map { "`\($0.id)`" }.joined(separator: ", ") ?? ""
        let reason =
            known.isEmpty
            ? "the app `\(bundleID)` sells nothing at this store"
            : "the app `\(bundleID)` has no product of this id; it has \(known)"
        return InvalidProduct(id: id, reason: reason)
    }
}

extension Product {
    /// How a customer of the session's storefront sees the product.
    func described(for session: DeviceSession) -> ProductDescription {
        let words = localization(for: session.locale)
        let currency = session.storefront.currency.code
        let language = Self.language(of: words?.locale ?? session.locale)
        return ProductDescription(
            id: id.value, type: type.name, displayName: words?.displayName ?? "",
            description: words?.details ?? "", price: price.milliunits, currency: currency,
            priceLocale: "\(language)_\(session.storefront.region)@currency=\(currency)",
            isFamilyShareable: isFamilyShareable, subscriptionGroupIdentifier: groupID,
            subscriptionPeriod: period, isSold: type == .consumable || type == .nonConsumable)
    }

    /// Language and script of a locale: `en` of `en_US`, `zh_Hans` of `zh_Hans_CN`.
    private static func language(of locale: String) -> String {
        let parts = locale.split(separator: "_")
        let script = parts.dropFirst().first { $0.count == 4 }
        return [parts.first.map(String.init) ?? "en", script.map(String.init)]
            .compactMap { $0 }.joined(separator: "_")
    }
}

extension ProductType {
    /// The word for it in signed transactions.
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
