// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

/// Customers, their devices and their sessions.
extension RealmSchema {
    /// The columns that a customer's row has from the beginning. A customer
    /// without a storefront has that of the app.
    private static let account: Table.Columns = [
        "customer_id": .customer, "name": .label(bytes: 1...100),
        "storefront": .storefront.optional, "may_buy": .flag,
        "password_hash": .passwordHash.optional, "created_at": .time, "asks_to_buy": .flag,
        "interrupts_purchases": .flag,
        "email": .text("an e-mail address") { (try? Edge.email($0, "email")) != nil }.optional,
    ]

    /// `cleared_revision` is the revision at which the history was cleared, so
    /// that devices are informed. `history_revision` is the revision at which
    /// purchases were last deleted, by a clearing or a reset. `family_revision` is the
    /// revision since which a family may get what the customer buys. Null for one who
    /// never was in a family. `clock_id` names the customer's own clock, and is null for
    /// the realm's.
    static let customers = Table(
        "customers", key: ["customer_id"],
        account + [
            "revision": .count, "cleared_revision": .count.optional,
            "history_revision": .count.optional, "family_revision": .count.optional,
            "clock_id": .integer(1...Int64(1) << 31).optional,
        ],
        indexes: [.init("customers_by_clock", on: ["clock_id", "customer_id"])],
        references: [.init(["clock_id"], to: "clocks", where: "t.clock_id IS NOT NULL")])

    /// At the home: customers whose name is taken, and whose row is still to be
    /// written on their own cluster. A backup contains none.
    static let arrivals = Table("arrivals", key: ["customer_id"], account, rowsMax: 0)

    static let signInNames = Table(
        "sign_in_names", key: ["name"],
        ["name": .label(bytes: 1...1024), "customer_id": .customer], references: [ofCustomer])

    static let devices = Table(
        "devices", key: ["customer_id", "bundle_id", "device_uuid"], as: .tree,
        [
            "customer_id": .customer, "bundle_id": .bundleID, "device_uuid": .uuid,
            "device_id": .number(.device), "name": .label(bytes: 0...255).optional,
            "app_version": .reportedVersion, "seen_at": .time,
        ], references: [ofCustomer, ofApp])

    /// All dates are wall time, so a jump of the realm's clock ends no session.
    /// A restored store has no sessions.
    static let sessions = Table(
        "sessions", key: ["customer_id", "token_hash"], as: .tree,
        [
            "customer_id": .customer, "token_hash": .blob(bytes: 32...32),
            "bundle_id": .bundleID, "device_uuid": .uuid,
            "app_version": .reportedVersion,
            "expires_at": .time, "made_at": .time, "used_at": .time, "ended_at": .time.optional,
        ], indexes: [.init("sessions_by_end", on: ["expires_at"])], isInBackup: false)

    static let appAccounts = Table(
        "app_accounts", key: ["customer_id", "bundle_id"], as: .tree,
        [
            "customer_id": .customer, "bundle_id": .bundleID,
            "app_transaction_id": .number(.appTransaction), "original_purchased_at": .time,
            "original_version": .reportedVersion,
        ],
        indexes: [.init("app_accounts_by_id", on: ["app_transaction_id"])],
        references: [ofCustomer, ofApp])
}
