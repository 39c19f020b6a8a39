// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// Requests and decisions. Each answer lists the events that it caused, and none if
/// everything was as requested already. All refuse with `transactionNotFound`.
extension RefundRoom {
    /// The customer of a session asks for the money of a transaction. Refusals, in
    /// order: `refundReasonUnknown`, `transactionNotFound`, `refundOfShared`,
    /// `refundedAlready`.
    public func request(
        _ id: String, _ request: RefundRequest, _ session: DeviceSession,
        _ context: RequestContext
    ) async throws -> RefundResponse {
        let wish = try Self.wish(request.reason)
        guard let number = Edge.number(id) else { throw PurchaseRoom.transactionNotFound }
        let transaction = RefundedTransaction(
            id: TransactionID(number), customer: session.customer, bundleID: session.bundleID)
        let answer = try await step(transaction, audit: nil, context) { sale, now in
            try sale.requesting(wish, at: now, cause: .customer)
        }
        return RefundResponse(transactionId: id, state: answer.refund.state)
    }

    /// A customer asks on the store's pages. Refusals, in order: those of the request on a
    /// device.
    func request(
        _ id: String, _ request: RefundRequest, of customer: CustomerID,
        _ context: RequestContext
    ) async throws -> RefundResponse {
        let wish = try Self.wish(request.reason)
        let transaction = try await find(id)
        guard transaction.customer == customer else { throw PurchaseRoom.transactionNotFound }
        let answer = try await step(transaction, audit: nil, context) { sale, now in
            try sale.requesting(wish, at: now, cause: .customer)
        }
        return RefundResponse(transactionId: id, state: answer.refund.state)
    }

    /// Asks like the customer would, for tests. Refusals, in order: `sandboxOnly`,
    /// and those of the customer's own request.
    @discardableResult
    public func request(
        _ id: String, _ request: RefundRequest, _ context: RequestContext
    ) async throws -> RefundAnswer {
        guard !realm.isProduction else {
            throw Refusal(
                .forbidden, code: "sandboxOnly",
                "A production realm's customers are not simulated.", field: "realm",
                rule: "tests ask for customers in sandboxes only", remedy: "create a sandbox")
        }
        let wish = try Self.wish(request.reason)
        return try await step(try await find(id), audit: "refund.request", context) { sale, now in
            try sale.requesting(wish, at: now, cause: .tester)
        }
    }

    /// Grants or declines a refund, or takes it back. Refusals, in order:
    /// `refundStateUnknown`, `refundKindUnknown`, `revocationReasonUnknown`,
    /// `transactionNotFound`, `refundOfShared`, `refundedAlready`,
    /// `refundNotRequested`, `notRefunded`, `notProratable`, `nothingUnused`,
    /// `ownedAgain`.
    @discardableResult
    public func decide(
        _ id: String, _ request: DecideRefundRequest, _ context: RequestContext
    ) async throws -> RefundAnswer {
        let state = try Self.state(request.state)
        let kind = try Self.kind(request.kind)
        let reason = try Self.reason(request.reason)
        return try await step(
            try await find(id), audit: "refund.\(state.deed)", context
        ) { sale, now in
            switch state {
            case .granted: try sale.granting(kind, for: reason, at: now, cause: .operator)
            case .declined: try sale.declining(at: now, cause: .operator)
            case .reversed: try sale.reversing(at: now, cause: .operator)
            case .advised: try sale.following(reason, at: now, cause: .operator)
            }
        }
    }

    /// Makes a step in the customer's line. `audit`: the deed for the audit, nil
    /// for what the customer does.
    private func step(
        _ transaction: RefundedTransaction, audit deed: String?, _ context: RequestContext,
        _ decide: @escaping @Sendable (RefundableSale, Timestamp) throws -> RefundStep?
    ) async throws -> RefundAnswer {
        let shelf = try await realm.loadShelf(for: transaction.customer)
        let commit = RefundCommit(subscriptions: realm.subscriptions.commit, shelf: shelf)
        let (realmID, who) = (realm.description.id, context.actor)
        let ending: Ending<RefundAnswer>
        do {
            ending = try await realm.lineOrLeave(
                of: transaction.customer, else: PurchaseRoom.transactionNotFound
            ) { line in
                guard let sale = try RefundSale(transaction.id, in: realmID, line),
                    transaction.bundleID.map({ $0 == sale.facts.bundleID }) ?? true
                else { throw PurchaseRoom.transactionNotFound }
                guard let step = try decide(sale.refundable(at: line.now), line.now) else {
                    return .leave(try Self.answer(sale, line))
                }
                let written = try commit.write(step, sale, line)
                if let deed { try Self.audit(written.row, sale, deed, who, line) }
                return .commit(Self.answer(step, written, sale, line))
            }
        } catch let refusal as RefundRefusal {
            throw refusal.refusal
        }
        if case .commit = ending {
            realm.wake(transaction.customer)
            realm.ring(transaction.customer)
            realm.ports.log(
                .info, "refund", context,
                ["transaction": "\(transaction.id)", "state": ending.answer.refund.state])
        }
        return ending.answer
    }

    private func find(_ id: String) async throws -> RefundedTransaction {
        guard let number = Edge.number(id) else { throw PurchaseRoom.transactionNotFound }
        let row = try await realm.read(ofNumber: number) {
            try $0.first(Statement.Transactions.byID, [.integer(number)])
        }
        guard let row else { throw PurchaseRoom.transactionNotFound }
        return RefundedTransaction(
            id: TransactionID(number), customer: CustomerID(try row.integer("customer_id")),
            bundleID: nil)
    }

    private static func audit(
        _ row: RefundRow, _ sale: RefundSale, _ deed: String, _ who: String, _ line: CustomerLine
    ) throws {
        let before = sale.refunds.first { $0.number == row.number }
        try AuditEntry(
            who: who, wall: line.wall, deed: deed,
            subject: "\(row.customer)/\(row.transaction)",
            before: before?.audited ?? ["state": nil], after: row.audited
        ).write(line.writing)
    }

    private static func answer(
        _ step: RefundStep, _ written: RefundCommit.Written, _ sale: RefundSale,
        _ line: CustomerLine
    ) -> RefundAnswer {
        var events = [SubscriptionEventRecord(step.event, of: written.row)]
        if let row = written.subscription {
            let first = row.events - Int64(written.events.count) + 1
            events += written.events.enumerated().map { index, event in
                SubscriptionEventRecord(
                    event, of: row.subscription.originalID, number: first + Int64(index))
            }
        }
        var record = written.row.record(of: sale.facts.productID)
        record.advice = sale.refundable(at: line.now, with: written.row).advice?.rawValue
        return RefundAnswer(refund: record, events: events, now: line.now)
    }

    /// Nothing was to be done.
    private static func answer(_ sale: RefundSale, _ line: CustomerLine) throws -> RefundAnswer {
        guard let last = sale.last else {
            throw StorageFault(.malformedRow, "a refund that is made without a row")
        }
        var record = last.record(of: sale.facts.productID)
        record.advice = sale.refundable(at: line.now).advice?.rawValue
        return RefundAnswer(refund: record, events: [], now: line.now)
    }
}

/// The transaction that a request is about. `bundleID`: the app that it must be of.
private struct RefundedTransaction: Sendable {
    let id: TransactionID
    let customer: CustomerID
    let bundleID: BundleID?
}

extension RefundRow {
    fileprivate var audited: AuditFields {
        [
            "state": refund.state.rawValue, "kind": refund.grant?.kind.rawValue,
            "sum": refund.grant.map { "\($0.sum)" }, "reason": refund.grant?.reason.word,
        ]
    }
}
