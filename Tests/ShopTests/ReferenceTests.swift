// SPDX-License-Identifier: Apache-2.0

import Storage
import Testing

@testable import Shop

/// The references between tables that a restore checks.
struct ReferenceTests {
    private static let schemas: [String: [Table]] = [
        "registry": RegistrySchema.tables, "realm": RealmSchema.tables.map(\.table),
    ]

    @Test(arguments: ["registry", "realm"])
    func `every reference names columns that are there`(schema: String) throws {
        let tables = try #require(Self.schemas[schema])
        for table in tables {
            for reference in table.references {
                let target = try #require(tables.first { $0.name == reference.target })
                let columns = Set(table.columns.map(\.name))
                #expect(columns.isSuperset(of: reference.columns), "\(table.name)")
                #expect(
                    Set(target.columns.map(\.name)).isSuperset(of: reference.targetColumns),
                    "\(table.name)")
                #expect(reference.columns.count == reference.targetColumns.count)
                #expect(table.isInBackup == false || target.isInBackup, "\(table.name)")
            }
        }
    }

    /// A column named as the key of a table that things belong to refers to it. A
    /// new table fails here until it has its references.
    @Test func `no table of a backup forgets what it belongs to`() throws {
        let tables = RealmSchema.tables.map(\.table).filter { $0.isInBackup && $0.rowsMax > 0 }
        let owners = [
            "apps": "bundle_id", "customers": "customer_id", "products": "product_id",
            "transactions": "transaction_id", "clocks": "clock_id", "app_versions": "came_with",
            "app_accounts": "app_transaction_id",
        ]
        // An attempt belongs to its notification, an app account's transactions
        // and their purchases to the account.
        let through = [
            "notification_attempts.customer_id": "notifications",
            "transactions.bundle_id": "products",
        ]
        for table in tables {
            for (owner, column) in owners where owner != table.name {
                guard table.columns.contains(where: { $0.name == column }) else { continue }
                let target = through["\(table.name).\(column)"] ?? owner
                let isDeclared = table.references.contains {
                    $0.target == target && $0.columns.contains(column)
                }
                #expect(isDeclared, "\(table.name).\(column) names a row of \(owner)")
            }
        }
    }
}
