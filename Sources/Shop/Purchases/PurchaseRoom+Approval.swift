// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// Ask to Buy: the waiting purchases and the answers to them.
extension PurchaseRoom {
    /// Returns a page of purchases, ordered by customer. Refusals, in order:
    /// `stateUnknown`, `cursorInvalid`.
    public func listPurchases(
        state: String? = nil, after: String? = nil, limit: Int = ListPage.max
    ) async throws -> PurchaseRecords {
        guard state == nil || state == PurchaseState.waiting(.approval).word else {
            throw Refusal(
                .badRequest, code: "stateUnknown", "Purchases are not listed by this state.",
                field: "state", rule: "`waiting`", remedy: "leave it out for all purchases")
        }
        let statement = state == nil ? Statement.Purchases.page : Statement.Purchases.waitingPage
        let values = try Self.place(after) + [.integer(ListPage.limit(limit))]
        let rows = try await realm.page(
            Int(ListPage.limit(limit)), by: { $0.key.isBefore($1.key) }
        ) { try $0.query(statement, values).map(Self.purchase) }
        let isFull = Int64(rows.count) == ListPage.limit(limit)
        return PurchaseRecords(
            purchases: rows.map(\.record),
            next: isFull ? rows.last.map { "\($0.key.customer)/\($0.key.subject)" } : nil)
    }

    /// Answers a payment that waits for approval, and returns its new state.
    /// The first answer counts. The same answer again gets the same result.
    /// Refusals, in order: `answerUnknown`, `uuidInvalid`, `purchaseNotFound`,
    /// `purchaseAmbiguous`, `approvalAnswered`.
    public func answerApproval(
        _ purchaseID: String, _ request: AnswerApprovalRequest, _ context: RequestContext
    ) async throws -> PurchaseRecord {
        guard let answer = ApprovalAnswer(rawValue: request.answer), answer != .timedOut else {
            throw Refusal(
                .badRequest, code: "answerUnknown", "There is no such answer.", field: "answer",
                rule: "`approved` or `declined`", remedy: "send one of them")
        }
        let id = try Edge.uuid(purchaseID, "purchaseId").text
        let row = try await waiting(id, of: request.customerId)
        let commit = try await commit(of: row)
        do {
            let entry = realm.audit(
                "purchase.\(answer == .approved ? "approve" : "decline")",
                "\(row.key.customer)/\(id)", before: ["state": row.state.word],
                after: ["state": answer.rawValue],
                context)
            let ending = try await realm.lineOrLeave(of: row.key.customer, asking: commit.question)
            {
                let ending = try commit.answer(answer, $0)
                try entry.write($0.writing)
                return ending
            }
            if case .commit(let outcome) = ending {
                committed(outcome, row.key, row.payment, context)
            }
            giveBackUnused(commit, try await settle(commit, ending.answer, context))
        } catch let refusal as Refusal {
            realm.giveBack(commit.transactionNumber)
            throw refusal
        }
        guard let now = try await purchaseRow(row.key) else { throw Self.purchaseNotFound }
        return now.record
    }

    private func waiting(_ id: String, of customer: String?) async throws -> PurchaseRow {
        let rows = try await realm.readAll(of: customer.flatMap(Edge.number)) { reading in
            try reading.query(Statement.Purchases.waitingByID, [.text(id)]).map(Self.purchase)
        }.flatMap { $0 }
        let theirs = rows.filter { customer == nil || $0.key.customer.description == customer }
        guard let row = theirs.first else { throw Self.purchaseNotFound }
        guard theirs.count == 1 else {
            throw Refusal(
                .conflict, code: "purchaseAmbiguous",
                "Several customers wait with purchases of this id.", field: "customerId",
                rule: "a purchase id is its customer's own, and may be another's too",
                remedy: "name the customer of the purchase")
        }
        return row
    }

    private static func purchase(_ row: Row) throws -> PurchaseRow {
        guard let purchase = try PurchaseRow(row, key: try PurchaseKey(row)) else {
            throw StorageFault(.malformedRow, "a purchase without a product")
        }
        return purchase
    }

    /// The start of a page: `customer/app/purchase` of the row before.
    private static func place(_ after: String?) throws -> [SQLValue] {
        guard let after else { return [.integer(0), .text(""), .text("")] }
        let parts = after.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let customer = Edge.number(String(parts[0])),
            !after.utf8.contains(0)
        else { throw ListPage.cursorInvalid("after") }
        return [.integer(customer), .text(String(parts[1])), .text(String(parts[2]))]
    }

    static var purchaseNotFound: Refusal {
        Refusal(
            .notFound, code: "purchaseNotFound", "No such purchase waits for approval.",
            field: "purchaseId", rule: "the id of a purchase that waits, or waited, for approval",
            remedy: "list the purchases that wait")
    }
}

extension PurchaseRow {
    /// The purchase for operators.
    var record: PurchaseRecord {
        var record = PurchaseRecord(
            purchaseId: key.purchaseID.value, customerId: key.customer.description,
            bundleId: key.bundleID.value, productId: payment.productID.value,
            quantity: payment.quantity, unitPrice: payment.shownUnitPrice.amount.milliunits,
            currency: payment.shownUnitPrice.currency.code, state: state.word,
            askedDate: askedAt)
        record.refusal = state.refusal?.rawValue
        record.waitingFor = waitingFor?.rawValue
        record.approval = approval?.rawValue
        record.joins = state.joins?.value
        if case .sold(let id) = state { record.transactionId = id.description }
        if case .waiting = state {
            record.answerableUntil = ApprovalAnswer.deadline(askedAt: askedAt)
        }
        return record
    }
}

extension PurchaseKey {
    /// Whether it comes before another in an operator's list.
    fileprivate func isBefore(_ other: PurchaseKey) -> Bool {
        if customer != other.customer { return customer.value < other.customer.value }
        if bundleID != other.bundleID { return bundleID.value.isBefore(other.bundleID.value) }
        return purchaseID.value.isBefore(other.purchaseID.value)
    }
}
