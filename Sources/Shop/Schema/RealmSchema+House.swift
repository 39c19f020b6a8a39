// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Crypto
import Storage
import Work

/// The realm itself, and what is administered.
extension RealmSchema {
    /// The longest list of changed fields in an audit entry, as JSON: the most
    /// changes with the longest values, each byte of them escaped.
    static let auditChangesBytesMax = 8 * 1024 * 1024
    /// A catalogue file's name with its folders.
    static let catalogueNameBytesMax = 1024
    static let imageBytesMax = 8 * 1024 * 1024

    /// Each change of house rows raises `house_revision`.
    /// `reset_generation` is the generation that the last reset made; a cluster
    /// with an older one deletes what happened to its customers. `buckets` is what
    /// this database has of its realm; null for everything. `clocks_made` is the last
    /// number that a customers' clock was given: a removed clock's is not given again.
    /// `cluster` is the mark that the home gave another cluster when it was founded.
    static let realm = Table(
        "realm", key: ["singleton"],
        [
            "singleton": .singleton, "id": .realmID, "name": .realmName,
            "environment": .environment, "seed": .seed.optional, "generation": .generation,
            "reset_generation": .count,
            "catalogue_revision": .count, "house_revision": .count,
            "audit_count": .integer(0...1 << 51), "clocks_made": clockID,
            "buckets": .nothing(.text), "cluster": .nothing(.text),
        ], constraints: Table.oneRow, references: [.init([], to: "clocks")], rowsMax: 1)

    /// The realm's clock has the id 0. The others are of customers, who name them in
    /// `customers.clock_id`. From the wall clock's instant `clock_since`
    /// on, it runs at `clock_rate` times the wall clock's speed. `clock_tempo` shortens
    /// the periods of subscriptions. `jumped_to` and
    /// `jump_notifications` are the target of the last jump and what happens to the
    /// notifications that it causes.
    static let clocks = Table(
        "clocks", key: ["clock_id"],
        [
            "clock_id": clockID,
            "clock_ahead": .integer(
                -RealmClock.latest.milliseconds...RealmClock.latest.milliseconds),
            "clock_stands_at": clockTime.optional, "clock_rate": .integer(RealmClock.rates),
            "clock_since": .time, "clock_tempo": .word(Tempo.allCases.map(\.rawValue)).optional,
            "jumped_to": clockTime.optional,
            "jump_notifications": .word(JumpNotifications.allCases.map(\.rawValue)).optional,
        ], rowsMax: clocksMax + 1)

    static let jumps = WorkSchema.jumps(
        clock: clockID, time: clockTime, rowsMax: clocksMax + 1)

    /// The most clocks of a realm besides its own.
    static let clocksMax = 10_000
    private static let clockID = ValueRule.integer(0...Int64(1) << 31)

    private static let clockTime = ValueRule.integer(
        RealmClock.earliest.milliseconds...RealmClock.latest.milliseconds)

    static let apps = Table(
        "apps", key: ["bundle_id"],
        [
            "bundle_id": .bundleID, "app_id": .count.optional, "name": .label(bytes: 1...255),
            "storefront": .storefront, "locale": .label(bytes: 1...64),
            "purchases_enabled": .flag, "settings": .json.optional,
            "shared_secret": .hex(32...32).optional,
            "notification_url": .text("an address that notifications may go to") {
                (try? NotificationURL.check($0, isProduction: false)) != nil
            }.optional,
            // Missing for version 2.
            "notification_version": .integer(1...2).optional, "has_sold": .flag,
            "grace_days": .integer("0, 3, 16 or 28") {
                GracePeriod(rawValue: Int($0)) != nil
            }.optional, "renewals_max": .integer(0...Int64(RenewalRules.renewalsMaxMax)).optional,
        ])

    /// `localizations`, `listing` and `terms` are JSON that no query uses.
    static let products = Table(
        "products", key: ["bundle_id", "product_id"], as: .tree,
        [
            "bundle_id": .bundleID, "product_id": .id, "place": .place,
            "product_type": .word(ProductType.allCases.map(\.rawValue)),
            "reference_name": .text(bytes: 0...Edge.textBytesMax), "price": .price,
            "is_family_shareable": .flag,
            "localizations": .json, "group_id": .id.optional,
            "period": .word(Period.ofSubscriptions).optional,
            "state": .word(ReviewState.allCases.map(\.rawValue)),
            "withdrawn_at": .time.optional, "listing": .json, "from_file": .flag,
            "came_with": .version.optional, "terms": .json.optional,
        ], constraints: ["FOREIGN KEY (bundle_id) REFERENCES apps (bundle_id)"],
        references: [
            ofApp,
            .init(["bundle_id", "came_with"], to: "app_versions", ["bundle_id", "version"]),
        ])

    /// Versions of apps. Products are submitted with them.
    static let appVersions = Table(
        "app_versions", key: ["bundle_id", "version"],
        [
            "bundle_id": .bundleID, "version": .version,
            "state": .word(AppVersionState.allCases.map(\.rawValue)), "made_at": .time,
            "live_at": .time.optional,
        ], references: [ofApp])

    /// `localizations` is a JSON array, opaque to the database.
    static let subscriptionGroups = Table(
        "subscription_groups", key: ["bundle_id", "group_id"],
        [
            "bundle_id": .bundleID, "group_id": .id, "place": .place,
            "name": .text(bytes: 0...Edge.textBytesMax), "localizations": .json, "from_file": .flag,
        ], references: [ofApp])

    /// The bytes of the file that an app's catalogue was imported from, for
    /// exports.
    static let catalogueFiles = Table(
        "catalogue_files", key: ["bundle_id"],
        [
            "bundle_id": .bundleID, "name": .text(bytes: 0...catalogueNameBytesMax),
            "contents": .blob(bytes: 0...67_108_864),
            "overlay": .blob(bytes: 0...67_108_864).optional, "stored_at": .time,
        ], references: [ofApp])

    static let catalogueImages = Table(
        "catalogue_images", key: ["bundle_id", "image_id"],
        [
            "bundle_id": .bundleID, "image_id": .id,
            "contents": .blob(bytes: 1...imageBytesMax),
        ], references: [ofApp])

    static let serverKeys = Table(
        "server_keys", key: ["key_id"],
        [
            "key_id": .id, "issuer_id": .uuid, "bundle_id": .bundleID,
            "public_key": .blob(bytes: 65...65, " of a P-256 key") {
                (try? P256.Signing.PublicKey(x963Representation: $0)) != nil
            }, "created_at": .time,
            "revoked_at": .time.optional,
        ], references: [ofApp])

    /// The failures that a sandbox simulates toward merchants' servers and devices.
    static let faults = Table(
        "faults", key: ["name"],
        [
            "name": .word(Fault.Name.allCases.map(\.rawValue)),
            "value": .text(bytes: 1...Fault.valueBytesMax),
        ], rowsMax: Fault.Name.allCases.count)

    /// `old_value` and `new_value` are texts for people.
    static let audit = Table.audit("audit")

    /// The next number of each kind, if the rows that determined it were
    /// deleted.
    static let numberMarks = Table(
        "number_marks", key: ["kind"], ["kind": .numberKind, "next_count": .nextCount])

    /// At the home: the other clusters. `founded_at` is null until the cluster
    /// is known to have its mark. `audit_carried` is the last entry of its
    /// audit that the home has. A backup contains a realm without other
    /// clusters.
    static let clusters = Table(
        "clusters", key: ["cluster"],
        [
            "cluster": .name, "buckets": .name, "founded_at": .nothing(.integer),
            "audit_carried": .count,
        ], rowsMax: 0)
}
