// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// Names the charge of a renewal: subscription, end of the paid period, and the
/// number of the attempt.
struct RenewalChargeKey: Hashable, Sendable {
    let customer: CustomerID
    let subscription: TransactionID
    let periodEnd: Timestamp
    let attempt: Int64

    var values: [SQLValue] {
        [
            .integer(customer.value), .integer(subscription.value),
            .integer(periodEnd.milliseconds), .integer(attempt),
        ]
    }

    /// Identifies the charge in errands, together with its customer.
    var subject: String {
        ChargeKey.renewalSubject(subscription, periodEnd: periodEnd, attempt: attempt)
    }

    /// Returns the processor's key.
    func charge(in realm: String, of app: BundleID) -> String {
        ChargeKey.ofRenewal(subject, of: customer, app, in: realm)
    }
}

extension RenewalChargeKey {
    /// Parses a ``subject``. Nil if the text is not one.
    init?(customer: CustomerID, subject: String) {
        let parts = subject.split(separator: "/", omittingEmptySubsequences: false)
            .map { Edge.number(String($0)) }
        let numbers = parts.compactMap { $0 }
        guard parts.count == 3, numbers.count == 3 else { return nil }
        self.init(
            customer: customer, subscription: TransactionID(numbers[0]),
            periodEnd: Timestamp(milliseconds: numbers[1]), attempt: numbers[2])
    }
}

/// A renewal that the payment processor was asked to charge, as its row contains
/// it.
struct RenewalChargeRow: Sendable {
    let key: RenewalChargeKey
    var state: RenewalChargeState
    let charge: RenewalCharge
    /// Of the price, as it was when it was asked for.
    let storefront: String
    /// The number of the subscription's events when it was asked for.
    let events: Int64
    var settledAt: Timestamp?
    var transaction: TransactionID?
    var reference: String?
    var capturedAt: Timestamp?
    var voidedAt: Timestamp?

    /// The row's values.
    var row: [SQLValue] {
        RealmSchema.renewalCharges.row([
            "customer_id": .integer(key.customer.value),
            "subscription_id": .integer(key.subscription.value),
            "period_end": .integer(key.periodEnd.milliseconds), "attempt": .integer(key.attempt),
            "state": .text(state.rawValue),
            "total_price": .integer(charge.period.price.amount.milliunits),
            "currency": .text(charge.period.price.currency.code),
            "storefront": .text(storefront), "body": .text(StoredJSON.text(charge)),
            "events": .integer(events), "asked_at": .integer(charge.at.milliseconds),
            "settled_at": .optional(settledAt), "transaction_id": .optional(transaction?.value),
            "processor_reference": .optional(reference), "captured_at": .optional(capturedAt),
            "voided_at": .optional(voidedAt),
        ])
    }

    /// Whether the state has the dates and names that it needs.
    var isWhole: Bool {
        let isApproved = state == .sold || state == .dropped
        return (settledAt == nil) == (state == .asked) && (reference != nil) == isApproved
            && (transaction != nil) == (state == .sold) && (capturedAt == nil || state == .sold)
            && (voidedAt == nil || state == .dropped)
    }

    /// What the processor is to reserve.
    func charge(in realm: String, of app: BundleID) -> Charge {
        Charge(
            key: key.charge(in: realm, of: app), total: charge.period.price,
            customer: key.customer, bundleID: app, productID: charge.period.productID)
    }
}

extension RenewalChargeRow {
    init(row: Row) throws {
        guard let state = RenewalChargeState(rawValue: try row.text("state")) else {
            throw StorageFault(.malformedRow, "a charge in no known state")
        }
        func time(_ column: String) throws -> Timestamp? {
            try row.optionalInteger(column).map(Timestamp.init(milliseconds:))
        }
        self.init(
            key: RenewalChargeKey(
                customer: CustomerID(try row.integer("customer_id")),
                subscription: TransactionID(try row.integer("subscription_id")),
                periodEnd: Timestamp(milliseconds: try row.integer("period_end")),
                attempt: try row.integer("attempt")),
            state: state,
            charge: try StoredJSON.value(try row.text("body"), "a charge that cannot be read"),
            storefront: try row.text("storefront"), events: try row.integer("events"),
            settledAt: try time("settled_at"),
            transaction: try row.optionalInteger("transaction_id").map { TransactionID($0) },
            reference: try row.optionalText("processor_reference"),
            capturedAt: try time("captured_at"), voidedAt: try time("voided_at"))
    }

    static func find(
        _ key: RenewalChargeKey, _ reading: any Reading
    ) throws -> RenewalChargeRow? {
        try reading.first(Statement.RenewalCharges.one, key.values)
            .map(RenewalChargeRow.init(row:))
    }

    /// Returns the charges of a subscription that have no answer.
    static func asked(
        of subscription: TransactionID, _ customer: CustomerID, _ reading: any Reading
    ) throws -> [RenewalChargeRow] {
        try reading.query(
            Statement.RenewalCharges.asked,
            [.integer(customer.value), .integer(subscription.value)]
        ).map(RenewalChargeRow.init(row:))
    }
}
