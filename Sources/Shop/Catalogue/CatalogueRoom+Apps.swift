// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension CatalogueRoom {
    /// Returns the realm's apps, ordered by bundle id.
    public func appSummaries() async throws -> [AppSummary] {
        try await realm.loadShelf().apps.values.sorted { $0.bundleID.value < $1.bundleID.value }
            .map(\.summary)
    }

    /// Sets the URL for an app's notifications. Nil means that it receives
    /// none. Sales without a URL owe no notification, even if a URL is set
    /// later. Notifications that were owed before and not delivered are sent to
    /// the new URL. Refusals, in order: `textInvalid`, `textTooLong`,
    /// `notificationUrlInvalid`, `bundleIdUnknown`.
    @discardableResult
    public func setNotificationURL(
        _ url: String?, bundleID: String, _ context: RequestContext
    ) async throws -> AppSummary {
        try Edge.text(bundleID, "bundleId")
        if let url { try NotificationURL.check(url, isProduction: realm.isProduction) }
        let values: [SQLValue] = [.text(bundleID), .optional(url)]
        let isSet = try await realm.house(.catalogue, context) { house in
            let key: [SQLValue] = [.text(bundleID)]
            guard let before = try house.writing.first(Statement.Notifications.url, key),
                try house.writing.first(Statement.Notifications.setURL, values) != nil
            else { return .leave(false) }
            try house.audit(
                "app.notificationUrl", bundleID,
                before: ["notificationUrl": try before.optionalText("notification_url")],
                after: ["notificationUrl": url])
            return .commit(true)
        }
        guard isSet, let app = try await realm.loadShelf().apps[BundleID(bundleID)] else {
            throw Self.unknownApp
        }
        realm.ports.log(
            .info, url == nil ? "notifications go nowhere" : "notifications have an address",
            context, ["app": bundleID])
        return app.summary
    }

    static let unknownApp = Refusal(
        .notFound, code: "bundleIdUnknown", "This realm has no app of that bundle id.",
        field: "bundleId", rule: "one of the realm's apps",
        remedy: "serve the app's catalogue first")
}

extension Shelf.App {
    var summary: AppSummary {
        AppSummary(
            bundleId: bundleID.value, appAppleId: appID, name: name,
            notificationUrl: notificationURL, storefront: storefront, locale: locale,
            purchasesEnabled: arePurchasesEnabled, gracePeriodDays: ownGrace?.rawValue,
            renewalsMax: renewalsMax, products: products.count)
    }
}
