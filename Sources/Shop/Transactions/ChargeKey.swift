// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// The processor's keys of charges.
enum ChargeKey {
    /// Of a purchase. `history`: see ``PurchaseKey/charge(in:since:)``.
    static func ofPurchase(
        _ id: PurchaseID, of customer: CustomerID, _ app: BundleID, in realm: String,
        since history: Int64?
    ) -> String {
        let key = "\(realm)/\(customer)/\(app)/\(id)"
        return history.map { "\(key)/\($0)" } ?? key
    }

    /// Of a renewal: it has no number that a restored store would draw anew, so a
    /// period that such a store charges again has its old key.
    static func ofRenewal(
        _ subject: String, of customer: CustomerID, _ app: BundleID, in realm: String
    ) -> String {
        "\(realm)/\(customer)/\(app)/renewal/\(subject)"
    }

    /// Identifies a renewal's charge, together with its customer.
    static func renewalSubject(
        _ subscription: TransactionID, periodEnd: Timestamp, attempt: Int64
    ) -> String {
        "\(subscription)/\(periodEnd.milliseconds)/\(attempt)"
    }

    /// Of the charge that paid for a transaction. Nil if no processor has the money.
    static func of(
        _ facts: TransactionFacts, in realm: String, _ reading: any Reading
    ) throws -> String? {
        let values: [SQLValue] = [.integer(facts.customer.value), .integer(facts.id.value)]
        guard let row = try reading.first(Statement.Refunds.charge, values) else { return nil }
        if let end = try row.optionalInteger("period_end") {
            let subject = renewalSubject(
                facts.originalID, periodEnd: Timestamp(milliseconds: end),
                attempt: try row.integer("attempt"))
            return ofRenewal(subject, of: facts.customer, facts.bundleID, in: realm)
        }
        guard let purchase = facts.purchaseID,
            try row.optionalText("processor_reference") != nil,
            try row.optionalInteger("voided_at") == nil
        else { return nil }
        return ofPurchase(
            purchase, of: facts.customer, facts.bundleID, in: realm,
            since: try row.optionalInteger("history_revision"))
    }
}
