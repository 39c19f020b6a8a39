// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension RefundRoom {
    /// Returns a page of refunds, ordered by customer and transaction. Refusals, in
    /// order: `refundStateUnknown`, `cursorInvalid`.
    public func list(
        state: String? = nil, customer: String? = nil, after: String? = nil,
        limit: Int = ListPage.max
    ) async throws -> RefundRecords {
        if let state, Refund.State(rawValue: state) == nil { throw Self.stateUnknown }
        let start = try Self.place(after)
        let owner = try ListPage.cursor(customer, "customer")
        let values: [SQLValue] =
            start.map(SQLValue.integer) + [
                .optional(owner), .optional(state), .integer(ListPage.limit(limit)),
            ]
        let rows = try await realm.page(
            Int(ListPage.limit(limit)), of: owner,
            by: { $0.place.lexicographicallyPrecedes($1.place) }
        ) { reading in
            try reading.query(Statement.Refunds.page, values).map(ListedRefund.init(row:))
        }
        let isFull = Int64(rows.count) == ListPage.limit(limit)
        return RefundRecords(
            refunds: rows.map { $0.row.record(of: $0.productID) },
            next: isFull
                ? rows.last.map { $0.place.map(String.init).joined(separator: ".") } : nil)
    }

    private static func place(_ after: String?) throws -> [Int64] {
        guard let after else { return [0, 0, 0] }
        let parts = after.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Edge.number(String($0)) }
        guard numbers.count == 3, parts.count == 3 else { throw ListPage.cursorInvalid("after") }
        return numbers
    }

    private static let stateUnknown = Refusal(
        .badRequest, code: "refundStateUnknown", "There is no such state.", field: "state",
        rule: Refund.State.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", "),
        remedy: "leave it out for all refunds")
}

/// A refund in a list, with the product of its transaction.
private struct ListedRefund: Sendable {
    let row: RefundRow
    let productID: ProductID

    init(row: Row) throws {
        self.row = try RefundRow(row: row)
        productID = ProductID(try row.text("product_id"))
    }

    /// The place in the list.
    var place: [Int64] { [row.customer.value, row.transaction.value, row.number] }
}

extension RefundRow {
    /// The refund for operators.
    func record(of product: ProductID) -> RefundRecord {
        var record = RefundRecord(
            transactionId: transaction.description, refund: number,
            customerId: customer.description, bundleId: bundleID.value, productId: product.value,
            state: refund.state.rawValue)
        record.requestReason = refund.wish?.rawValue
        record.report = refund.report.map { report in
            ConsumptionRecord(
                version: report.version, deliveryStatus: report.delivery.rawValue,
                sampleContentProvided: report.isSampleProvided,
                consumptionPercentage: report.used,
                refundPreference: report.preference?.rawValue)
        }
        record.kind = refund.grant?.kind.rawValue
        record.sum = refund.grant?.sum.amount.milliunits
        record.currency = refund.grant?.sum.currency.code
        record.percentage = refund.grant?.percentage
        record.reason = refund.grant?.reason.word
        record.requestedDate = refund.requestedAt
        record.decidedDate = refund.decidedAt
        record.reversedDate = refund.reversedAt
        record.returnedDate = returnedAt
        record.takenBackDate = takenBackAt
        return record
    }
}
