// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// Names a change of many subscriptions: an app, and the id of the request.
struct BulkChangeKey: Hashable, Sendable {
    let bundleID: BundleID
    let request: UUIDText

    var values: [SQLValue] { [.text(bundleID.value), .text(request.text)] }

    /// The errand's subject, and the end of a notification's cause.
    var subject: String { "\(bundleID)/\(request.text)" }
}

extension BulkChangeKey {
    /// Parses a ``subject``. Nil if the text is not one.
    init?(subject: String) {
        let parts = subject.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, BundleID.isValid(parts[0]), let request = UUIDText(parts[1]),
            request.text == parts[1]
        else { return nil }
        self.init(bundleID: BundleID(parts[0]), request: request)
    }
}

/// What a notification about a change of many subscriptions is owed for.
enum BulkCause {
    static let prefix = "BULK"

    /// The change is complete.
    static func summary(_ key: BulkChangeKey) -> String { "\(prefix)/\(key.subject)" }

    /// It could not be made to a subscription.
    static func failure(_ key: BulkChangeKey, of subscription: TransactionID) -> String {
        "\(prefix)/\(key.subject)/\(subscription)"
    }

    /// Parses either. Nil if the text is neither.
    static func key(of cause: String) -> BulkChangeKey? {
        let parts = cause.split(separator: "/", omittingEmptySubsequences: false)
        guard (3...4).contains(parts.count), parts[0] == prefix,
            parts.count == 3 || Edge.number(String(parts[3])) != nil
        else { return nil }
        return BulkChangeKey(subject: parts[1...2].joined(separator: "/"))
    }
}

/// A change of many subscriptions, as its row contains it.
struct BulkChangeRow: Sendable {
    let key: BulkChangeKey
    let change: BulkChange
    /// The customer and subscription that were visited last.
    var cursor: [Int64]?
    var completedAt: Timestamp?
    var succeeded: Int64?
    var failed: Int64?

    /// The row's values.
    var row: [SQLValue] {
        RealmSchema.bulkChanges.row([
            "bundle_id": .text(key.bundleID.value), "request_id": .text(key.request.text),
            "product_id": .text(change.productID.value), "body": .text(StoredJSON.text(change)),
            "asked_at": .integer(change.requestedAt.milliseconds),
            "cursor": .optional(cursor.map(Self.text)),
            "completed_at": .optional(completedAt), "succeeded": .optional(succeeded),
            "failed": .optional(failed),
        ])
    }

    static func text(_ cursor: [Int64]) -> String {
        cursor.map(String.init).joined(separator: ".")
    }
}

extension BulkChangeRow {
    init(row: Row) throws {
        guard let request = UUIDText(try row.text("request_id")) else {
            throw StorageFault(.malformedRow, "a change of subscriptions without an id")
        }
        self.init(
            key: BulkChangeKey(
                bundleID: BundleID(try row.text("bundle_id")), request: request),
            change: try StoredJSON.value(
                try row.text("body"), "a change of subscriptions that cannot be read"),
            cursor: try row.optionalText("cursor")?.split(separator: ".").compactMap {
                Int64($0)
            },
            completedAt: try row.optionalInteger("completed_at").map(
                Timestamp.init(milliseconds:)),
            succeeded: try row.optionalInteger("succeeded"),
            failed: try row.optionalInteger("failed"))
    }

    static func find(_ key: BulkChangeKey, _ reading: any Reading) throws -> BulkChangeRow? {
        try reading.first(Statement.Bulk.one, key.values).map(BulkChangeRow.init(row:))
    }

    /// Whether the other columns repeat the change, and the counts come with the end.
    var isWhole: Bool {
        (completedAt == nil) == (succeeded == nil) && (succeeded == nil) == (failed == nil)
    }

    /// As operators see it, with what was counted so far.
    func record(_ counted: BulkCounts) -> BulkChangeRecord {
        var record = BulkChangeRecord(
            requestId: key.request.text, bundleId: key.bundleID.value,
            productId: change.productID.value, storefronts: change.storefronts,
            requestDate: change.requestedAt, completeDate: completedAt,
            succeededCount: succeeded ?? counted.succeeded, failedCount: failed ?? counted.failed)
        switch change.kind {
        case .extend(let days): record.extendByDays = days
        case .raisePrice(let price, let start, let needsConsent, let isCommitted):
            record.price = RaisePriceRequest(
                price: price.amount.milliunits, startDate: start, needsConsent: needsConsent,
                billingPlan: isCommitted == true ? BillingPlan.Kind.monthly.rawValue : nil)
            record.currency = price.currency.code
        }
        return record
    }
}

/// To how many subscriptions a change could be made, and could not.
struct BulkCounts: Sendable {
    var succeeded: Int64 = 0
    var failed: Int64 = 0
}

/// That a request has come to a subscription.
struct BulkMark: Sendable {
    let key: BulkChangeKey
    let subscription: TransactionID

    /// Marks the subscription, in its customer's line. Returns whether it had no mark.
    func write(isDone: Bool, _ line: CustomerLine) throws -> Bool {
        try line.writing.first(
            Statement.Bulk.mark,
            RealmSchema.bulkMarks.row([
                "customer_id": .integer(line.customer.value),
                "bundle_id": .text(key.bundleID.value), "request_id": .text(key.request.text),
                "subscription_id": .integer(subscription.value), "is_done": .boolean(isDone),
                "revision": .integer(line.revision),
            ])) != nil
    }

    /// The revision of the commit that made the change. Nil if none has.
    func revision(of customer: CustomerID, _ reading: any Reading) throws -> Int64? {
        try reading.first(
            Statement.Bulk.marked,
            [.integer(customer.value)] + key.values + [.integer(subscription.value)]
        )?.integer("revision")
    }
}
