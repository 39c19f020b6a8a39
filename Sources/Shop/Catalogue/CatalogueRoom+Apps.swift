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
    /// `notificationUrlInvalid`, `notificationVersionUnknown`, `bundleIdUnknown`.
    ///
    /// `version`: 2, or 1 for a server that still reads the unsigned notifications of
    /// before; see ``StoreWire/ResponseBodyV1``.
    @discardableResult
    public func setNotificationURL(
        _ url: String?, version: Int = 2, bundleID: String, _ context: RequestContext
    ) async throws -> AppSummary {
        try Edge.text(bundleID, "bundleId")
        if let url { try NotificationURL.check(url, isProduction: realm.isProduction) }
        guard (1...2).contains(version) else {
            throw Refusal(
                .badRequest, code: "notificationVersionUnknown",
                "There is no such version of notifications.", field: "notificationVersion",
                rule: "2, or 1 for servers of before", remedy: "leave it out for 2")
        }
        let values: [SQLValue] = [
            .text(bundleID), .optional(url), version == 2 ? .null : .integer(Int64(version)),
        ]
        let isSet = try await realm.house(.catalogue, context) { house in
            let key: [SQLValue] = [.text(bundleID)]
            guard let before = try house.writing.first(Statement.Notifications.url, key),
                try house.writing.first(Statement.Notifications.setURL, values) != nil
            else { return .leave(false) }
            try house.audit(
                "app.notificationUrl", bundleID,
                before: [
                    "notificationUrl": try before.optionalText("notification_url"),
                    "notificationVersion": try before.optionalInteger("notification_version")
                        .map { "\($0)" },
                ],
                after: [
                    "notificationUrl": url,
                    "notificationVersion": version == 2 ? nil : "\(version)",
                ])
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
        var summary = AppSummary(
            bundleId: bundleID.value, appAppleId: appID, name: name,
            notificationUrl: notificationURL, storefront: storefront, locale: locale,
            purchasesEnabled: arePurchasesEnabled, gracePeriodDays: ownGrace?.rawValue,
            renewalsMax: renewalsMax, products: products.count)
        if notificationURL != nil { summary.notificationVersion = notificationVersion }
        return summary
    }
}
