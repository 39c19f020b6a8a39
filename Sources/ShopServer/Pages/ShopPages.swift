// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import HTTPShell
import Hummingbird
import PriceText
import Shop
import StoreWire

/// The pages that everyone sees: today's apps, the search, and a page for each app.
struct ShopPages: Sendable {
    private let visit: PageVisit

    init(_ visit: PageVisit) { self.visit = visit }

    /// How many apps a page shows at most.
    private static let appsMax = 100
    private static let queryCharactersMax = 100
    /// How many reviews an app's page shows at most: the newest.
    private static let reviewsMax = 50

    /// The featured apps in their order, then the others. Each has its first promoted
    /// product, or its first one.
    func today() async throws -> Response {
        let apps = try await window().apps.filter { !$0.products.isEmpty }
        let featured = apps.filter { $0.featured != nil }
            .sorted { ($0.featured ?? 0, $0.bundleID) < ($1.featured ?? 0, $1.bundleID) }
        let all = featured + apps.filter { $0.featured == nil }
        var cards: [[String: Any]] = []
        for (place, app) in all.prefix(Self.appsMax).enumerated() {
            var facts = facts(app, place)
            let (promoted, rest) = try await arranged(app)
            facts["product"] = promoted.first ?? rest.first
            cards.append(facts)
        }
        return try visit.page(
            "today", title: "Today",
            [
                "featured": Array(cards.prefix(featured.count)),
                "others": Array(cards.dropFirst(featured.count)),
                "hasFeatured": !featured.isEmpty,
                "hasMore": !featured.isEmpty && cards.count > featured.count,
                "isEmpty": cards.isEmpty,
            ])
    }

    /// The apps whose name contains the text, and the products of others that do.
    func search() async throws -> Response {
        let query = String((visit.call.query("q") ?? "").prefix(Self.queryCharactersMax))
        let words = query.split(separator: " ").map { folded(String($0)) }
        var found: [[String: Any]] = []
        var count = 0
        for app in try await window().apps where !words.isEmpty {
            let isNamed = Self.contains(words, folded(app.name))
            let products = app.products.filter {
                isNamed || Self.contains(words, folded("\(app.name) \($0.name) \($0.details)"))
            }
            guard isNamed || !products.isEmpty, found.count < Self.appsMax else { continue }
            count += products.count
            var facts = facts(app, found.count)
            facts["products"] = products.map { self.facts($0, of: app) }
            found.append(facts)
        }
        let answer =
            words.isEmpty
            ? "Enter a word from the name of an app or a product."
            : "\(count) \(count == 1 ? "product" : "products") found for"
        return try visit.page(
            "search", title: "Search",
            [
                "apps": found, "answer": answer, "query": query, "isAnswered": !words.isEmpty,
                "asked": query.shown,
            ])
    }

    func app() async throws -> Response {
        guard let app = try await window().app(visit.parts[0]) else { throw Self.noApp }
        var facts = facts(app, 0)
        let (promoted, rest) = try await arranged(app)
        facts["hasPromoted"] = !promoted.isEmpty
        facts["promoted"] = promoted
        facts["products"] = rest
        facts["isEmpty"] = app.products.isEmpty
        let shown = try await visit.realm.reviews.shown(app.bundleID, limit: Self.reviewsMax)
        facts["rating"] = shown.words
        facts["reviews"] = shown.reviews.map(\.facts)
        return try visit.page("app", title: app.name.shown, facts)
    }

    /// The promoted products in the visitor's order, and the others.
    private func arranged(
        _ app: ShopWindowApp
    ) async throws -> (promoted: [[String: Any]], rest: [[String: Any]]) {
        let order = try await visit.realm.visitors.promoted(in: app.bundleID, visit.visitor)
        let byID = Dictionary(app.products.map { ($0.id, $0) }) { first, _ in first }
        let promoted = order.compactMap { byID[$0] }.map { product in
            var facts = facts(product, of: app)
            facts["image"] =
                "\(visit.base)/store/apps/\(app.bundleID.pathEncoded)/promotions/"
                + product.id.pathEncoded
            facts["isForSigningIn"] = visit.visitor == nil
            if visit.visitor != nil {
                facts["choice"] =
                    "\(visit.base)/store/apps/\(app.bundleID.pathEncoded)/choices/"
                    + product.id.pathEncoded
            }
            return facts
        }
        let isPromoted = Set(order)
        return (
            promoted, app.products.filter { !isPromoted.contains($0.id) }.map { facts($0, of: app) }
        )
    }

    /// The picture of a promoted product that the visitor sees.
    func promotionImage() async throws -> Response {
        let (app, product) = (visit.parts[0], visit.parts[1])
        let shown = try await visit.realm.visitors.promoted(in: app, visit.visitor)
        guard shown.contains(product) else { throw Self.noPromotion }
        let image = try await visit.realm.promotions.image(of: product, bundleID: app)
        return PageVisit.dressed(.bytes(image.bytes, type: image.type))
    }

    func image() async throws -> Response {
        let bytes = try await visit.realm.catalogue.shownImage(
            visit.parts[1], bundleID: visit.parts[0])
        return PageVisit.dressed(.bytes(bytes, type: "image/png"))
    }

    /// Remembers the visitor's country for this browser.
    func chooseStorefront() throws -> Response {
        guard let storefront = Storefront.named(visit.call.query("code") ?? "") else {
            throw Refusal(
                .badRequest, code: "storefrontUnknown", "The store does not know this country.",
                field: "code", rule: "a country of the list", remedy: "choose one of them")
        }
        return visit.setting(
            PageCookies.storefront, storefront.countryCode, seconds: 365 * 24 * 3600,
            in: visit.redirect("/"))
    }

    static var style: Response {
        var response = PageVisit.dressed(
            .bytes(Array(PageStyle.css.utf8), type: "text/css; charset=utf-8"))
        response.headers[.cacheControl] = "public, max-age=3600"
        return response
    }

    private func window() async throws -> ShopWindow {
        try await visit.realm.catalogue.window(in: visit.storefront, locale: visit.locale)
    }

    private func facts(_ app: ShopWindowApp, _ place: Int) -> [String: Any] {
        var facts: [String: Any] = [
            "name": app.name.shown, "path": app.bundleID.pathEncoded, "place": place,
            "letter": app.name.first.map { String($0).uppercased() } ?? "?",
            "tone": app.bundleID.utf8.reduce(0) { $0 + Int($1) } % 6,
        ]
        facts["description"] = app.details
        facts["ownPrice"] = app.ownPrice
        facts["url"] = app.url
        facts["icon"] = app.icon.map { path(ofImage: $0, of: app) }
        return facts
    }

    private func path(ofImage id: String, of app: ShopWindowApp) -> String {
        "\(visit.base)/store/apps/\(app.bundleID.pathEncoded)/images/\(id.pathEncoded)"
    }

    private func facts(_ product: ShopWindowProduct, of app: ShopWindowApp) -> [String: Any] {
        let image = product.images.first.map { path(ofImage: $0, of: app) }
        var facts: [String: Any] = [
            "name": product.name.shown, "details": product.details.shown,
            "lang": product.locale.replacing("_", with: "-"), "price": product.priceText(in: app),
            "kind": product.type.words, "isFamilyShareable": product.isFamilyShareable,
        ]
        facts["image"] = image
        return facts
    }

    private func folded(_ text: String) -> String {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }

    private static func contains(_ words: [String], _ text: String) -> Bool {
        words.allSatisfy { text.contains($0) }
    }

    static let noPromotion = Refusal(
        .notFound, code: "promotionUnknown", "The app does not promote this product.",
        field: "productId", rule: "a product that the app's page promotes",
        remedy: "open the app's page again")

    private static let noApp = Refusal(
        .notFound, code: "bundleIdUnknown", "The store has no such app.", field: "bundleId",
        rule: "an app that the store shows", remedy: "search for its name")
}

extension ShopWindowProduct {
    /// The price as the visitor reads it: `$4.99 each month`.
    func priceText(in app: ShopWindowApp) -> String {
        guard price.amount.milliunits > 0 else { return "Free" }
        let text = price.formatted(in: app.storefront.priceLocale(ofWords: locale))
        guard let period = period.flatMap({ Period(iso8601: $0) }) else { return text }
        return "\(text) \(period.eachWords)"
    }
}

extension ReviewRecords {
    /// `4.3 of 5 stars, 12 reviews`. Nil without a review.
    fileprivate var words: String? {
        average.map { "\($0) of 5 stars, \(count) \(count == 1 ? "review" : "reviews")" }
    }
}

extension ReviewRecord {
    fileprivate var facts: [String: Any] {
        var facts: [String: Any] = [
            "stars": "\(stars) of 5", "reviewer": reviewer, "date": reviewedDate.description,
            "day": String(reviewedDate.description.prefix(10)), "version": appVersion,
        ]
        facts["text"] = text
        facts["answer"] = answer
        return facts
    }
}

extension Period {
    /// `each month`, `every 3 months`.
    var eachWords: String {
        let unit =
            switch unit {
            case .day: "day"
            case .week: "week"
            case .month: "month"
            case .year: "year"
            }
        return count == 1 ? "each \(unit)" : "every \(count) \(unit)s"
    }
}

extension ProductType {
    /// What it is, for a customer.
    var words: String {
        switch self {
        case .consumable: "Can be bought again"
        case .nonConsumable: "Bought once"
        case .autoRenewable: "Subscription, renews until cancelled"
        case .nonRenewing: "Subscription that does not renew"
        }
    }
}

extension String {
    /// The text without the characters that no text for customers may contain, except line
    /// ends. What a store holds can be older than that rule.
    var shown: String {
        guard !unicodeScalars.allSatisfy(VisibleText.isAllowedInLines) else { return self }
        let kept: String.UnicodeScalarView = unicodeScalars.filter(VisibleText.isAllowedInLines)
        return String(kept)
    }

    /// ``shown``, isolated from the text around it, which it cannot reorder: for a title or
    /// an option, in which HTML admits no `<bdi>`.
    var isolated: String { "\u{2068}\(shown)\u{2069}" }

    /// The text as one part of a path.
    var pathEncoded: String {
        addingPercentEncoding(
            withAllowedCharacters: .alphanumerics.union(.init(charactersIn: "-._")))
            ?? ""
    }
}
