// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// The periods of one subscription that a member got from a purchaser, and which of them the
/// member is shown.
struct SharedSubscription: Sendable {
    private struct Period {
        let transaction: TransactionID
        let saleID: TransactionID
        let turn: Int64
        let purchasedAt: Timestamp
        let revision: Int64
        /// When the member had it no more. The latest time for the present one, and the
        /// earliest for one that another has followed.
        let endedAt: Int64

        init(row: Row) throws {
            transaction = TransactionID(try row.integer("transaction_id"))
            saleID = TransactionID(try row.integer("sale_id"))
            turn = try row.integer("turn")
            purchasedAt = Timestamp(milliseconds: try row.integer("purchased_at"))
            revision = try row.integer("revision")
            let ending = try row.optionalText("ending").flatMap(FamilyShare.Ending.init(rawValue:))
            switch ending {
            case nil: endedAt = .max
            case .renewed, .upgraded: endedAt = .min
            default: endedAt = try row.optionalInteger("ended_at") ?? 0
            }
        }
    }

    private let periods: [Period]

    /// The subscriptions that the families of a member have shared in an app, by their
    /// first transactions.
    static func all(
        of member: CustomerID, _ bundleID: BundleID, _ reading: any Reading
    ) throws -> [SharedSubscription] {
        let rows = try reading.query(
            Statement.Families.periods, [.integer(member.value), .text(bundleID.value)])
        guard !rows.isEmpty else { return [] }
        var found: [Int64: [Period]] = [:]
        for row in rows {
            found[try row.integer("original_sale_id"), default: []].append(try Period(row: row))
        }
        return found.values.map { SharedSubscription(periods: $0) }
            .sorted { ($0.first?.value ?? 0) < ($1.first?.value ?? 0) }
    }

    private var first: TransactionID? {
        periods.map(\.transaction).min { $0.value < $1.value }
    }

    /// The subscription as the member is shown it: with the period that the purchaser is
    /// shown or, where the member did not get that one, with the last that the member got.
    /// The purchaser's subscription is as it was when the last of these rows was written.
    ///
    /// The period that begins last need not be the present one. One that was charged ahead
    /// begins later than one that an upgrade sold since.
    func subscriptionRow(
        of member: CustomerID, at now: Timestamp, _ reading: any Reading
    ) throws -> SubscriptionRow? {
        let newest = periods.max {
            ($0.revision, $0.transaction.value) < ($1.revision, $1.transaction.value)
        }
        let state = try newest.flatMap {
            try FamilyShareRow.find($0.transaction, of: member, reading)
        }?.subscription
        guard let state else { return nil }
        let sale = state.shownTransaction(at: now)
        let shown = periods.filter { $0.saleID == sale }.max { $0.turn < $1.turn } ?? last
        guard let shown, var row = try FamilyShareRow.find(shown.transaction, of: member, reading)
        else { return nil }
        row.subscription = state
        let key: [SQLValue] = [.integer(member.value), .integer(shown.transaction.value)]
        guard let found = try reading.first(Statement.Transactions.one, key) else {
            throw StorageFault(.malformedRow, "a share whose transaction is gone")
        }
        return row.subscriptionRow(of: try TransactionFacts(row: found))
    }

    /// The one that the member had last. A period that was charged ahead and then replaced
    /// begins later than that.
    private var last: Period? {
        periods.max {
            ($0.endedAt, $0.purchasedAt, $0.transaction.value)
                < ($1.endedAt, $1.purchasedAt, $1.transaction.value)
        }
    }
}
