// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// What operators and visitors see of reviews.
extension ReviewRoom {
    /// Returns the reviews that visitors see, the newest first, with their average.
    public func shown(_ bundleID: String, limit: Int) async throws -> ReviewRecords {
        try await page(bundleID, before: Self.start, limit: limit, withRemoved: false)
    }

    /// Returns a page of an app's reviews with the removed ones, the newest first.
    /// Refusals, in order: `bundleIdUnknown`, `cursorInvalid`.
    public func list(
        bundleID: String, after: String? = nil, limit: Int = ListPage.max
    ) async throws -> ReviewRecords {
        _ = try await realm.catalogue.app(bundleID)
        let place = try after.map(Self.place) ?? Self.start
        return try await page(
            bundleID, before: place, limit: Int(ListPage.limit(limit)), withRemoved: true)
    }

    private func page(
        _ bundleID: String, before place: [SQLValue], limit: Int, withRemoved: Bool
    ) async throws -> ReviewRecords {
        let values = [.text(bundleID)] + place + [.integer(Int64(limit)), .boolean(withRemoved)]
        return try await realm.readHouse { reading in
            let summary = try ReviewSummary(bundleID, reading)
            let rows = try reading.query(Statement.Reviews.page, values)
                .map(ReviewRow.init(row:))
            return ReviewRecords(
                count: summary.count, average: summary.average, reviews: rows.map(\.record),
                next: rows.count == limit ? rows.last?.cursor : nil)
        }
    }

    /// Before every review.
    private static let start: [SQLValue] = [.integer(.max), .integer(.max)]

    private static func place(_ after: String) throws -> [SQLValue] {
        let parts = after.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Edge.number(String($0)) }
        guard parts.count == 2, numbers.count == 2 else { throw ListPage.cursorInvalid("after") }
        return numbers.map(SQLValue.integer)
    }

    /// Answers a review in place of an earlier answer. Refusals, in order:
    /// `reviewTextInvalid`, `reviewNotFound`.
    public func answer(
        _ customerID: String, bundleID: String, _ request: AnswerReviewRequest,
        _ context: RequestContext
    ) async throws -> ReviewRecord {
        try Self.check(request.text)
        return try await change(customerID, bundleID, "review.answer", context) {
            (row, now, writing) in
            if row.answer == request.text { return false }
            let values: [SQLValue] = [.text(request.text), .integer(now.milliseconds)]
            return try writing.first(Statement.Reviews.answer, row.key + values) != nil
        }
    }

    /// Removes a review from the pages. It stays in the operators' list, until the
    /// customer writes another. A removed one stays so. Refusal: `reviewNotFound`.
    public func remove(
        _ customerID: String, bundleID: String, _ context: RequestContext
    ) async throws {
        _ = try await change(customerID, bundleID, "review.remove", context) { row, now, writing in
            let values: [SQLValue] = [.integer(now.milliseconds)]
            return try writing.first(Statement.Reviews.remove, row.key + values) != nil
        }
    }

    /// Changes a review and audits it. The closure returns whether it changed anything.
    private func change(
        _ customerID: String, _ bundleID: String, _ deed: String, _ context: RequestContext,
        _ body: @escaping @Sendable (ReviewRow, Timestamp, any Writing) throws -> Bool
    ) async throws -> ReviewRecord {
        guard let number = Edge.number(customerID) else { throw Self.notFound }
        let key: [SQLValue] = [.text(bundleID), .integer(number)]
        return try await realm.house(.rows, context) { house in
            let (writing, wall) = (house.writing, house.wall)
            let now = try Realm.clock(writing).now(wall: wall)
            guard
                let before = try writing.first(Statement.Reviews.one, key)
                    .map(ReviewRow.init(row:))
            else { throw Self.notFound }
            guard try body(before, now, writing),
                let after = try writing.first(Statement.Reviews.one, key)
                    .map(ReviewRow.init(row:))
            else { return .leave(before.record) }
            try house.audit(
                deed, "\(bundleID)/\(customerID)", before: before.audited, after: after.audited)
            return .commit(after.record)
        }
    }

    private static let notFound = Refusal(
        .notFound, code: "reviewNotFound", "The customer has not reviewed this app.",
        field: "customerId", rule: "as in the list of the app's reviews",
        remedy: "see `shopkeeper review list`")
}

extension ReviewRow {
    /// The key of the review that was read: a newer one has another date.
    fileprivate var key: [SQLValue] {
        [.text(bundleID), .integer(customer.value), .integer(reviewedAt.milliseconds)]
    }

    fileprivate var audited: AuditFields {
        ["answer": answer, "state": removedAt == nil ? "shown" : "removed"]
    }
}

/// The customer's choice on the store's pages.
extension ReviewRoom {
    /// Whether apps may ask the customer for reviews.
    func isAllowed(of customer: CustomerID) async throws -> Bool {
        try await realm.readHouse {
            try $0.first(Statement.Reviews.refusal, [.integer(customer.value)]) == nil
        }
    }

    /// Switches the requests of all apps on or off.
    func allow(_ isAllowed: Bool, of customer: CustomerID) async throws {
        let (key, wall) = (SQLValue.integer(customer.value), realm.ports.wall.now)
        try await realm.bookkeepingAtHome { writing -> Ending<Void> in
            if isAllowed {
                try writing.execute(Statement.Reviews.allow, [key])
            } else {
                let now = try Realm.clock(writing).now(wall: wall)
                try writing.execute(
                    Statement.Reviews.refuse, [key, .integer(now.milliseconds)])
            }
            return .commit(())
        }
    }
}
