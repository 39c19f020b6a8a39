// SPDX-License-Identifier: Apache-2.0

import Storage

/// A realm's own database. The keys of customers' facts begin with the
/// customer, so that PostgreSQL can split the tables by customer.
enum RealmSchema {
    static let migrations = [
        Migration(1, "the realm", firstTables.flatMap(\.table.ddl)),
        Migration(2, "content, promotions, browsers", addedTables.flatMap(\.table.ddl)),
        Migration(3, "choices, apps' pages", laterTables.flatMap(\.table.ddl)),
    ]

    // References of several tables. Apps and customers are never deleted.
    static let ofApp = Table.Reference(["bundle_id"], to: "apps")
    static let ofCustomer = Table.Reference(["customer_id"], to: "customers")
    /// For tables that also have rows of no customer.
    static let ofCustomerIfAny = Table.Reference(
        ["customer_id"], to: "customers", where: "t.customer_id <> 0")

    /// Every table. A table comes after those that it refers to.
    static let tables = firstTables + addedTables + laterTables

    /// The tables of migration 2.
    private static let addedTables: [RealmTable] = [
        .copied(contentVersions), .cleared(webSessions), .kept(promotions),
        .cleared(promotionOverrides),
        .cleared(reviews), .cleared(reviewRequests), .kept(reviewRefusals),
    ]

    /// The tables of migration 3.
    private static let laterTables: [RealmTable] = [
        .cleared(purchaseIntents, history: .deleted), .kept(appPages),
    ]

    /// The tables of migration 1.
    private static let firstTables: [RealmTable] = [
        .kept(realm), .copied(clocks), .cleared(jumps), .copied(apps, without: ["shared_secret"]),
        .copied(products),
        .copied(appVersions), .copied(subscriptionGroups), .kept(catalogueFiles),
        .kept(catalogueImages), .kept(serverKeys), .copied(faults), .kept(audit),
        .kept(numberMarks),
        .kept(snapshots), .kept(snapshotPages),
        .kept(clusters), .kept(customers), .kept(signInNames), .kept(arrivals),
        .cleared(devices), .cleared(sessions), .cleared(appAccounts),
        // A waiting payment stays as a declined one, also when the history is
        // cleared again, so that a device that asks again does not buy again. What
        // joined it stays too.
        .cleared(
            purchases,
            history: .deleted(
                where: "state <> 'waiting' AND (approval IS NULL OR approval <> 'declined') "
                    + "AND NOT EXISTS (SELECT 1 FROM purchases f "
                    + "WHERE f.customer_id = purchases.customer_id "
                    + "AND f.bundle_id = purchases.bundle_id "
                    + "AND f.purchase_id = purchases.joins "
                    + "AND (f.state = 'waiting' OR f.approval = 'declined'))")),
        .cleared(transactions, history: .deleted),
        .cleared(subscriptions, history: .deleted),
        .cleared(subscriptionEvents, history: .deleted),
        .cleared(refunds, history: .deleted), .cleared(refundEvents, history: .deleted),
        .kept(offerCodes), .cleared(offerClaims),
        .cleared(renewalCharges, history: .deleted),
        .cleared(bulkChanges), .cleared(bulkMarks, history: .deleted),
        .cleared(familyPeople), .cleared(familyShares, history: .deleted),
        .cleared(familyLinks), .cleared(familyEvents, history: .deleted),
        // A signed notification no longer needs its transaction and is sent, so
        // what owes it stays.
        .cleared(outbox, history: .deleted(where: unsigned(cause: "outbox.cause"))),
        .cleared(notifications), .cleared(notificationAttempts),
        .cleared(errands, history: .deleted(where: unsigned(cause: "errands.subject"))),
        .cleared(dueWork, history: .deleted),
    ]

    private static func unsigned(cause: String) -> String {
        let table = cause.prefix { $0 != "." }
        return "NOT EXISTS (SELECT 1 FROM notifications n "
            + "WHERE n.customer_id = \(table).customer_id AND n.cause = \(cause))"
    }
}

/// A table of a realm's database, and what happens to its rows.
struct RealmTable: Sendable {
    let table: Table
    /// Whether a reset deletes its rows: what happened to customers, or is owed
    /// because of it.
    let isCleared: Bool
    /// What happens to a customer's rows when the customer's history is cleared.
    let history: History
    /// How its rows are copied to the other clusters. Nil if they are not
    /// copied.
    let copy: HouseCopy?

    enum History: Sendable {
        case kept
        /// Deleted where the condition holds. Nil for all of them.
        case deleted(where: String?)

        static let deleted = History.deleted(where: nil)
    }

    /// A table whose rows a reset keeps.
    static func kept(_ table: Table) -> RealmTable {
        RealmTable(table: table, isCleared: false, history: .kept, copy: nil)
    }

    /// A table whose rows a reset deletes.
    static func cleared(_ table: Table, history: History = .kept) -> RealmTable {
        RealmTable(table: table, isCleared: true, history: history, copy: nil)
    }

    /// A table of house rows. Customers' commits read them, so each cluster has
    /// a copy, without the columns that no such commit reads.
    static func copied(_ table: Table, without left: Set<String> = []) -> RealmTable {
        RealmTable(
            table: table, isCleared: false, history: .kept,
            copy: HouseCopy(of: table, without: left))
    }
}
