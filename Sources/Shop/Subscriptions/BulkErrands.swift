// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Work

/// Visits the subscriptions of a bulk change, a limited number each time. An errand,
/// because no commit can hold any number of customers, and so that another process
/// goes on if this one dies.
struct BulkErrands: ErrandHandler {
    /// The number of subscriptions that are visited in one lease. That takes a few
    /// seconds at most.
    static let visitsMax = 2_000
    /// The number of subscriptions that are read at once.
    static let pageMax = 200
    /// The number of customers whose subscriptions are changed at the same time.
    static let widthMax = 8

    var kind: String { WorkKind.bulk }
    var isFollowUp: Bool { true }

    func perform(_ errand: Errand, in realm: Realm) async throws -> RealmReport {
        guard let key = BulkChangeKey(subject: errand.subject),
            let bulk = try await realm.readHouse({ try BulkChangeRow.find(key, $0) })
        else { throw StorageFault(.malformedRow, "an errand of no change") }
        if bulk.completedAt != nil { return ErrandReport(.done) }
        return try await realm.subscriptions.visit(bulk)
    }
}

extension SubscriptionRoom {
    /// Visits the next subscriptions. Returns how the errand goes on.
    fileprivate func visit(_ bulk: BulkChangeRow) async throws -> RealmReport {
        var cursor = bulk.cursor ?? [0, 0]
        for _ in 0..<(BulkErrands.visitsMax / BulkErrands.pageMax) {
            try Task.checkCancellation()
            let page = try await subscriptions(of: bulk, after: cursor)
            try await visit(page, bulk)
            guard page.count == BulkErrands.pageMax, let last = page.last else {
                return try await completion(of: bulk)
            }
            cursor = last.place
        }
        let values = bulk.key.values + [.text(BulkChangeRow.text(cursor))]
        return ErrandReport(.again(at: try await realm.now(for: OwedNotification.nobody))) {
            try $0.execute(Statement.Bulk.setCursor, values)
        }
    }

    private func subscriptions(
        of bulk: BulkChangeRow, after cursor: [Int64]
    ) async throws -> [SubscriptionRow] {
        let values: [SQLValue] =
            cursor.map(SQLValue.integer) + [
                .text(bulk.key.bundleID.value), .text(bulk.change.productID.value),
                .integer(Int64(BulkErrands.pageMax)),
            ]
        return try await realm.page(
            BulkErrands.pageMax, by: { $0.place.lexicographicallyPrecedes($1.place) }
        ) { try $0.query(Statement.Bulk.subscriptions, values).map(SubscriptionRow.init(row:)) }
    }

    private func visit(_ page: [SubscriptionRow], _ bulk: BulkChangeRow) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, row) in page.enumerated() {
                if index >= BulkErrands.widthMax { try await group.next() }
                group.addTask { try await self.change(row, by: bulk) }
            }
            try await group.waitForAll()
        }
    }

    /// Changes one subscription, in its customer's line, unless that was done before.
    private func change(_ found: SubscriptionRow, by bulk: BulkChangeRow) async throws {
        let (id, customer) = (found.subscription.originalID, found.customer)
        let shelf = try await realm.loadShelf(for: customer)
        let (commit, isCharged) = (self.commit, realm.chargesRenewals)
        let ending = try await realm.lineOrLeave(of: customer, mayLag: true) {
            line -> Ending<Void> in
            guard let row = try SubscriptionRow.find(id, of: customer, line.writing) else {
                return .leave(())
            }
            let context = try RenewalContext(row, shelf, line, at: line.now, isCharged: isCharged)
            let isConcerned = bulk.change.concerns(
                row.subscription, in: context.storefront.countryCode,
                isOnOtherClock: line.clock != .realm)
            guard isConcerned else { return .leave(()) }
            let events = try Self.events(
                of: bulk.change, row, listed: context.listedPrice, line)
            let mark = BulkMark(key: bulk.key, subscription: id)
            guard try mark.write(isDone: events != nil, line) else { return .leave(()) }
            guard let events else {
                return .commit(
                    try bulk.oweFailure(of: row, line, hasURL: context.hasURL, uuid: commit.uuid))
            }
            try commit.write(events, to: row, line, hasURL: context.hasURL) { _ in
                throw StorageFault(.malformedRow, "a change of many that sells a period")
            }
            return .commit(())
        }
        guard case .commit = ending else { return }
        realm.wake(customer)
        realm.ring(customer)
    }

    /// The events of a change of one subscription. Nil if it cannot be made.
    private static func events(
        of change: BulkChange, _ row: SubscriptionRow, listed: Money?, _ line: CustomerLine
    ) throws -> [SubscriptionEvent]? {
        do {
            if case .extend(let days) = change.kind, change.isMerchants == true {
                return try extended(row, days: days, line)
            }
            return try change.events(
                of: row.subscription, listed: listed, at: line.now, cause: .operator)
        } catch is AppleRefusal { return nil } catch is SubscriptionRefusal { return nil }
    }

    /// Every subscription was visited. The commit that removes the errand writes how
    /// many could be changed, and owes the merchant a summary.
    private func completion(of bulk: BulkChangeRow) async throws -> RealmReport {
        let counts = try await counts(of: bulk.key)
        let now = try await realm.now(for: OwedNotification.nobody)
        let app = try await realm.loadShelf().apps[bulk.key.bundleID]
        let hasURL = app?.notificationURL != nil
        let cause = BulkCause.summary(bulk.key)
        let uuid = realm.uuid(for: "notification/\(cause)")
        return ErrandReport(.done) { writing in
            let completed = try writing.first(
                Statement.Bulk.complete,
                bulk.key.values + [
                    .integer(now.milliseconds), .integer(counts.succeeded),
                    .integer(counts.failed),
                ])
            guard completed != nil, case .extend = bulk.change.kind else { return }
            try OwedNotification(
                customer: OwedNotification.nobody, cause: cause, uuid: uuid,
                type: NotificationKind.renewalExtension, subtype: "SUMMARY",
                bundleID: bulk.key.bundleID, transaction: nil, revision: 0, owedAt: now
            ).write(writing, hasURL: hasURL)
        }
    }
}

extension BulkChangeRow {
    /// Owes the merchant that a renewal date could not be extended.
    fileprivate func oweFailure(
        of row: SubscriptionRow, _ line: CustomerLine, hasURL: Bool,
        uuid: @Sendable (String) -> String
    ) throws {
        guard case .extend = change.kind else { return }
        let cause = BulkCause.failure(key, of: row.subscription.originalID)
        try OwedNotification(
            customer: row.customer, cause: cause, uuid: uuid("notification/\(cause)"),
            type: NotificationKind.renewalExtension, subtype: "FAILURE",
            bundleID: row.bundleID, transaction: row.subscription.current.transaction,
            revision: line.revision, owedAt: line.now
        ).write(line, hasURL: hasURL)
    }
}
