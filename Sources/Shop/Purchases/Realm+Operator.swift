// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension Realm {
    /// The most entries in one answer to an operator.
    public static let operatorPageMax = 1000

    /// Returns a page of transactions, ordered by customer and then by commit.
    /// Refusal: `cursorInvalid`.
    public func listTransactions(
        bundleID: String? = nil, customer: String? = nil, after: String? = nil,
        limit: Int = operatorPageMax
    ) async throws -> TransactionRecords {
        if let bundleID { try Edge.text(bundleID, "bundleId") }
        let parts = after?.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let start = parts ?? ["0", "0", "0"]
        guard start.count == 3 else { throw Self.cursorInvalid("after") }
        let owner = try Self.cursor(customer, "customer")
        let values: [SQLValue] =
            try start.map { .integer(try Self.cursor($0, "after") ?? 0) } + [
                .optional(bundleID), .optional(owner), .integer(Self.limit(limit)),
            ]
        let pages = try await clusters.readAll(of: owner) { reading in
            (
                clock: try Self.clock(reading),
                rows: try reading.query(Statement.Transactions.page, values)
                    .map(TransactionFacts.init(row:))
            )
        }
        let rows = pages.flatMap(\.rows).sorted { $0.isBefore($1) }
            .prefix(Int(Self.limit(limit)))
        let now = pages[0].clock.now(wall: ports.wall.now)
        let isFull = Int64(rows.count) == Self.limit(limit)
        return TransactionRecords(
            transactions: try rows.map { try record($0, at: max(now, $0.purchasedAt)) },
            next: isFull ? rows.last.map { "\($0.customer).\($0.revision).\($0.id)" } : nil)
    }

    private func record(_ facts: TransactionFacts, at now: Timestamp) throws -> TransactionRecord {
        let payload = facts.payload(environment: description.environment, signedAt: now)
        return TransactionRecord(
            payload: payload, signedTransactionInfo: try sign(payload),
            customerId: facts.customer.description, purchaseId: facts.purchaseID?.value,
            unitPrice: facts.unitPrice.milliunits, isFinished: facts.finishedAt != nil)
    }

    static func limit(_ limit: Int) -> Int64 {
        Int64(min(max(limit, 1), operatorPageMax))
    }

    static func cursor(_ text: String?, _ field: String) throws -> Int64? {
        guard let text else { return nil }
        guard let number = Edge.number(text) else { throw cursorInvalid(field) }
        return number
    }

    static func cursorInvalid(_ field: String) -> Refusal {
        Refusal(
            .badRequest, code: "cursorInvalid", "This is not the end of a page.", field: field,
            rule: "as an earlier answer gave it", remedy: "leave it out to start over")
    }
}

extension TransactionFacts {
    /// Whether it comes before another in an operator's list.
    fileprivate func isBefore(_ other: TransactionFacts) -> Bool {
        (customer.value, revision, id.value) < (
            other.customer.value, other.revision, other.id.value
        )
    }
}
