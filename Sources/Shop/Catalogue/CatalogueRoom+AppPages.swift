// SPDX-License-Identifier: Apache-2.0

import Commerce
import Pictures
import Storage
public import StoreWire

/// What the store's page of an app shows beside its products. Each change is audited.
extension CatalogueRoom {
    /// Returns what an app's page shows. Refusals: `textInvalid`, `bundleIdUnknown`.
    public func appPage(_ bundleID: String) async throws -> AppPageRecord {
        _ = try await app(bundleID)
        let row = try await realm.readHouse {
            try $0.first(Statement.AppPages.one, [.text(bundleID)])
        }
        return try AppPage(bundleID, row).record
    }

    /// Changes what an app's page shows. Refusals, in order: `bundleIdUnknown`,
    /// `descriptionInvalid`, those of labels, `textEmpty`, `urlInvalid`, `featuredInvalid`,
    /// `imageIdInvalid`, `imageUnknown`, `iconInvalid`.
    public func changeAppPage(
        _ bundleID: String, _ change: AppPageChange, _ context: RequestContext
    ) async throws -> AppPageRecord {
        _ = try await app(bundleID)
        try Self.check(change)
        return try await realm.house(.rows, context) { house in
            let writing = house.writing
            // An icon is not deleted meanwhile.
            try writing.execute(Statement.Catalogues.holdRevision, [])
            if let icon = change.icon, !icon.isEmpty {
                try Self.checkIcon(icon, of: bundleID, writing)
            }
            let key: [SQLValue] = [.text(bundleID)]
            let before = try AppPage(bundleID, try writing.first(Statement.AppPages.one, key))
            let after = before.changed(by: change)
            guard after.shows != before.shows else { return .leave(before.record) }
            try writing.execute(Statement.AppPages.put, after.row(at: house.wall))
            try house.audit("app.page", bundleID, before: before.audited, after: after.audited)
            let stored = try AppPage(bundleID, try writing.first(Statement.AppPages.one, key))
            return .commit(stored.record)
        }
    }

    private static func check(_ change: AppPageChange) throws {
        if let text = change.description, !text.isEmpty,
            !ReviewText.isText(text) || VisibleText.isBlank(text)
        {
            throw Refusal(
                .badRequest, code: "descriptionInvalid", "The description cannot be shown.",
                field: "description", rule: ReviewText.rule + ", not blank",
                remedy: "shorten it, or leave these characters out; an empty one removes it")
        }
        if let price = change.price, !price.isEmpty {
            try Edge.label(price, "price", bytesMax: AppPageRules.priceBytesMax)
            guard !VisibleText.isBlank(price) else {
                throw Refusal(
                    .badRequest, code: "textEmpty", "The price is blank.", field: "price",
                    rule: "1 to \(AppPageRules.priceBytesMax) bytes of UTF-8, not blank",
                    remedy: "send words such as `Free`; an empty text removes it")
            }
        }
        if let url = change.url, !url.isEmpty, !AppPageRules.isURL(url) {
            throw Refusal(
                .badRequest, code: "urlInvalid", "Customers cannot be sent to this address.",
                field: "url", rule: AppPageRules.urlRule,
                remedy: "send one such as `https://example.com/app`; an empty one removes it")
        }
        if let place = change.featured, !(0...AppPageRules.featuredMax).contains(Int64(place)) {
            throw Refusal(
                .badRequest, code: "featuredInvalid", "There is no such position.",
                field: "featured", rule: "1 to \(AppPageRules.featuredMax), or 0",
                remedy: "send 1 for the first; 0 ends that the app is featured")
        }
        if let icon = change.icon, !icon.isEmpty { try CatalogueRules.checkImageID(icon) }
    }

    private static func checkIcon(
        _ icon: String, of bundleID: String, _ writing: any Writing
    ) throws {
        let key: [SQLValue] = [.text(bundleID), .text(icon)]
        guard let row = try writing.first(Statement.Catalogues.image, key) else {
            throw imageUnknown(icon, "icon")
        }
        try checkIcon(try row.blob("contents"))
    }

    static func checkIcon(_ bytes: [UInt8]) throws {
        do throws(PromotionImage.Fault) { _ = try PromotionImage(bytes) } catch {
            throw Refusal(
                .badRequest, code: "iconInvalid", "This image cannot be an icon.", field: "icon",
                rule: PromotionImage.rule, remedy: "put the image again in this form")
        }
    }

}

/// A row of the table, or none yet.
struct AppPage: Sendable {
    struct Shows: Hashable, Sendable {
        var description: String?
        var icon: String?
        var price: String?
        var url: String?
        var featured: Int64?
    }

    let bundleID: String
    var shows: Shows
    let changedAt: Timestamp?

    init(_ bundleID: String, _ row: Row?) throws {
        self.bundleID = bundleID
        shows = Shows(
            description: try row?.optionalText("description"),
            icon: try row?.optionalText("image_id"), price: try row?.optionalText("price"),
            url: try row?.optionalText("url"), featured: try row?.optionalInteger("featured"))
        changedAt = try row.map { Timestamp(milliseconds: try $0.integer("changed_at")) }
    }

    func changed(by change: AppPageChange) -> AppPage {
        var page = self
        if let text = change.description { page.shows.description = text.isEmpty ? nil : text }
        if let icon = change.icon { page.shows.icon = icon.isEmpty ? nil : icon }
        if let price = change.price { page.shows.price = price.isEmpty ? nil : price }
        if let url = change.url { page.shows.url = url.isEmpty ? nil : url }
        if let place = change.featured { page.shows.featured = place == 0 ? nil : Int64(place) }
        return page
    }

    func row(at wall: Timestamp) -> [SQLValue] {
        RealmSchema.appPages.row([
            "bundle_id": .text(bundleID), "description": .optional(shows.description),
            "image_id": .optional(shows.icon), "price": .optional(shows.price),
            "url": .optional(shows.url), "featured": .optional(shows.featured),
            "changed_at": .integer(wall.milliseconds),
        ])
    }

    var record: AppPageRecord {
        AppPageRecord(
            bundleId: bundleID, description: shows.description, icon: shows.icon,
            price: shows.price, url: shows.url, featured: shows.featured.map(Int.init),
            changedDate: changedAt)
    }

    var audited: AuditFields {
        [
            "description": shows.description, "icon": shows.icon, "price": shows.price,
            "url": shows.url,
            "featured": shows.featured.map { "\($0)" },
        ]
    }
}
