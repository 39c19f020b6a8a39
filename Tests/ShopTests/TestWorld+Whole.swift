// SPDX-License-Identifier: Apache-2.0

import Storage

@testable import Shop

extension TestWorld {
    /// Everything that happened, as the databases have it, except for signatures.
    func whole() async throws -> [String] {
        let tables: [(name: String, columns: [String])] = [
            (
                "subscription_events",
                ["customer_id", "subscription_id", "event", "happened_at", "body", "revision"]
            ),
            (
                "subscriptions",
                ["customer_id", "subscription_id", "state", "status", "ends_at", "revision"]
            ),
            (
                "transactions",
                [
                    "customer_id", "transaction_id", "original_transaction_id", "product_id",
                    "unit_price", "purchased_at", "expires_at", "revoked_at", "changed_at",
                    "revision", "offer", "record",
                ]
            ),
            (
                "outbox",
                [
                    "customer_id", "cause", "notification_uuid", "notification_type", "subtype",
                    "transaction_id", "revision", "created_at",
                ]
            ),
            ("due_work", ["customer_id", "subject", "due_at"]),
            (
                "family_events",
                ["customer_id", "revision", "event", "happened_at", "cause", "body", "change"]
            ),
            (
                "family_shares",
                [
                    "customer_id", "sale_id", "turn", "transaction_id", "granted_at", "ends_at",
                    "ending", "ended_at", "state", "revision",
                ]
            ),
        ]
        var told: [String] = []
        for (name, columns) in tables {
            let list = columns.joined(separator: ", ")
            let all = Statement(
                "test.\(name)",
                "SELECT \(list) FROM \(name) ORDER BY \(columns.prefix(3).joined(separator: ", "))")
            told += try await realm.rows(all).map { row in
                try "\(name) " + columns.map { "\(try row.value($0))" }.joined(separator: " ")
            }
        }
        return told
    }
}
