// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension PurchaseRoom {
    /// Returns a page of transactions, ordered by customer and then by commit.
    /// Refusal: `cursorInvalid`.
    public func listTransactions(
        bundleID: String? = nil, customer: String? = nil, after: String? = nil,
        limit: Int = ListPage.max
    ) async throws -> TransactionRecords {
        if let bundleID { try Edge.text(bundleID, "bundleId") }
        let parts = after?.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let start = parts ?? ["0", "0", "0"]
        guard start.count == 3 else { throw ListPage.cursorInvalid("after") }
        let owner = try ListPage.cursor(customer, "customer")
        let values: [SQLValue] =
            try start.map { .integer(try ListPage.cursor($0, "after") ?? 0) } + [
                .optional(bundleID), .optional(owner), .integer(ListPage.limit(limit)),
            ]
        let pages = try await realm.readAll(of: owner) { reading in
            (
                clock: try Realm.clock(reading),
                rows: try reading.query(Statement.Transactions.page, values)
                    .map(TransactionFacts.init(row:))
            )
        }
        let rows = pages.flatMap(\.rows).sorted { $0.isBefore($1) }
            .prefix(Int(ListPage.limit(limit)))
        let now = pages[0].clock.now(wall: realm.ports.wall.now)
        let isFull = Int64(rows.count) == ListPage.limit(limit)
        return TransactionRecords(
            transactions: try rows.map { try record($0, at: max(now, $0.changedAt)) },
            next: isFull ? rows.last.map { "\($0.customer).\($0.revision).\($0.id)" } : nil)
    }

    /// Returns one transaction. Refusal: `transactionNotFound`.
    public func transaction(_ id: String) async throws -> TransactionRecord {
        guard let number = Edge.number(id) else { throw Self.transactionNotFound }
        let row = try await realm.read(ofNumber: number) {
            try $0.first(Statement.Transactions.byID, [.integer(number)])
        }
        guard let row else { throw Self.transactionNotFound }
        let facts = try TransactionFacts(row: row)
        let now = try ClockRow(row).now(wall: realm.ports.wall.now)
        return try record(facts, at: max(now, facts.changedAt))
    }

    private func record(_ facts: TransactionFacts, at now: Timestamp) throws -> TransactionRecord {
        let payload = facts.payload(environment: realm.description.environment, signedAt: now)
        return TransactionRecord(
            payload: payload, signedTransactionInfo: try realm.sign(payload),
            customerId: facts.customer.description,
            orderId: facts.ownership == .purchased ? OrderID(of: facts.id)?.text : nil,
            purchaseId: facts.purchaseID?.value,
            unitPrice: facts.unitPrice.milliunits, isFinished: facts.finishedAt != nil)
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
