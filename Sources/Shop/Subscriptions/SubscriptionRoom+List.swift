// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension SubscriptionRoom {
    /// Returns a page of subscriptions, ordered by customer. Refusals, in order:
    /// `textInvalid`, `textTooLong`, `statusUnknown`, `cursorInvalid`.
    public func list(
        bundleID: String? = nil, customer: String? = nil, status: String? = nil,
        after: String? = nil, limit: Int = ListPage.max
    ) async throws -> SubscriptionRecords {
        if let bundleID { try Edge.text(bundleID, "bundleId") }
        let wanted = try status.map(Self.status)
        let start = try Self.place(after)
        let owner = try ListPage.cursor(customer, "customer")
        let values: [SQLValue] =
            start.map(SQLValue.integer) + [
                .optional(bundleID), .optional(owner), .optional(wanted.map(Int64.init)),
                .integer(ListPage.limit(limit)),
            ]
        let rows = try await realm.page(
            Int(ListPage.limit(limit)), of: owner,
            by: { $0.place.lexicographicallyPrecedes($1.place) }
        ) { try $0.query(Statement.Subscriptions.page, values).map(SubscriptionRow.init(row:)) }
        let isFull = Int64(rows.count) == ListPage.limit(limit)
        let next = isFull ? rows.last.map { "\($0.place[0]).\($0.place[1])" } : nil
        return SubscriptionRecords(
            subscriptions: rows.map { $0.record(realm.renewalRules) }, next: next)
    }

    /// Returns one subscription, which any of its transactions names. Refusal:
    /// `subscriptionNotFound`.
    public func show(_ id: String) async throws -> SubscriptionRecord {
        try await row(id).record(realm.renewalRules)
    }

    /// Returns a page of what happened to a customer's subscriptions and refunds, and
    /// in families, in order. Refusals, in order: `customerNotFound`, `cursorInvalid`.
    public func history(
        of customer: String, after: String? = nil, limit: Int = ListPage.max
    ) async throws -> CustomerHistory {
        guard let number = Edge.number(customer) else { throw Self.customerNotFound }
        let start = try Self.place(after, parts: 5)
        let values: [SQLValue] =
            [.integer(number)] + start.map(SQLValue.integer)
            + [.integer(ListPage.limit(limit))]
        let found = try await realm.read(of: CustomerID(number)) { reading in
            (
                isKnown: try reading.first(Statement.Subscriptions.customer, [.integer(number)])
                    != nil,
                rows: try reading.query(Statement.Subscriptions.history, values)
            )
        }
        guard found.isKnown else { throw Self.customerNotFound }
        let isFull = Int64(found.rows.count) == ListPage.limit(limit)
        let next =
            try isFull
            ? found.rows.last.map { row in
                try Statement.Subscriptions.historyPlace
                    .map { String(try row.integer($0)) }.joined(separator: ".")
            } : nil
        return CustomerHistory(
            events: try found.rows.map(SubscriptionEventRecord.init(row:)), next: next)
    }

    /// Returns a customer's subscriptions in an app.
    func all(of customer: CustomerID, in app: BundleID) async throws -> [Subscription] {
        let values: [SQLValue] = [.integer(customer.value), .text(app.value)]
        let rows = try await realm.read(of: customer) {
            try $0.query(Statement.Subscriptions.ofApp, values).map(SubscriptionRow.init(row:))
        }
        return rows.map(\.subscription)
    }

    /// Reads the subscription that a transaction belongs to.
    func row(_ id: String) async throws -> SubscriptionRow {
        guard let number = Edge.number(id) else { throw Self.subscriptionNotFound }
        let row = try await realm.read(ofNumber: number) {
            try $0.first(Statement.Subscriptions.ofTransaction, [.integer(number)])
        }
        guard let row else { throw Self.subscriptionNotFound }
        return try SubscriptionRow(row: row)
    }

    private static func place(_ after: String?, parts count: Int = 2) throws -> [Int64] {
        guard let after else { return [Int64](repeating: 0, count: count) }
        let parts = after.split(separator: ".", omittingEmptySubsequences: false)
            .map { Edge.number(String($0)) }
        let numbers = parts.compactMap { $0 }
        guard numbers.count == count, parts.count == count else {
            throw ListPage.cursorInvalid("after")
        }
        return numbers
    }

    private static func status(_ word: String) throws -> Int {
        guard let status = SubscriptionStatus.allCases.first(where: { "\($0)" == word }) else {
            throw Refusal(
                .badRequest, code: "statusUnknown", "There is no such status.", field: "status",
                rule: SubscriptionStatus.allCases.map { "`\($0)`" }.joined(separator: ", "),
                remedy: "leave it out for all subscriptions")
        }
        return status.rawValue
    }

    static let subscriptionNotFound = Refusal(
        .notFound, code: "subscriptionNotFound", "There is no such subscription.",
        field: "subscriptionId", rule: "the number of one of its transactions",
        remedy: "list the subscriptions")

    static let customerNotFound = Refusal(
        .notFound, code: "customerNotFound", "There is no such customer.", field: "customerId",
        rule: "the number of a customer", remedy: "list the customers")
}

extension SubscriptionRow {
    /// The place in a list.
    var place: [Int64] { [customer.value, subscription.originalID.value] }

    func record(_ rules: RenewalRules) -> SubscriptionRecord {
        let renewal = subscription.renewal
        var record = SubscriptionRecord(
            subscriptionId: subscription.originalID.description,
            customerId: customer.description, bundleId: bundleID.value,
            groupId: subscription.groupID, productId: subscription.current.productID.value,
            transactionId: subscription.current.transaction.description,
            status: "\(subscription.status)", startDate: subscription.current.start,
            endDate: subscription.end, isRenewing: renewal.isOn, failsBilling: failsBilling)
        record.usableUntil = subscription.usableUntil
        record.usableFrom = subscription.usableFrom
        if renewal.isOn, renewal.productID != subscription.current.productID {
            record.nextProductId = renewal.productID.value
        }
        record.nextCharge = subscription.nextCharge(rules).map {
            ChargeRecord(
                productId: $0.productID.value, price: $0.price.amount.milliunits,
                currency: $0.price.currency.code, date: $0.at)
        }
        record.priceIncrease = subscription.increase.map {
            PriceIncreaseRecord(
                price: $0.price.amount.milliunits, startDate: $0.startsAt, isAgreed: $0.isAgreed)
        }
        record.expiration = renewal.stop?.rawValue
        return record
    }
}

extension SubscriptionEventRecord {
    /// Reads a row of ``Statement/Subscriptions/history``.
    init(row: Row) throws {
        let subject = TransactionID(try row.integer("subject"))
        let (body, number) = (try row.text("body"), try row.integer("event"))
        if try row.integer("source") == Statement.Subscriptions.familySource {
            self.init(try StoredJSON.value(body, "an event that cannot be read"), number: number)
            return
        }
        guard try row.integer("source") == Statement.Subscriptions.refundSource else {
            self.init(
                try StoredJSON.value(body, "an event that cannot be read"), of: subject,
                number: number)
            return
        }
        let event: RefundEvent = try StoredJSON.value(body, "an event that cannot be read")
        self.init(event, of: subject, refund: try row.integer("refund"), number: number)
    }

    init(_ event: RefundEvent, of row: RefundRow) {
        self.init(event, of: row.transaction, refund: row.number, number: row.refund.events)
    }

    private init(
        _ event: RefundEvent, of transaction: TransactionID, refund: Int64, number: Int64
    ) {
        let (kind, message) = event.change.words(transaction)
        self.init(
            subscriptionId: nil, event: number, date: event.at, cause: event.cause.rawValue,
            kind: kind, message: message)
        transactionId = transaction.description
        self.refund = refund
    }

    private init(_ event: FamilyEvent, number: Int64) {
        let (kind, message) = event.change.words
        self.init(
            subscriptionId: nil, event: number, date: event.at, cause: event.cause.rawValue,
            kind: kind, message: message)
        transactionId = event.change.transaction?.description
    }

    init(_ event: SubscriptionEvent, of subscription: TransactionID, number: Int64) {
        let (kind, message) = event.change.words
        self.init(
            subscriptionId: subscription.description, event: number, date: event.at,
            cause: event.cause.rawValue, kind: kind, message: message)
    }
}
