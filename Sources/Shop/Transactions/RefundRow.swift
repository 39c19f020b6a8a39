// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// A refund as its row contains it.
struct RefundRow: Sendable {
    let customer: CustomerID
    let transaction: TransactionID
    /// Its number among the transaction's refunds, from 1.
    let number: Int64
    let bundleID: BundleID
    var refund: Refund
    /// The processor's key of the charge that the sum goes back to. Nil without a
    /// processor, and where nothing goes back.
    var charge: String?
    /// When the processor gave the sum back.
    var returnedAt: Timestamp?
    /// When the processor took it back again.
    var takenBackAt: Timestamp?
    var revision: Int64

    /// Identifies the refund in errands, together with its customer.
    var subject: String { Self.subject(transaction, number) }

    static func subject(_ transaction: TransactionID, _ number: Int64) -> String {
        "\(transaction).\(number)"
    }

    /// Parses a ``subject``. Nil if the text is not one.
    static func parts(ofSubject text: String) -> (transaction: TransactionID, number: Int64)? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let transaction = Edge.number(String(parts[0])),
            let number = Edge.number(String(parts[1]))
        else { return nil }
        return (TransactionID(transaction), number)
    }

    /// The row's values.
    var row: [SQLValue] {
        let grant = refund.grant
        return RealmSchema.refunds.row([
            "customer_id": .integer(customer.value), "transaction_id": .integer(transaction.value),
            "refund": .integer(number), "bundle_id": .text(bundleID.value),
            "state": .text(refund.state.rawValue), "wish": .optional(refund.wish?.rawValue),
            "report": .optional(refund.report.map { StoredJSON.text($0) }),
            "kind": .optional(grant?.kind.rawValue),
            "sum": .optional(grant?.sum.amount.milliunits),
            "currency": .optional(grant?.sum.currency.code),
            "percentage": .optional(grant?.percentage.map(Int64.init)),
            "reason": .optional(grant.map { Int64($0.reason.rawValue) }),
            "requested_at": .optional(refund.requestedAt),
            "decided_at": .optional(refund.decidedAt),
            "reversed_at": .optional(refund.reversedAt), "charge": .optional(charge),
            "returned_at": .optional(returnedAt), "taken_back_at": .optional(takenBackAt),
            "events": .integer(refund.events), "revision": .integer(revision),
        ])
    }
}

extension RefundRow {
    init(row: Row) throws {
        func date(_ column: String) throws -> Timestamp? {
            try row.optionalInteger(column).map(Timestamp.init(milliseconds:))
        }
        guard let state = Refund.State(rawValue: try row.text("state")) else {
            throw StorageFault(.malformedRow, "a refund in no known state")
        }
        self.init(
            customer: CustomerID(try row.integer("customer_id")),
            transaction: TransactionID(try row.integer("transaction_id")),
            number: try row.integer("refund"), bundleID: BundleID(try row.text("bundle_id")),
            refund: Refund(
                state: state, wish: try row.optionalText("wish").flatMap(RefundWish.init),
                report: try row.optionalText("report").map { text in
                    try StoredJSON.value(text, "a report that cannot be read")
                }, grant: try Self.grant(row), requestedAt: try date("requested_at"),
                decidedAt: try date("decided_at"), reversedAt: try date("reversed_at"),
                events: try row.integer("events")),
            charge: try row.optionalText("charge"), returnedAt: try date("returned_at"),
            takenBackAt: try date("taken_back_at"), revision: try row.integer("revision"))
    }

    private static func grant(_ row: Row) throws -> RefundGrant? {
        guard let kind = try row.optionalText("kind").flatMap(RefundGrant.Kind.init) else {
            return nil
        }
        guard let currency = Currency(code: try row.text("currency")),
            let reason = RevocationReason(rawValue: Int(try row.integer("reason")))
        else { throw StorageFault(.malformedRow, "a refund that cannot be read") }
        return RefundGrant(
            kind: kind, sum: Money(Amount(milliunits: try row.integer("sum")), currency),
            percentage: try row.optionalInteger("percentage").map(Int.init), reason: reason)
    }

    /// The refunds of a transaction, from number 1.
    static func all(
        of transaction: TransactionID, _ customer: CustomerID, _ reading: any Reading
    ) throws -> [RefundRow] {
        try reading.query(
            Statement.Refunds.ofTransaction,
            [.integer(customer.value), .integer(transaction.value)]
        ).map(RefundRow.init(row:))
    }

    /// Writes a step with its event, in the customer's line. `before`: the
    /// transaction's refunds. `charge`: the processor's key of the sale's charge.
    static func write(
        _ step: RefundStep, of sold: TransactionFacts, after before: [RefundRow],
        charge: String?, _ line: CustomerLine
    ) throws -> RefundRow {
        var row = try stepped(step, of: sold, after: before, line)
        row.revision = line.revision
        if case .granted(let grant) = step.event.change, grant.sum.amount.milliunits > 0 {
            row.charge = charge
        }
        try line.writing.execute(Statement.Refunds.put, row.row)
        try line.writing.execute(
            Statement.Refunds.addEvent,
            RealmSchema.refundEvents.row([
                "customer_id": .integer(sold.customer.value),
                "transaction_id": .integer(sold.id.value), "refund": .integer(step.number),
                "event": .integer(row.refund.events),
                "happened_at": .integer(step.event.at.milliseconds),
                "cause": .text(step.event.cause.rawValue),
                "body": .text(StoredJSON.text(step.event)), "revision": .integer(line.revision),
            ]))
        return row
    }

    private static func stepped(
        _ step: RefundStep, of sold: TransactionFacts, after before: [RefundRow],
        _ line: CustomerLine
    ) throws -> RefundRow {
        if var known = before.first(where: { $0.number == step.number }) {
            known.refund.apply(step.event)
            return known
        }
        guard let refund = Refund(first: step.event) else {
            throw StorageFault(.malformedRow, "a refund that begins with its end")
        }
        return RefundRow(
            customer: sold.customer, transaction: sold.id, number: step.number,
            bundleID: sold.bundleID, refund: refund, revision: line.revision)
    }
}

/// Why a notification of a refund is owed: the refund, and the number of its event.
enum RefundCause {
    static let prefix = "REFUND"

    static func text(_ row: RefundRow) -> String {
        "\(prefix)/\(row.subject).\(row.refund.events)"
    }

    /// Parses a ``text(_:)``. Nil if the text is not one.
    static func parts(
        of text: String
    ) -> (transaction: TransactionID, number: Int64, event: Int64)? {
        let sides = text.split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2, sides[0] == prefix else { return nil }
        let numbers = sides[1].split(separator: ".", omittingEmptySubsequences: false)
            .compactMap { Edge.number(String($0)) }
        guard numbers.count == 3, sides[1].utf8.count(where: { $0 == UInt8(ascii: ".") }) == 2
        else { return nil }
        return (TransactionID(numbers[0]), numbers[1], numbers[2])
    }
}
