// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage
import StoreWire
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
        // An attempt belongs to its notification, an event or a charge to its
        // subscription, an app account's transactions and their purchases to the account.
        let through = [
            "notification_attempts.customer_id": "notifications",
            "transactions.bundle_id": "products", "subscriptions.bundle_id": "products",
            "subscription_events.customer_id": "subscriptions",
            "refund_events.customer_id": "refunds", "refund_events.transaction_id": "refunds",
            "renewal_charges.customer_id": "subscriptions",
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

    /// A restore would refuse the backup of a store that has such rows.
    func expectWhole(
        _ world: TestWorld, _ stage: String, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        for (storage, references) in [
            (world.realm.home, Statement.Restores.realmReferences),
            (world.store.registry, Statement.Restores.registryReferences),
        ] {
            for missing in references {
                let row = try await storage.read { try $0.first(missing.statement) }
                #expect(row == nil, "\(stage): \(missing.statement.name)", sourceLocation: location)
            }
        }
        for one in Statement.Restores.contradictions {
            let isThere = try await world.realm.home.read { try one.isThere($0) }
            #expect(!isThere, "\(stage): \(one)", sourceLocation: location)
        }
    }

    @Test func `no store deletes a row before those that name it`() async throws {
        let world = try await TestWorld.open(courier: ScriptedCourier())
        // A backup is of one database.
        guard world.realm.clusters.isOne else { return }
        let bundle = TestWorld.bundleID.value
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: bundle, TestWorld.context)
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "kid", asksToBuy: true))
        let (session, kid) = (try await world.session(), try await world.session(customer: "kid"))
        try await world.buy("credits.5", purchaseID(1), session: session)
        try await world.buy("nothing", purchaseID(2), price: 1, session: session)
        try await world.buy("credits.5", purchaseID(3), session: kid)
        _ = try await world.realm.merchant.sendNotification(
            SendNotificationRequest(bundleId: bundle, notificationType: "TEST"), TestWorld.context)
        try await expectWhole(world, "sold")
        let refunded = try await world.sell("credits.10", 7, session)
        for state in ["requested", "granted"] { try await world.decide(refunded, state) }
        try await expectWhole(world, "refunded")

        try await world.realm.keeping.workOnce()
        try await world.buy("pro", purchaseID(4), session: session)
        try await expectWhole(world, "one signed, one owed")

        for buyer in [session, kid] {
            _ = try await world.realm.customers.clearHistory(
                ofCustomer: buyer.customer.description, TestWorld.context)
        }
        try await expectWhole(world, "cleared")
        for buyer in [session, kid] {
            try await world.buy("credits.10", purchaseID(6), session: buyer)
        }
        try await expectWhole(world, "sold again")

        world.wall.advance(seconds: 200 * 86_400)
        try await world.realm.keeping.prune()
        try await expectWhole(world, "pruned")

        try await world.buy("credits.5", purchaseID(5), session: try await world.session())
        _ = try await world.store.resetRealm(named: Store.defaultRealm, TestWorld.context)
        try await expectWhole(world, "reset")
        await world.store.close()
    }
}
