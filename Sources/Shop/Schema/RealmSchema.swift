// SPDX-License-Identifier: Apache-2.0

import Storage

/// A realm's own database. Keys of a customer's facts begin with the
/// customer, so that PostgreSQL can split the tables by customer.
enum RealmSchema {
    static let migrations = [
        Migration(1, "the realm", tables.flatMap(\.table.ddl))
    ]

    /// Every table. One that is referred to comes first.
    static let tables: [RealmTable] = [
        .kept(realm), .copied(apps, without: ["shared_secret"]), .copied(products),
        .copied(appVersions), .copied(subscriptionGroups), .kept(catalogueFiles),
        .kept(catalogueImages), .kept(serverKeys), .kept(audit), .kept(numberMarks),
        .kept(clusters), .kept(customers), .kept(signInNames), .kept(arrivals),
        .cleared(devices), .cleared(sessions), .cleared(appAccounts), .cleared(purchases),
        .cleared(transactions), .cleared(outbox), .cleared(notifications),
        .cleared(notificationAttempts), .cleared(errands), .cleared(dueWork),
    ]
}

/// A table of a realm's database, and what becomes of its rows.
struct RealmTable: Sendable {
    let table: Table
    /// Whether a reset removes its rows: those of what happened to customers, or is
    /// owed because of it.
    let isCleared: Bool
    /// How the other clusters get a copy of its rows; nil where the rows stay
    /// in one place.
    let copy: HouseCopy?

    /// A reset keeps the rows.
    static func kept(_ table: Table) -> RealmTable {
        RealmTable(table: table, isCleared: false, copy: nil)
    }

    /// A reset removes the rows.
    static func cleared(_ table: Table) -> RealmTable {
        RealmTable(table: table, isCleared: true, copy: nil)
    }

    /// House rows: customers' commits read them, so each cluster has a copy, but
    /// for the columns that no such commit reads.
    static func copied(_ table: Table, without left: Set<String> = []) -> RealmTable {
        RealmTable(table: table, isCleared: false, copy: HouseCopy(of: table, without: left))
    }
}
