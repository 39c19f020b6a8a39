// SPDX-License-Identifier: Apache-2.0

import Storage
import Testing

@testable import Ledger

/// The references between a ledger's tables that a restore checks.
struct ReferenceTests {
    /// A new table fails here until it has its references.
    @Test func `no table of a backup forgets what it belongs to`() throws {
        let tables = LedgerSchema.tables.filter(\.isInBackup)
        let owners = ["accounts": "account", "purchases": "transaction_id"]
        var declared = 0
        for table in tables {
            for reference in table.references {
                let target = try #require(tables.first { $0.name == reference.target })
                #expect(Set(table.columns.map(\.name)).isSuperset(of: reference.columns))
                #expect(Set(target.columns.map(\.name)).isSuperset(of: reference.targetColumns))
                declared += 1
            }
            for (owner, column) in owners where owner != table.name {
                guard table.columns.contains(where: { $0.name == column }) else { continue }
                let isDeclared = table.references.contains {
                    $0.target == owner && $0.columns.contains(column)
                }
                #expect(isDeclared, "\(table.name).\(column) names a row of \(owner)")
            }
        }
        #expect(declared == 20)
    }
}
