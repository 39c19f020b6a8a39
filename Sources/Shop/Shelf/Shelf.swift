// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import Storage

/// A realm's catalogue in memory, as of one revision.
struct Shelf: Sendable {
    struct App: Sendable {
        let bundleID: BundleID
        let appID: Int64?
        let name: String
        let storefront: String
        let locale: String
        /// The URL for its notifications. Nil if it receives none.
        let notificationURL: String?
        /// 2, or 1 for a server of before.
        let notificationVersion: Int
        /// Whether the app may sell at all.
        let arePurchasesEnabled: Bool
        /// Whether it has begun to sell, and the products of its live versions.
        let release: AppRelease
        /// The settings of its catalogue file. In production, the defaults.
        let settings: SandboxSettings
        /// How long an unpaid renewal can be used. Nil if the file decides.
        let ownGrace: GracePeriod?
        /// How often a sandbox's subscriptions renew at most. Nil without a limit.
        let renewalsMax: Int?
        /// The products that are neither withdrawn nor removed.
        let products: [Product]
        /// All products, including withdrawn and removed ones.
        let byID: [ProductID: ListedProduct]
        /// Whether it sells or has sold subscriptions that renew.
        let hasSubscriptions: Bool
        let groups: [SubscriptionGroup]
        /// The newest content that the store hosts for its products.
        let content: [ProductID: ContentFacts]
        /// The groups that were set explicitly, and not only named by their
        /// members.
        let toldGroups: Set<String>
    }

    let revision: Int64
    let isProduction: Bool
    let apps: [BundleID: App]
    /// What a sandbox simulates. In production nothing.
    let faults: [Fault.Name: Fault]

    init(reading: any Reading) throws {
        guard let realm = try reading.first(Statement.Catalogues.revision) else {
            throw StorageFault(.malformedRow, "the realm has no row")
        }
        revision = try realm.integer("catalogue_revision")
        isProduction = try realm.text("environment") == Environment.production.rawValue
        var sold: [BundleID: [ListedProduct]] = [:]
        for row in try reading.query(Statement.Catalogues.products, []) {
            sold[BundleID(try row.text("bundle_id")), default: []].append(
                try ListedProduct(row: row).admitted(isProduction: isProduction))
        }
        var groups: [BundleID: [StoredGroup]] = [:]
        for row in try reading.query(Statement.Groups.list, []) {
            groups[BundleID(try row.text("bundle_id")), default: []].append(
                try StoredGroup(row: row))
        }
        var live: [BundleID: Set<ProductID>] = [:]
        for row in try reading.query(Statement.AppVersions.live, []) {
            live[BundleID(try row.text("bundle_id")), default: []].insert(
                ProductID(try row.text("product_id")))
        }
        let content = try Self.newestContent(reading)
        var apps: [BundleID: App] = [:]
        for row in try reading.query(Statement.Catalogues.apps, []) {
            let bundleID = BundleID(try row.text("bundle_id"))
            apps[bundleID] = try App(
                row, bundleID, sold[bundleID] ?? [], live[bundleID] ?? [],
                groups[bundleID] ?? [], content[bundleID] ?? [:], isProduction: isProduction)
        }
        self.apps = apps
        var faults: [Fault.Name: Fault] = [:]
        let switched = try isProduction ? [] : reading.query(Statement.Faults.list, [])
        for row in switched {
            guard let name = Fault.Name(rawValue: try row.text("name")) else { continue }
            faults[name] = Fault(name, value: try row.text("value"))
        }
        self.faults = faults
    }

    func product(_ id: ProductID, of app: BundleID) -> Product? { apps[app]?.byID[id]?.product }

    /// Returns whether a device in a storefront is offered a product, and why
    /// not.
    func offering(
        _ id: ProductID, of app: BundleID, in storefront: Storefront, at now: Timestamp
    ) -> Offering {
        guard let app = apps[app], let listed = app.byID[id] else { return .unknown }
        return Offering.of(
            listed.product, listed.listing, in: storefront.countryCode, at: now,
            isProduction: isProduction, arePurchasesEnabled: app.arePurchasesEnabled,
            release: app.release)
    }

    /// Returns the product at its price in a storefront. Nil if it is not sold
    /// there.
    func offered(
        _ id: ProductID, of app: BundleID, in storefront: Storefront, at now: Timestamp
    ) -> Product? {
        guard case .offered(let price) = offering(id, of: app, in: storefront, at: now) else {
            return nil
        }
        return product(id, of: app)?.priced(price)
    }
}

extension Shelf.App {
    fileprivate init(
        _ row: Row, _ bundleID: BundleID, _ sold: [ListedProduct],
        _ live: Set<ProductID>, _ told: [StoredGroup], _ content: [ProductID: ContentFacts],
        isProduction: Bool
    ) throws {
        self.bundleID = bundleID
        appID = try row.optionalInteger("app_id")
        name = try row.text("name")
        storefront = try row.text("storefront")
        locale = try row.text("locale")
        notificationURL = try row.optionalText("notification_url")
        notificationVersion = try row.optionalInteger("notification_version").map(Int.init) ?? 2
        arePurchasesEnabled = try row.boolean("purchases_enabled")
        release = AppRelease(hasSold: try row.boolean("has_sold"), cameWithLive: live)
        let stored = isProduction ? nil : try row.optionalText("settings")
        settings = try stored.map(SandboxSettings.init(stored:)) ?? SandboxSettings()
        ownGrace = try row.optionalInteger("grace_days").flatMap { GracePeriod(rawValue: Int($0)) }
        renewalsMax =
            isProduction
            ? nil
            : try row.optionalInteger("renewals_max").flatMap { $0 == 0 ? nil : Int($0) }
        products = sold.filter { !$0.listing.isWithdrawn && $0.listing.state != .removed }
            .map(\.product)
        byID = Dictionary(sold.map { ($0.product.id, $0) }) { first, _ in first }
        hasSubscriptions = sold.contains { $0.product.type == .autoRenewable }
        groups = StoredGroup.groups(told, of: products)
        toldGroups = Set(told.map(\.id))
        self.content = content
    }
}

extension Product {
    init(row: Row) throws {
        guard let type = ProductType(rawValue: try row.text("product_type")) else {
            throw StorageFault(.malformedRow, "a product of no known type")
        }
        let stored = Data(try row.text("localizations").utf8)
        guard let words = try? JSONDecoder().decode([StoredLocalization].self, from: stored) else {
            throw StorageFault(.malformedRow, "a product whose words cannot be read")
        }
        self.init(
            id: ProductID(try row.text("product_id")),
            kind: type == .autoRenewable
                ? .autoRenewable(
                    groupID: try row.optionalText("group_id"),
                    period: try row.optionalText("period"))
                : ProductKind(type),
            referenceName: try row.text("reference_name"),
            price: Amount(milliunits: try row.integer("price")),
            isFamilyShareable: try row.boolean("is_family_shareable"),
            localizations: words.map {
                Localization(
                    locale: $0.locale, displayName: $0.displayName, details: $0.details)
            })
    }

    /// Returns the value of the column `localizations`, which ``init(row:)`` reads.
    func storedWords() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let words = localizations.map {
            StoredLocalization(
                locale: $0.locale, displayName: $0.displayName, details: $0.details)
        }
        return String(decoding: try encoder.encode(words), as: UTF8.self)
    }

    /// Returns a product's row, without terms and without a version of its app.
    func row(
        of bundleID: BundleID, place: Int, _ listing: Listing, isFromFile: Bool
    ) throws -> [SQLValue] {
        RealmSchema.products.row([
            "bundle_id": .text(bundleID.value), "product_id": .text(id.value),
            "place": .integer(Int64(place)), "product_type": .text(type.rawValue),
            "reference_name": .text(referenceName), "price": .integer(price.milliunits),
            "is_family_shareable": .boolean(isFamilyShareable),
            "localizations": .text(try storedWords()),
            "group_id": .optional(groupID), "period": .optional(period),
            "state": .text(listing.state.rawValue), "listing": .text(try listing.stored()),
            "from_file": .boolean(isFromFile),
        ])
    }
}

private struct StoredLocalization: Codable {
    let locale: String
    let displayName: String
    let details: String
}
