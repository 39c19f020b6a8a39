// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// Creates and changes apps while the store runs. Each change is audited.
extension CatalogueRoom {
    /// Returns one app. Refusal: `bundleIdUnknown`.
    public func appSummary(_ bundleID: String) async throws -> AppSummary {
        try await app(bundleID).summary
    }

    /// Creates an app without products. Refusals, in order: `bundleIdInvalid`,
    /// those of ``changeApp(_:_:_:)``, `appExists`.
    public func createApp(
        _ request: CreateAppRequest, _ context: RequestContext
    ) async throws -> AppSummary {
        guard BundleID.isValid(request.bundleId) else { throw Self.noBundleID }
        let details = request.details ?? AppChange()
        try check(details)
        let made = AppChange(
            appAppleId: details.appAppleId, name: details.name ?? request.bundleId,
            storefront: details.storefront ?? "USA", locale: details.locale ?? "en_US",
            purchasesEnabled: details.purchasesEnabled ?? true,
            gracePeriodDays: details.gracePeriodDays, renewalsMax: details.renewalsMax)
        let values = RealmSchema.apps.row([
            "bundle_id": .text(request.bundleId), "app_id": .optional(made.appAppleId),
            "name": .optional(made.name), "storefront": .optional(made.storefront),
            "locale": .optional(made.locale),
            "purchases_enabled": .boolean(made.purchasesEnabled ?? true),
            // Production sells an app's first product together with a version
            // of the app.
            "has_sold": .boolean(!realm.isProduction),
            "grace_days": .optional(made.gracePeriodDays.map(Int64.init)),
            "renewals_max": .optional(made.renewalsMax.map(Int64.init)),
        ])
        let isMade = try await realm.house(.catalogue, context) { house in
            guard try house.writing.first(Statement.Catalogues.addApp, values) != nil else {
                return .leave(false)
            }
            try house.audit("app.create", request.bundleId, before: nil, after: made.audited)
            return .commit(true)
        }
        guard isMade else {
            throw Refusal(
                .conflict, code: "appExists", "The realm has an app of this bundle id.",
                field: "bundleId", rule: "a bundle id is one app's",
                remedy: "change that app, or make a realm")
        }
        return try await appSummary(request.bundleId)
    }

    /// Changes an app. Refusals, in order: `bundleIdUnknown`, `textEmpty`,
    /// `textTooLong`, `storefrontUnknown`, `appIdInvalid`, `gracePeriodInvalid`,
    /// `renewalsMaxInvalid`, `sandboxOnly`.
    public func changeApp(
        _ bundleID: String, _ change: AppChange, _ context: RequestContext
    ) async throws -> AppSummary {
        _ = try await app(bundleID)
        try check(change)
        guard change != AppChange() else { return try await appSummary(bundleID) }
        let values: [SQLValue] = [
            .text(bundleID), .optional(change.appAppleId), .optional(change.name),
            .optional(change.storefront), .optional(change.locale),
            change.purchasesEnabled.map(SQLValue.boolean) ?? .null,
            .optional(change.gracePeriodDays.map(Int64.init)),
            .optional(change.renewalsMax.map(Int64.init)),
        ]
        try await realm.house(.catalogue, context) { house in
            let key: [SQLValue] = [.text(bundleID)]
            guard let before = try house.writing.first(Statement.Catalogues.app, key)
            else { throw Self.unknownApp }
            try house.writing.execute(Statement.Catalogues.setApp, values)
            try house.audit(
                "app.change", bundleID, before: try change.audited(before: before),
                after: change.audited)
            return .commit(())
        }
        return try await appSummary(bundleID)
    }

    /// Returns the app's shared secret. Nil until one is generated. Refusal:
    /// `bundleIdUnknown`.
    public func sharedSecret(_ bundleID: String) async throws -> SharedSecret {
        _ = try await app(bundleID)
        let row = try await realm.readHouse {
            try $0.first(Statement.Catalogues.sharedSecret, [.text(bundleID)])
        }
        return SharedSecret(
            bundleId: bundleID, sharedSecret: try row?.optionalText("shared_secret"))
    }

    /// Generates another shared secret, or sets a given one, which the app has in
    /// another realm too. The former one is invalid from then on. Refusals, in order:
    /// `sharedSecretInvalid`, `bundleIdUnknown`.
    public func makeSharedSecret(
        _ bundleID: String, given: String? = nil, _ context: RequestContext
    ) async throws -> SharedSecret {
        if let given { try Self.check(sharedSecret: given) }
        _ = try await app(bundleID)
        let secret = given ?? realm.ports.randomness.hex(16)
        try await realm.house(.rows, context) { house in
            let (key, writing) = (SQLValue.text(bundleID), house.writing)
            let before = try writing.first(Statement.Catalogues.holdSharedSecret, [key])
            let hadOne = try before?.optionalText("shared_secret") != nil
            try writing.execute(Statement.Catalogues.setSharedSecret, [key, .text(secret)])
            try house.audit(
                "app.sharedSecret", bundleID, before: ["sharedSecret": hadOne ? "one" : nil],
                after: ["sharedSecret": hadOne ? "another" : "one"])
            return .commit(())
        }
        return SharedSecret(bundleId: bundleID, sharedSecret: secret)
    }

    private static func check(sharedSecret secret: String) throws {
        guard secret.utf8.count == 32,
            secret.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
        else {
            throw Refusal(
                .badRequest, code: "sharedSecretInvalid", "This is not a shared secret.",
                field: "sharedSecret", rule: "32 digits of 0–9 and a–f",
                remedy: "leave it out, and one is generated")
        }
    }

    private func check(_ change: AppChange) throws {
        if let name = change.name {
            try Edge.name(name, "name")
            try Edge.label(name, "name")
        }
        if let locale = change.locale {
            try Edge.name(locale, "locale", bytesMax: 64)
            try Edge.label(locale, "locale", bytesMax: 64)
        }
        if let storefront = change.storefront, Storefront.named(storefront) == nil {
            throw CatalogueRules.unknownStorefront(field: "storefront")
        }
        if let number = change.appAppleId, !(1..<(1 << 53)).contains(number) {
            throw Refusal(
                .badRequest, code: "appIdInvalid", "This is not an app's number.",
                field: "appAppleId", rule: "1 to 2^53 - 1", remedy: "give the app's Apple ID")
        }
        if let days = change.gracePeriodDays, GracePeriod(rawValue: days) == nil {
            throw Refusal(
                .badRequest, code: "gracePeriodInvalid", "There is no such grace period.",
                field: "gracePeriodDays",
                rule: GracePeriod.allCases.map { "\($0.rawValue)" }.joined(separator: ", "),
                remedy: "send one of them; 0 switches it off")
        }
        try checkRenewals(change)
    }

    private func checkRenewals(_ change: AppChange) throws {
        guard let most = change.renewalsMax else { return }
        guard (0...RenewalRules.renewalsMaxMax).contains(most) else {
            throw Refusal(
                .badRequest, code: "renewalsMaxInvalid",
                "Subscriptions cannot be limited to this number of renewals.",
                field: "renewalsMax", rule: "0 to \(RenewalRules.renewalsMaxMax)",
                remedy: "send 12 for Apple's limit; 0 switches the limit off")
        }
        guard !realm.isProduction else {
            throw Refusal(
                .forbidden, code: "sandboxOnly", "Production renews as long as it is paid for.",
                field: "renewalsMax", rule: "renewals are limited in sandboxes only",
                remedy: "create a sandbox")
        }
    }

    static let noBundleID = Refusal(
        .badRequest, code: "bundleIdInvalid", "This is not a bundle id.",
        field: "bundleId", rule: "1 to 155 letters, digits, `-` and `.`",
        remedy: "give one such as `com.example.app`")

    /// Returns whether a device in a storefront is offered a product, or the
    /// first reason why not, in the order of ``Offering``. Refusals:
    /// `bundleIdUnknown`, `storefrontUnknown`.
    public func why(
        _ id: String, bundleID: String, storefront: String?
    ) async throws -> ProductAnswer {
        try Edge.text(id, "productId")
        let app = try await app(bundleID)
        guard let place = Storefront.named(storefront ?? app.storefront) else {
            throw CatalogueRules.unknownStorefront(field: "storefront")
        }
        let clock = try await realm.readHouse { try $0.first(Statement.Realms.clock) }
        guard let clock else { throw StorageFault(.malformedRow, "the realm has no row") }
        let now = try ClockRow(clock, hasLastEvent: false).now(wall: realm.ports.wall.now)
        let shelf = try await realm.loadShelf()
        let offering = shelf.offering(ProductID(id), of: app.bundleID, in: place, at: now)
        var answer = ProductAnswer(
            bundleId: bundleID, productId: id, storefront: place.countryCode,
            answer: offering.word, message: offering.words)
        if offering == .unknown {
            let others = shelf.apps.values.filter { $0.byID[ProductID(id)] != nil }
                .map(\.bundleID.value).sorted()
            if !others.isEmpty {
                answer.answer = "otherApp"
                answer.message = "the product is of another app: " + others.joined(separator: ", ")
            }
        }
        if case .offered(let price) = offering {
            answer.price = price.milliunits
            answer.currency = place.currency.code
            let type = app.byID[ProductID(id)]?.product.type
            let plan = shelf.plan(ProductID(id), of: app.bundleID, in: place, at: now)
            if type == .autoRenewable, plan == nil {
                answer.answer = "notSoldYet"
                answer.message =
                    "the product is listed; a subscription is sold only with a group and a period"
            }
        }
        return answer
    }
}

extension Offering {
    /// The name on the wire.
    fileprivate var word: String {
        switch self {
        case .unknown: "unknown"
        case .removed: "removed"
        case .withdrawn: "withdrawn"
        case .draft: "draft"
        case .notApproved: "notApproved"
        case .awaitsVersion: "awaitsVersion"
        case .purchasesNotEnabled: "purchasesNotEnabled"
        case .noPriceHere: "noPriceHere"
        case .offered: "sold"
        }
    }
}

extension AppChange {
    /// The fields for the audit.
    fileprivate var audited: AuditFields {
        [
            "name": name, "appAppleId": appAppleId.map { "\($0)" }, "storefront": storefront,
            "locale": locale, "purchasesEnabled": purchasesEnabled.map { "\($0)" },
            "gracePeriodDays": gracePeriodDays.map { "\($0)" },
            "renewalsMax": renewalsMax.map { "\($0)" },
        ]
    }

    /// The present values of the fields that this change names.
    fileprivate func audited(before row: Row) throws -> AuditFields {
        [
            "name": try name.flatMap { _ in try row.optionalText("name") },
            "appAppleId": try appAppleId.flatMap { _ in try row.optionalInteger("app_id") }
                .map { "\($0)" },
            "storefront": try storefront.map { _ in try row.text("storefront") },
            "locale": try locale.map { _ in try row.text("locale") },
            "purchasesEnabled": try purchasesEnabled.map { _ in
                "\(try row.boolean("purchases_enabled"))"
            },
            "gracePeriodDays":
                try gracePeriodDays
                .flatMap { _ in try row.optionalInteger("grace_days") }.map { "\($0)" },
            "renewalsMax":
                try renewalsMax
                .flatMap { _ in try row.optionalInteger("renewals_max") }.map { "\($0)" },
        ]
    }
}
