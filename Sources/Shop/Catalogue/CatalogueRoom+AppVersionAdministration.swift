// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// Versions of apps and the products that are submitted with them. Each change
/// is audited.
extension CatalogueRoom {
    /// The most products in one version.
    static let versionProductsMax = 100

    /// Returns an app's versions, oldest first. Refusals: `textInvalid`,
    /// `bundleIdUnknown`.
    public func appVersions(_ bundleID: String) async throws -> AppVersionList {
        _ = try await app(bundleID)
        return AppVersionList(
            versions: try await realm.readHouse { try Self.versions(of: bundleID, $0) })
    }

    /// Creates a version, which waits. Refusals, in order: `bundleIdUnknown`,
    /// `versionInvalid`, `tooManyEntries`, `entryTwice`, `versionExists`, those of products
    /// as in ``changeAppVersion(_:bundleID:_:_:)``.
    public func createAppVersion(
        _ request: CreateAppVersionRequest, bundleID: String, _ context: RequestContext
    ) async throws -> AppVersionSummary {
        _ = try await app(bundleID)
        guard isAppVersion(request.version) else {
            throw Refusal(
                .badRequest, code: "versionInvalid", "This is not a version of an app.",
                field: "version", rule: "1 to 4 numbers of at most 6 digits, joined by `.`",
                remedy: "give one such as `1.2.0`")
        }
        try Self.check(products: request.products)
        let (wall, version) = (realm.ports.wall.now, request.version)
        return try await alterVersions(bundleID, "version.create", version, context) { writing in
            let values = RealmSchema.appVersions.row([
                "bundle_id": .text(bundleID), "version": .text(version),
                "state": .text(AppVersionState.waiting.rawValue), "made_at": .optional(wall),
            ])
            guard try writing.first(Statement.AppVersions.insert, values) != nil else {
                throw Refusal(
                    .conflict, code: "versionExists", "The app has this version.",
                    field: "version", rule: "a version is made once",
                    remedy: "change that one, or choose the next number")
            }
            try Self.join(request.products ?? [], version, bundleID, writing)
        }
    }

    /// Changes the products of a version, or makes it available to customers
    /// permanently. Refusals, in order: `bundleIdUnknown`, `stateUnknown`,
    /// `tooManyEntries`, `entryTwice`, `versionUnknown`, `versionLive`,
    /// `productInVersion`, `productIdUnknown`.
    public func changeAppVersion(
        _ version: String, bundleID: String, _ change: AppVersionChange,
        _ context: RequestContext
    ) async throws -> AppVersionSummary {
        _ = try await app(bundleID)
        try Edge.text(version, "version")
        guard change.state == nil || change.state == AppVersionState.live.rawValue else {
            throw Refusal(
                .badRequest, code: "stateUnknown", "A version cannot be put into this state.",
                field: "state", rule: "`live`", remedy: "send it, or leave it out")
        }
        try Self.check(products: change.products)
        let wall = realm.ports.wall.now
        return try await alterVersions(bundleID, "version.change", version, context) { writing in
            let key: [SQLValue] = [.text(bundleID), .text(version)]
            guard let row = try writing.first(Statement.AppVersions.one, key) else {
                throw Self.noAppVersion
            }
            let isLive = try row.text("state") == AppVersionState.live.rawValue
            if let products = change.products {
                guard !isLive else { throw Self.liveVersion }
                try writing.execute(Statement.AppVersions.leave, key)
                try Self.join(products, version, bundleID, writing)
            }
            if change.state != nil {
                _ = try writing.first(Statement.AppVersions.goLive, key + [.optional(wall)])
            }
        }
    }

    /// Makes one commit behind the catalogue's lock, with the old and new
    /// values for the audit.
    private func alterVersions(
        _ bundleID: String, _ deed: String, _ version: String, _ context: RequestContext,
        _ change: @escaping @Sendable (any Writing) throws -> Void
    ) async throws -> AppVersionSummary {
        let changed = try await realm.house(.catalogue, context) { house in
            let writing = house.writing
            let before = try Self.version(version, of: bundleID, writing)
            try change(writing)
            try writing.execute(Statement.AppVersions.noteSale, [.text(bundleID)])
            let after = try Self.version(version, of: bundleID, writing)
            try house.audit(
                deed, "\(bundleID)/\(version)", before: before?.audited,
                after: after?.audited)
            return .commit(after)
        }
        guard let changed else { throw Self.noAppVersion }
        return changed
    }

    private static func version(
        _ version: String, of bundleID: String, _ reading: any Reading
    ) throws -> AppVersionSummary? {
        try versions(of: bundleID, reading).first { $0.version == version }
    }

    private static func versions(
        of bundleID: String, _ reading: any Reading
    ) throws -> [AppVersionSummary] {
        let rows = try reading.query(Statement.AppVersions.products, [.text(bundleID)])
        var products: [String: [String]] = [:]
        for row in rows {
            products[try row.text("came_with"), default: []].append(try row.text("product_id"))
        }
        return try reading.query(Statement.AppVersions.list, [.text(bundleID)]).map { row in
            let version = try row.text("version")
            return AppVersionSummary(
                bundleId: bundleID, version: version, state: try row.text("state"),
                products: products[version] ?? [],
                createdDate: Timestamp(milliseconds: try row.integer("made_at")),
                liveDate: try row.optionalInteger("live_at").map(
                    Timestamp.init(milliseconds:)))
        }
    }

    private static func join(
        _ products: [String], _ version: String, _ bundleID: String, _ writing: any Writing
    ) throws {
        for product in products {
            let values: [SQLValue] = [.text(bundleID), .text(product), .text(version)]
            guard try writing.first(Statement.AppVersions.join, values) != nil else {
                let key: [SQLValue] = [.text(bundleID), .text(product)]
                if let holder = try writing.first(Statement.AppVersions.holder, key) {
                    throw productInVersion(product, try holder.text("version"))
                }
                throw Refusal(
                    .notFound, code: "productIdUnknown",
                    "`\(product)` cannot come with the version.", field: "products",
                    rule: "one of the app's products that came with no live version",
                    remedy: "list the products and the versions")
            }
        }
    }

    /// As in Apple's review, a product that is new is submitted with one version.
    private static func productInVersion(_ product: String, _ version: String) -> Refusal {
        Refusal(
            .conflict, code: "productInVersion",
            "`\(product)` comes with version \(version).", field: "products",
            rule: "a product comes with one version at a time",
            remedy: "take it out of version \(version) first, or put that version live")
    }

    private static func check(products: [String]?) throws {
        guard let products else { return }
        guard products.count <= versionProductsMax else {
            throw Refusal(
                .badRequest, code: "tooManyEntries", "The list is too long.", field: "products",
                rule: "at most \(versionProductsMax) entries",
                remedy: "approve the others when the app sells")
        }
        for product in products { try Edge.text(product, "products") }
        try CatalogueRules.checkOnce(products, "products")
    }

    private static var noAppVersion: Refusal {
        Refusal(
            .notFound, code: "versionUnknown", "The app has no such version.", field: "version",
            rule: "one that was made before", remedy: "list the versions, or make it")
    }

    private static var liveVersion: Refusal {
        Refusal(
            .conflict, code: "versionLive", "The version is live.", field: "products",
            rule: "a version's products can be changed only while it waits",
            remedy: "make the next version")
    }
}

extension AppVersionSummary {
    /// The fields for the audit.
    fileprivate var audited: AuditFields {
        [
            "state": state,
            "products": products.isEmpty ? nil : products.joined(separator: " "),
        ]
    }
}
