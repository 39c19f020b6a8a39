// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire
import Work

/// Changes of every subscription to a product. A change is a row at the home and an
/// errand, which visits the subscriptions in the order of their customers. Each is
/// changed in its customer's line, with a mark that keeps it from being changed
/// twice.
extension SubscriptionRoom {
    /// Requests a change, begins it, and returns how far it has come. The same
    /// request under the same id has no effect. Refusals, in order: `uuidInvalid`,
    /// `bundleIdUnknown`, `productIdUnknown`, `storefrontsInvalid`,
    /// `bulkChangeUnclear`, `daysOutOfRange`, `priceInvalid`, `currenciesDiffer`,
    /// `dateOutOfRange`, `bulkChangeExists`. `isAudited`: whether an operator requests it, and not a
    /// merchant's server.
    @discardableResult
    public func changeAll(
        _ request: BulkChangeRequest, bundleID: String, isAudited: Bool = true,
        _ context: RequestContext
    ) async throws -> BulkChangeRecord {
        let named = try request.requestId.map { try Edge.uuid($0, "requestId") }
        let shelf = try await realm.loadShelf()
        let kind = try BulkChangeRules(request, shelf, bundleID).kind()
        let wanted = try await realm.house(.rows, context) { house -> Ending<BulkChangeRow> in
            let id = try named ?? drawnID(bundleID, house.writing)
            let key = BulkChangeKey(bundleID: BundleID(bundleID), request: id)
            let now = try Realm.now(house.writing, wall: house.wall)
            if case .raisePrice(_, let start, _, _) = kind {
                try Self.check(increaseFrom: start, at: now)
            }
            let row = BulkChangeRow(
                key: key,
                change: BulkChange(
                    kind, productID: ProductID(request.productId),
                    storefronts: request.storefronts,
                    requestedAt: now,
                    isMerchants: isAudited ? nil : true))
            return .commit(try Self.add(row, isAudited: isAudited, house))
        }
        try Self.check(wanted.change, is: kind, of: request)
        if wanted.completedAt == nil {
            try await realm.settle(WorkKind.bulk, wanted.key.subject, OwedNotification.nobody)
            // It has left the summary to be sent, or subscriptions to be visited.
            realm.ring(OwedNotification.nobody)
        }
        return try await bulkChange(wanted.key.request.text, bundleID: bundleID)
    }

    /// Returns an id for a change whose request has none. In a seeded realm it depends on
    /// how many changes the app has had.
    private func drawnID(_ bundleID: String, _ reading: any Reading) throws -> UUIDText {
        let had = try reading.first(Statement.Bulk.countOfApp, [.text(bundleID)])?
            .integer("changes")
        let id = UUIDText(realm.uuid(for: "bulk/\(bundleID)/\(had ?? 0)"))
        guard let id else { preconditionFailure("a UUID that the store drew is none") }
        return id
    }

    /// Returns what stands under the id: this change, or an earlier one.
    private static func add(
        _ row: BulkChangeRow, isAudited: Bool, _ house: HouseLine
    ) throws -> BulkChangeRow {
        let isNew = try house.writing.first(Statement.Bulk.insert, row.row) != nil
        let found = isNew ? row : try BulkChangeRow.find(row.key, house.writing)
        guard let found else {
            throw StorageFault(.malformedRow, "a change of subscriptions that is gone")
        }
        // A snapshot has no errands, so that a change in one may have lost its own.
        if found.completedAt == nil {
            try Errands.add(
                kind: WorkKind.bulk, subject: row.key.subject, lane: WorkKind.bulkLane,
                dueAt: row.change.requestedAt, customer: OwedNotification.nobody, house.writing)
        }
        guard isNew, isAudited else { return found }
        try house.audit(
            "subscription.changeAll", row.key.subject, before: nil,
            after: ["productId": row.change.productID.value, "change": row.change.words])
        return found
    }

    /// Returns a change. Refusals, in order: `bundleIdUnknown`, `bulkChangeUnknown`.
    public func bulkChange(
        _ id: String, bundleID: String
    ) async throws -> BulkChangeRecord {
        guard try await realm.loadShelf().apps[BundleID(bundleID)] != nil else {
            throw BulkChangeRules.unknownApp
        }
        guard let request = UUIDText(id) else { throw BulkChangeRules.unknown }
        let key = BulkChangeKey(bundleID: BundleID(bundleID), request: request)
        let row = try await realm.readHouse { try BulkChangeRow.find(key, $0) }
        guard let row else { throw BulkChangeRules.unknown }
        return row.record(try await counts(of: row))
    }

    /// Returns a page of an app's changes, by their ids. Refusals, in order:
    /// `bundleIdUnknown`, `cursorInvalid`.
    public func bulkChanges(
        ofApp bundleID: String, after: String? = nil, limit: Int = ListPage.max
    ) async throws -> BulkChangeList {
        guard try await realm.loadShelf().apps[BundleID(bundleID)] != nil else {
            throw BulkChangeRules.unknownApp
        }
        guard after == nil || after.flatMap({ UUIDText($0) })?.text == after else {
            throw ListPage.cursorInvalid("after")
        }
        let values: [SQLValue] = [
            .text(bundleID), .text(after ?? ""), .integer(ListPage.limit(limit)),
        ]
        let rows = try await realm.readHouse { reading in
            try reading.query(Statement.Bulk.page, values).map(BulkChangeRow.init(row:))
        }
        var changes: [BulkChangeRecord] = []
        for row in rows { changes.append(row.record(try await counts(of: row))) }
        let isFull = Int64(rows.count) == ListPage.limit(limit)
        return BulkChangeList(changes: changes, next: isFull ? changes.last?.requestId : nil)
    }

    /// What is known of a change now. A complete one has its counts in its row.
    func counts(of row: BulkChangeRow) async throws -> BulkCounts {
        guard row.completedAt == nil else { return BulkCounts() }
        return try await counts(of: row.key)
    }

    func counts(of key: BulkChangeKey) async throws -> BulkCounts {
        let parts = try await realm.readAll { reading -> BulkCounts in
            guard let row = try reading.first(Statement.Bulk.count, key.values) else {
                return BulkCounts()
            }
            return BulkCounts(
                succeeded: try row.integer("succeeded"), failed: try row.integer("failed"))
        }
        return parts.reduce(into: BulkCounts()) { whole, part in
            whole.succeeded += part.succeeded
            whole.failed += part.failed
        }
    }

    /// Refuses an id that has another change.
    private static func check(
        _ known: BulkChange, is kind: BulkChange.Kind, of request: BulkChangeRequest
    ) throws {
        let differs: String? =
            known.productID.value != request.productId
            ? "productId"
            : known.storefronts != request.storefronts
                ? "storefronts" : known.kind != kind ? "extendByDays" : nil
        guard let differs else { return }
        throw Refusal(
            .conflict, code: "bulkChangeExists", "This id has another change.", field: differs,
            rule: "one change under one id", remedy: "send another `requestId`")
    }
}

/// The rules for the request of a bulk change.
struct BulkChangeRules {
    let request: BulkChangeRequest
    private let app: Shelf.App

    init(_ request: BulkChangeRequest, _ shelf: Shelf, _ bundleID: String) throws {
        guard let app = shelf.apps[BundleID(bundleID)] else { throw Self.unknownApp }
        guard app.byID[ProductID(request.productId)]?.product.type == .autoRenewable else {
            throw Refusal(
                .notFound, code: "productIdUnknown",
                "The app has no such auto-renewable subscription.", field: "productId",
                rule: "the id of an auto-renewable subscription of the app",
                remedy: "list the products")
        }
        (self.request, self.app) = (request, app)
    }

    func kind() throws -> BulkChange.Kind {
        let storefronts = try storefronts()
        switch (request.extendByDays, request.price) {
        case (let days?, nil):
            guard (1...Subscription.extensionDaysMax).contains(days) else {
                throw Refusal(
                    .badRequest, code: "daysOutOfRange", "The extension is out of range.",
                    field: "extendByDays", rule: "1 to \(Subscription.extensionDaysMax)",
                    remedy: "extend them several times")
            }
            return .extend(days: days)
        case (nil, let raised?):
            let price = try Edge.price(raised.price, "price")
            let currencies = Set(storefronts.map(\.currency))
            guard currencies.count == 1, let currency = currencies.first else {
                throw Refusal(
                    .badRequest, code: "currenciesDiffer",
                    "The storefronts have different currencies.", field: "storefronts",
                    rule: "one price is in one currency",
                    remedy: "send one request for each currency")
            }
            return .raisePrice(
                to: Money(price, currency), from: raised.startDate,
                needsConsent: raised.needsConsent ?? true,
                isCommitted: try Edge.isCommitted(raised.billingPlan) ? true : nil)
        case (nil, nil), (_?, _?):
            throw Refusal(
                .badRequest, code: "bulkChangeUnclear", "The change is not clear.",
                field: "extendByDays", rule: "exactly one of `extendByDays` and `price`",
                remedy: "send one of them")
        }
    }

    /// The storefronts that are named, otherwise the app's.
    private func storefronts() throws -> [Storefront] {
        let named = (request.storefronts ?? [app.storefront]).map(Storefront.named)
        let known = named.compactMap { $0 }
        guard known.count == named.count, !known.isEmpty, known.count <= 200 else {
            throw Refusal(
                .badRequest, code: "storefrontsInvalid", "These are not storefronts.",
                field: "storefronts", rule: "1 to 200 alpha-3 codes such as `USA`",
                remedy: "leave it out for all storefronts")
        }
        return known
    }

    static var unknownApp: Refusal {
        Refusal(
            .notFound, code: "bundleIdUnknown", "This realm has no such app.",
            field: "bundleId", rule: "the bundle id of an app of the realm",
            remedy: "list the apps")
    }

    static var unknown: Refusal {
        Refusal(
            .notFound, code: "bulkChangeUnknown", "The app has no such change.",
            field: "requestId", rule: "the id of a change that was requested",
            remedy: "list the changes")
    }
}

extension BulkChange {
    /// The change in words, for the audit.
    fileprivate var words: String {
        switch kind {
        case .extend(let days): "extended by \(days) days"
        case .raisePrice(let price, let start, let needsConsent, let isCommitted):
            "\(price)\(isCommitted == true ? " a part" : "") from \(start)"
                + (needsConsent ? ", with consent" : "")
        }
    }
}
