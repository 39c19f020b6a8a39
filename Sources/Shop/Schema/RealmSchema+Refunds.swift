// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

/// Money that customers asked back or got back.
extension RealmSchema {
    private static let number = ValueRule.integer(1...1 << 20)
    private static let cause = ValueRule.word(SubscriptionEvent.Cause.allCases.map(\.rawValue))

    /// One row for each refund of a transaction, from number 1: what its events made
    /// of it. `sum` is what was given back, also after it was taken back. `charge` is
    /// the processor's key of the charge that the sum goes back to, and
    /// `returned_at` and `taken_back_at` are the dates of the processor's answers. `report`
    /// is what the merchant reported about the purchase, as JSON.
    static let refunds = Table(
        "refunds", key: ["customer_id", "transaction_id", "refund"], as: .tree,
        [
            "customer_id": .customer, "transaction_id": .number(.transaction),
            "refund": number, "bundle_id": .bundleID,
            "state": .word(Refund.State.allCases.map(\.rawValue)),
            "wish": .word(RefundWish.allCases.map(\.rawValue)).optional,
            "report": .json.optional,
            "kind": .word(RefundGrant.Kind.allCases.map(\.rawValue)).optional,
            "sum": .integer(0...Amount.milliunitsMax * Int64(Payment.quantityMax)).optional,
            "currency": .currency.optional, "percentage": .percentage.optional,
            "reason": .integer(0...1000).optional, "requested_at": .time.optional,
            "decided_at": .time.optional, "reversed_at": .time.optional,
            "charge": .charge.optional, "returned_at": .time.optional,
            "taken_back_at": .time.optional, "events": .count, "revision": .count,
        ],
        indexes: [
            .init(
                "refunds_requested", on: ["customer_id", "transaction_id", "refund"],
                where: "state = 'requested'")
        ],
        references: [
            ofCustomer, ofApp, .init(["customer_id", "transaction_id"], to: "transactions"),
        ])

    /// What happened to a refund, in order from event 1. `body` is the event as JSON.
    static let refundEvents = Table(
        "refund_events", key: ["customer_id", "transaction_id", "refund", "event"], as: .tree,
        [
            "customer_id": .customer, "transaction_id": .number(.transaction),
            "refund": number, "event": number, "happened_at": .time, "cause": cause,
            "body": .json, "revision": .count,
        ],
        references: [.init(["customer_id", "transaction_id", "refund"], to: "refunds")])
}
