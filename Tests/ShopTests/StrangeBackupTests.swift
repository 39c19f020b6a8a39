// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Crypto
import Foundation
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Shop

/// A backup that a stranger has changed, with a right SHA-256 at its end.
@Suite(.timeLimit(.minutes(5))) struct StrangeBackupTests {
    private static let huge = "9223372036854775807"
    private static let low = "-9223372036854775808"
    private static let escaped = "\"a\\u001b[2Jb\""
    private static let long = "\"\(String(repeating: "x", count: 70_000))\""

    /// Terms whose one offer cannot be read.
    private static func offer(_ period: String, _ mode: String) -> String {
        #""{\"level\":1,\"offers\":{\"code\":[{\"mode\":\"\#(mode)\",\"period\":\"\#(period)\","#
            + #"\"periodCount\":1,\"price\":0}]}}""#
    }

    static let spoilt = [
        SpoiltValue("realms.id", "\"../../x\"", "\"\"", "\"A\"", "1", "null", "\"a/b\""),
        SpoiltValue("realms.name", "\"../x\"", "\"\"", "\"Live\""),
        SpoiltValue("realms.environment", "\"production\"", "null"),
        SpoiltValue("realms.seed", "\"7\"", "true"),
        SpoiltValue("realms.created_at", "-1", huge, low, "null"),
        SpoiltValue("number_blocks.kind", "0", "5", "\"1\""),
        SpoiltValue("number_blocks.next_count", "-1", "1000000000001", huge, low),
        SpoiltValue("door_keys.door", "\"backdoor\""),
        SpoiltValue("door_keys.secret", "\"\"", "\"short\"", "null"),
        SpoiltValue("revoked_certificates.serial", "\"../x\"", "\"\""),
        SpoiltValue("server_key_realms.realm_id", "\"../x\""),
        SpoiltValue("operators.name", "\"a b\"", "\"\\u001b[2J\""),
        SpoiltValue("operators.key_hash", "{\"base64\":\"AAEC\"}", "\"text\""),
        SpoiltValue("store_audit.entry", "0", low),
        SpoiltValue("store_audit.who", long),
        SpoiltValue("store_audit_counts.written", "-1", huge),
        SpoiltValue("rotation_notes.kind", "\"other\""),
        SpoiltValue("rotation_notes.generation", "0", low, huge),
        SpoiltValue("reset_notes.realm", "\"../x\""),
        SpoiltValue("reset_notes.generation", huge, "0"),
        SpoiltValue("realm.id", "\"../../x\"", "\"other\""),
        SpoiltValue("realm.name", "\"other\""),
        SpoiltValue("realm.environment", "\"Production\""),
        SpoiltValue("realm.generation", huge, "9007199254740992", "0"),
        SpoiltValue("clocks.clock_ahead", huge, low, "1.5"),
        SpoiltValue("clocks.clock_stands_at", huge, "-1"),
        SpoiltValue("clocks.clock_rate", "0", "-1", huge),
        SpoiltValue("clocks.clock_since", low, huge),
        SpoiltValue("realm.audit_count", huge, "-1"),
        SpoiltValue("realm.buckets", "\"0-499\""),
        SpoiltValue("realm.cluster", "\"x\""),
        SpoiltValue("apps.storefront", "\"XXX\"", "\"\""),
        SpoiltValue("apps.settings", "\"no JSON\""),
        SpoiltValue("apps.notification_url", "\"file:///etc/passwd\"", "\"http://a b\""),
        SpoiltValue("apps.purchases_enabled", "2", "\"yes\""),
        SpoiltValue("products.price", "-1", huge, "1000000000000001"),
        SpoiltValue("products.product_type", "\"free\""),
        SpoiltValue("products.localizations", "\"{}\""),
        SpoiltValue("products.state", "\"sold\""),
        SpoiltValue(
            "products.listing", "\"no JSON\"",
            #""{\"prices\":[{\"storefront\":\"USA\",\"price\":-1}]}""#,
            #""{\"prices\":[{\"storefront\":\"USA\",\"price\":1,\"startsAt\":-9223372036854775808}]}""#
        ),
        SpoiltValue("catalogue_images.image_id", "\"../x\""),
        SpoiltValue("catalogue_images.contents", "\"text\""),
        SpoiltValue("app_versions.state", "\"dead\""),
        SpoiltValue("subscription_groups.localizations", "\"{}\""),
        SpoiltValue("server_keys.key_id", "\"a b\"", "\"../x\""),
        SpoiltValue("server_keys.issuer_id", "\"issuer\""),
        SpoiltValue("apps.bundle_id", "\"a/b\"", "\"\""),
        SpoiltValue("apps.name", escaped, "\"\""),
        SpoiltValue("apps.shared_secret", "\"secret\""),
        SpoiltValue("products.period", "\"../../x\"", "\"P1M\"", "\"\""),
        SpoiltValue("products.group_id", "\"g\""),
        SpoiltValue("products.came_with", "\"../x\"", "\"1.\"", "\"\""),
        SpoiltValue(
            "products.terms", "\"no JSON\"", "\"{}\"", offer("P1", "free"), offer("P1W", "gift")),
        SpoiltValue("app_versions.version", "\"../x\"", "\"one\""),
        SpoiltValue("customers.name", escaped),
        SpoiltValue("devices.name", escaped, "\"a\\u202eb\""),
        SpoiltValue("devices.app_version", escaped, "\"\""),
        SpoiltValue("app_accounts.original_version", escaped),
        SpoiltValue("purchases.bundle_id", "\"../x\""),
        SpoiltValue("purchases.product_id", "\"../x\"", escaped, "\"\""),
        SpoiltValue("purchases.refusal", "\"because\""),
        SpoiltValue("transactions.bundle_id", "\"a/b\""),
        SpoiltValue("outbox.cause", "\"c\"", "\"ONE_TIME_CHARGE/../x\"", "\"TEST/x\""),
        SpoiltValue("outbox.notification_type", "\"GIFT\""),
        SpoiltValue("errands.kind", "\"gift\""),
        SpoiltValue("errands.subject", "\"c\"", "\"a/b\""),
        SpoiltValue("due_work.subject", "\"a/b\"", "\"../00000000-0000-4000-8000-000000000000/x\""),
        SpoiltValue("notifications.cause", "\"c\""),
        SpoiltValue("notifications.subtype", "\"a b\""),
        SpoiltValue("notification_attempts.result", escaped),
        SpoiltValue("store_audit.who", "\"a b\"", escaped),
        SpoiltValue("store_audit.deed", "\"a b\""),
        SpoiltValue("audit.subject", escaped),
        SpoiltValue("server_keys.public_key", "\"text\"", "{\"base64\":\"\"}"),
        SpoiltValue("number_marks.kind", "9"),
        SpoiltValue("number_marks.next_count", huge, "-1"),
        SpoiltValue("audit.entry", "0"),
        SpoiltValue("audit.written_at", huge),
        SpoiltValue(
            "customers.customer_id", "0", "-1", huge, "2000000000000001", "7"),
        SpoiltValue("customers.name", "\"\"", long, "null"),
        SpoiltValue("customers.storefront", "\"XXX\""),
        SpoiltValue("customers.revision", "-1", huge),
        SpoiltValue("customers.history_revision", "-1", huge, low, "\"1\""),
        SpoiltValue("purchases.history_revision", "-1", huge, low, "\"1\""),
        SpoiltValue("customers.email", "\"nobody\""),
        SpoiltValue(
            "customers.password_hash", "\"\"", "\"plain\"", "\"scrypt$1048576$32$1$00$00\"",
            "\"scrypt$1048576$8$1$00$00\"", "\"scrypt$131072$8$16$00$00\"",
            "\"scrypt$3$8$1$00$00\""),
        SpoiltValue("sign_in_names.customer_id", huge),
        SpoiltValue("devices.device_uuid", "\"../x\""),
        SpoiltValue("devices.device_id", "1000000000000001"),
        SpoiltValue("app_accounts.app_transaction_id", "5000000000000001", huge),
        SpoiltValue("purchases.purchase_id", "\"1\""),
        SpoiltValue("purchases.quantity", "0", "11", huge, low),
        SpoiltValue("purchases.unit_price", "-1", huge),
        SpoiltValue("purchases.currency", "\"usd\"", "\"\""),
        SpoiltValue("purchases.state", "\"given\"", "\"waiting\"", "\"refused\""),
        SpoiltValue("purchases.transaction_id", "null", huge),
        SpoiltValue("purchases.total_price", "-1", huge),
        SpoiltValue("transactions.transaction_id", "1", huge, "2000000000009001"),
        SpoiltValue("transactions.quantity", "0", "11", huge),
        SpoiltValue("transactions.unit_price", "-1"),
        SpoiltValue("transactions.total_price", "-1", huge),
        SpoiltValue("transactions.product_type", "\"x\""),
        SpoiltValue("transactions.product_id", "\"other\""),
        SpoiltValue("transactions.purchased_at", huge, low),
        SpoiltValue("transactions.record", "{\"base64\":\"MIIB\"}"),
        SpoiltValue("transactions.offer", "\"{}\"", "\"no JSON\""),
        SpoiltValue("transactions.expires_at", huge, low, "1"),
        SpoiltValue("transactions.group_id", "\"a b\"", "\"g\""),
        SpoiltValue("subscriptions.state", "\"{}\"", "\"no JSON\""),
        SpoiltValue("subscriptions.status", "0", "6", "2"),
        SpoiltValue("subscriptions.group_id", "\"other\""),
        SpoiltValue("subscriptions.ends_at", "1", huge),
        SpoiltValue("subscriptions.subscription_id", "7", "1000000000000001"),
        SpoiltValue("subscriptions.events", "-1", huge),
        SpoiltValue("subscription_events.event", "0", "-1", huge),
        SpoiltValue("subscription_events.body", "\"{}\"", "\"no JSON\""),
        SpoiltValue("subscription_events.happened_at", "1", huge),
        SpoiltValue("subscription_events.cause", "\"gift\"", "\"time\""),
        SpoiltValue("refunds.refund", "0", "-1", huge),
        SpoiltValue("refunds.state", "\"granted\"", "\"requested\"", "\"gone\""),
        SpoiltValue("refunds.kind", "\"gift\"", "null"),
        SpoiltValue("refunds.sum", "-1", huge, "null"),
        SpoiltValue("refunds.currency", "\"usd\"", "null"),
        SpoiltValue("refunds.reason", "-1", "7"), SpoiltValue("refunds.percentage", "-1", "100001"),
        SpoiltValue("refunds.wish", "\"WISH\"", "null"),
        SpoiltValue("refunds.report", "\"{}\"", "\"moon\"", "1"),
        SpoiltValue("faults.name", "\"moon\"", "null"),
        SpoiltValue("faults.value", "\"moon\"", "\"lose,\"", "\"reorder,lose\"", "null"),
        SpoiltValue("refunds.charge", "\"../../x\"", "\"\"", "\"a/b\""),
        SpoiltValue("refunds.reversed_at", "null", huge),
        SpoiltValue("refund_events.event", "0", "-1", huge),
        SpoiltValue("refund_events.body", "\"{}\"", "\"no JSON\""),
        SpoiltValue("refund_events.happened_at", "1", huge),
        SpoiltValue("refund_events.cause", "\"gift\"", "\"time\""),
        SpoiltValue("transactions.revocation_type", "\"GIFT\"", "\"REFUND_FULL\""),
        SpoiltValue("transactions.revocation_percentage", "1", "-1"),
        SpoiltValue("renewal_charges.body", "\"{}\"", "\"no JSON\""),
        SpoiltValue("renewal_charges.state", "\"given\"", "\"sold\"", "\"asked\""),
        SpoiltValue("renewal_charges.attempt", "0", "-1", huge),
        SpoiltValue("renewal_charges.total_price", "1", "-1", huge),
        SpoiltValue("renewal_charges.currency", "\"EUR\""),
        SpoiltValue("renewal_charges.asked_at", "1", huge),
        SpoiltValue("family_people.organiser_id", "7", huge, "null"),
        SpoiltValue("family_people.joined_at", "null", huge),
        SpoiltValue("family_shares.turn", "0", "-1", huge),
        SpoiltValue("family_shares.ending", "\"gone\"", "\"left\""),
        SpoiltValue("family_shares.state", "\"{}\"", "\"no JSON\""),
        SpoiltValue("family_events.body", "\"{}\"", "\"no JSON\""),
        SpoiltValue("family_events.cause", "\"gift\"", "\"time\""),
        SpoiltValue("family_events.change", "null", "-1"),
        SpoiltValue("family_links.purchaser_revision", "-1", huge),
        SpoiltValue("customers.family_revision", "-1", huge, low),
        SpoiltValue("outbox.notification_uuid", "\"x\""),
        SpoiltValue("outbox.customer_id", "-1"),
        SpoiltValue("errands.fence", "-1", huge),
        SpoiltValue("errands.attempt", "-1", huge),
        SpoiltValue("errands.due_at", huge),
        SpoiltValue("due_work.kind", "\"gift\""),
        SpoiltValue("due_work.subject", "\"no purchase\""),
        SpoiltValue("notifications.signed_payload", "\"no JWS\"", "\"a.b\\n.c\""),
        SpoiltValue("notification_attempts.status", "-1", huge),
    ]

    // MARK: A backup with a row in each table

    private static let filled = Task { () -> ArchiveText in
        let place = try await BackupPlace(.sqlite)
        let store = try await place.open(isNew: true)
        let realm = try await store.realm(named: Store.defaultRealm)
        try await realm.catalogue.putCatalogue(
            TestWorld.catalogue(), app: AppDescription(bundleID: TestWorld.bundleID))
        _ = try await store.createOperator(CreateOperatorRequest(name: "ann"), TestWorld.context)
        _ = try await store.resetRealm(named: Store.defaultRealm, TestWorld.context)
        let token = try await realm.customers.signIn(
            SignInRequest(appVersion: "1", deviceUUID: TestWorld.deviceUUID), TestWorld.context
        ).token
        let session = try await realm.customers.session(token: token)
        let sold = try await realm.purchases.purchase(
            purchaseID(1),
            PurchaseRequest(productId: "credits.5", quantity: 1, unitPrice: 990, currency: "USD"),
            session, TestWorld.context)
        #expect(sold.state == "sold")
        try await realm.catalogue.importCatalogue(
            TestWorld.withSubscriptions(), app: AppDescription(bundleID: TestWorld.bundleID),
            TestWorld.context)
        let trial = try await realm.purchases.purchase(
            purchaseID(2),
            PurchaseRequest(productId: "trial", quantity: 1, unitPrice: 0, currency: "USD"),
            session, TestWorld.context)
        #expect(trial.state == "sold")
        let number = try #require(
            await realm.purchases.listTransactions().transactions
                .first { $0.purchaseId == purchaseID(1) }?.payload.transactionId)
        try await realm.refunds.request(number, RefundRequest(), TestWorld.context)
        for state in ["granted", "reversed"] {
            try await realm.refunds.decide(
                number, DecideRefundRequest(state: state), TestWorld.context)
        }
        try await addFamily(realm, of: session)
        try await addCharge(realm)
        try await store.registry.write { writing in
            for sql in registryRows { try writing.execute(Statement("test.fill", sql), []) }
        }
        try await realm.home.write { writing in
            for sql in realmRows + reviewRows { try writing.execute(Statement("fill", sql), []) }
        }
        await store.close()
        return try ArchiveText(file: try await place.backup("copy"))
    }

    /// A member of the customer's family, who has the customer's subscription.
    private static func addFamily(_ realm: Realm, of session: DeviceSession) async throws {
        let kid = try await realm.customers.createCustomer(CreateCustomerRequest(name: "kid"))
        _ = try await realm.customers.signIn(
            SignInRequest(appVersion: "1", deviceUUID: TestWorld.deviceUUID, customer: "kid"),
            TestWorld.context)
        _ = try await realm.families.join(
            session.customer.description, member: kid.customerId, TestWorld.context)
        var change = ProductChange()
        change.isFamilyShareable = true
        _ = try await realm.catalogue.changeProduct(
            "trial", bundleID: app, change, TestWorld.context)
        _ = try await realm.keeping.workOnce()
    }

    /// A renewal that the payment processor has declined.
    private static func addCharge(_ realm: Realm) async throws {
        let id = try #require(await realm.subscriptions.list().subscriptions.first?.subscriptionId)
        let row = try await realm.subscriptions.row(id)
        let subscription = row.subscription
        let plan = SubscriptionPlan(
            productID: subscription.current.productID, groupID: "g", level: 2,
            period: Period(1, .month), price: subscription.renewal.price)
        let charge = try #require(
            RenewalCharge(
                .renew, of: subscription,
                RenewalFacts(plan: plan, canBill: true, grace: .off, newID: TransactionID(1)),
                at: subscription.end))
        let declined = RenewalChargeRow(
            key: RenewalChargeKey(
                customer: row.customer, subscription: subscription.originalID,
                periodEnd: subscription.end, attempt: 1),
            state: .declined, charge: charge, storefront: "USA", events: row.events,
            settledAt: subscription.end)
        try await realm.home.write {
            try $0.execute(Statement.RenewalCharges.insert, declined.row)
        }
    }

    private static let registryRows = [
        "INSERT INTO revoked_certificates VALUES ('0a', 1)",
        "INSERT INTO server_key_realms SELECT 'KEY', id FROM realms",
        "INSERT INTO rotation_notes VALUES ('sandbox', 'b', 2, 'ann', 1, 'a')",
        "INSERT INTO reset_notes SELECT id, 2 FROM realms",
    ]

    private static let key = hexadecimal(P256.Signing.PrivateKey().publicKey.x963Representation)
    private static let app = TestWorld.bundleID.value
    private static let uuid = "00000000-0000-4000-8000-000000000000"
    private static let test = "TEST/\(uuid)_1"
    private static let bulk = StoredJSON.text(
        BulkChange(
            .extend(days: 7), productID: ProductID("news"),
            requestedAt: Timestamp(milliseconds: 1)))

    private static let realmRows = [
        contentRow, pageRow, promotionRow, overrideRow, intentRow,
        "INSERT INTO jumps VALUES (0, 1800000000000, 1800000000000, 1800000000000, 0)",
        "INSERT INTO catalogue_files VALUES ('\(app)', 'a.storekit', x'7b7d', NULL, 1)",
        "INSERT INTO catalogue_images VALUES ('\(app)', 'b', x'00')",
        "INSERT INTO app_versions VALUES ('\(app)', '1', 'live', 1, 2)",
        "INSERT INTO subscription_groups VALUES ('\(app)', 'g', 0, 'g', '[]', 1)",
        """
        INSERT INTO server_keys (key_id, issuer_id, bundle_id, public_key, created_at)
        VALUES ('KEY', '\(uuid)', '\(app)', x'\(key)', 1)
        """,
        "INSERT INTO faults VALUES ('notifications', 'lose')",
        """
        INSERT INTO offer_codes VALUES
            ('\(app)', 'SPRING', 'trial', 'spring', '\(uuid)', 1, NULL, 1, NULL, NULL)
        """,
        """
        INSERT INTO offer_claims SELECT '\(app)', 'nonce', '\(uuid)', 0, customer_id, '\(uuid)', NULL, 1
        FROM customers WHERE name = 'customer'
        """,
        """
        INSERT INTO bulk_changes VALUES ('\(app)', '\(uuid)', 'news', '\(bulk)', 1, '1.2', NULL, NULL, NULL)
        """,
        """
        INSERT INTO bulk_marks SELECT customer_id, '\(app)', '\(uuid)', subscription_id, 1, 1
        FROM subscriptions
        """,
        """
        INSERT INTO due_work SELECT customer_id, 'approval', '\(app)/\(purchaseID(1))', 1
        FROM customers WHERE name = 'customer'
        """,
        """
        INSERT INTO errands SELECT customer_id, 'settle', '\(app)/\(purchaseID(1))', 'processor', 1, 1, 1, NULL
        FROM customers WHERE name = 'customer'
        """,
        """
        INSERT INTO notifications (customer_id, cause, notification_uuid, notification_type,
            bundle_id, signed_payload, signed_at)
        SELECT customer_id, '\(test)', '\(uuid)', 'TEST', '\(app)', 'a.b.c', 1 FROM customers WHERE name = 'customer'
        """,
        """
        INSERT INTO notification_attempts
        SELECT customer_id, '\(test)', 1, 1, 'SUCCESS', 200 FROM customers WHERE name = 'customer'
        """,
    ]

    private func isInvalid(_ text: ArchiveText, _ comment: String) {
        let fault = #expect(throws: ArchiveFault.self, "\(comment)") {
            try StoreRestore.check(text.bytes, name: "strange")
        }
        // What JSON does not read as a value of ours is no archive's line.
        #expect([.invalid, .damaged].contains(fault?.code), "\(comment): \(fault as Any)")
    }

    // MARK: Tests

    @Test func `a backup as it was written passes, and has every table and column`() async throws {
        let text = try await Self.filled.value
        try StoreRestore.check(text.bytes, name: "own")
        for (rules, marker) in [
            (StoreArchiveRules.registry, "realms"), (StoreArchiveRules.realm, "realm"),
        ] {
            let tables = text.tables.map(\.table)
            #expect(tables.contains { $0.table == marker })
            for rule in rules {
                let columns = tables.first { $0.table == rule.name }?.columns ?? []
                #expect(Set(columns) == Set(rule.columns.map(\.name)), "\(rule.name)")
            }
        }
        let known = (StoreArchiveRules.registry + StoreArchiveRules.realm).map(\.name)
        #expect(Set(text.tables.map(\.table.table)) == Set(known))
    }

    @Test(arguments: spoilt + content + promotions + reviews)
    func `a value that no store writes is refused`(spoilt: SpoiltValue) async throws {
        let text = try await Self.filled.value
        for value in spoilt.values {
            var strange = text
            try strange.put(value, spoilt.column, of: spoilt.table)
            isInvalid(strange, "\(spoilt) = \(value.prefix(80))")
        }
    }

    /// Every column, tried with what none should hold. A column that may hold one
    /// of these is named here, with the reason; a new one fails until it has a rule.
    @Test func `no column of any table holds what is strange, but those named`() async throws {
        let text = try await Self.filled.value
        // What people, files and the processor call things, and what the audit quotes.
        let words: Set = [
            "products.reference_name", "subscription_groups.name", "catalogue_files.name",
            "purchases.application_username", "purchases.processor_reference",
            "rotation_notes.old_value", "rotation_notes.new_value", "offer_codes.offer_name",
            "offer_claims.subject",
        ]
        // Names that show themselves, and secrets that open a door as they are.
        let names = Self.reviewTexts.union([
            "customers.name", "sign_in_names.name", "devices.name", "devices.app_version",
            "app_accounts.original_version", "apps.name", "apps.locale", "audit.subject",
            "store_audit.subject", "app_pages.price", "app_pages.description",
        ])
        let expected = [
            "path": words.union(names), "escape": words, "bidirectional": words, "long": [],
            // A seed is any number.
            "huge": ["realms.seed", "realm.seed"],
            "negative": ["realms.seed", "realm.seed", "clocks.clock_ahead"],
        ]
        for (name, value) in StrangeValue.all {
            var admitting: Set<String> = []
            for (_, table) in text.tables where !Self.isEmptyOfRows(table.table) {
                for column in table.columns {
                    var strange = try text.only(table.table)
                    try strange.put(value, column, of: table.table)
                    let fault = Self.judged(strange)
                    if fault == nil { admitting.insert("\(table.table).\(column)") }
                    guard let fault, fault.code == .invalid else { continue }
                    #expect(
                        fault.message.contains("of `\(table.table)`") && fault.rule != nil,
                        "\(name) in \(table.table).\(column): \(fault)")
                }
            }
            #expect(admitting == expected[name], "\(name)")
        }
    }

    /// A backup is of one database, so that these have no rows.
    private static func isEmptyOfRows(_ table: String) -> Bool {
        ["clusters", "arrivals"].contains(table)
    }

    private static func judged(_ text: ArchiveText) -> ArchiveFault? {
        do {
            _ = try ArchiveContents(
                bytes: text.bytes, name: "strange", holds: StoreBackup.holds,
                judge: StoreArchiveRules.judge())
        } catch { return error as? ArchiveFault }
        return nil
    }

    @Test func `tables, columns, databases, keys and numbers that no backup has are refused`()
        async throws
    {
        let text = try await Self.filled.value
        let lines = text.lines
        let first = try #require(text.tables.first).line
        let realm = try #require(lines.firstIndex { $0.hasPrefix("{\"database\":\"realm ") })
        let key = try #require(lines.firstIndex { $0.contains("\"key\"") })
        let clusters = try #require(lines.firstIndex { $0.contains("\"table\":\"clusters\"") })
        let changes: [(String, (inout [Substring]) -> Void)] = [
            ("sessions", { $0.insert(#"{"table":"sessions","columns":["a"]}"#, at: realm + 1) }),
            ("restores", { $0.insert(#"{"table":"restores","columns":["a"]}"#, at: first) }),
            ("a table twice", { $0.insert($0[first], at: first) }),
            ("a realm's path", { $0[realm] = #"{"database":"realm ../../x","migrations":[]}"# }),
            ("a key's path", { $0.insert(#"{"bytes":"AA==","key":"../../x"}"#, at: key) }),
            ("a key twice", { $0.insert($0[key], at: key) }),
            (
                "an authority that is none",
                { $0.insert(#"{"bytes":"e30=","key":"sandbox/authority.9.json"}"#, at: key) }
            ),
            ("a kind", { $0.insert(#"{"next":5,"number":9}"#, at: key) }),
            ("a count", { $0.insert(#"{"next":-5,"number":4}"#, at: key) }),
            ("a row too many", { $0.insert(#"["a","0-1",null,0]"#, at: clusters + 1) }),
            ("a table alone", { $0.insert(#"["a"]"#, at: 1) }),
        ]
        for (name, change) in changes {
            var strange = text
            change(&strange.lines)
            isInvalid(strange, name)
        }
    }

    /// Two ways in which a path would have been used: a realm's database that
    /// is made, and one of a deleted realm that is removed.
    @Test(arguments: ["live", "deleted"])
    func `a realm that is a path touches no file outside`(kind: String) async throws {
        let text = try await Self.filled.value
        let (at, _) = try text.table("realms")
        let place = try await BackupPlace(.sqlite)
        let (name, outside) = Self.outside(place)
        var strange = text
        if kind == "live" {
            let id = try #require(try text.cells(at + 1).first?.dropFirst().dropLast())
            strange.lines = text.lines.map { Substring($0.replacing(String(id), with: name)) }
        } else {
            strange.lines.insert(#"["\#(name)","gone","Sandbox",null,1,2,null]"#, at: at + 1)
        }
        let path = place.folder.file("strange")
        try strange.write(to: path)
        let fault = await #expect(throws: ArchiveFault.self) { try await place.restore(path) }
        #expect(fault?.code == .invalid)
        #expect(!FileManager.default.fileExists(atPath: outside.path))
        #expect(!FileManager.default.fileExists(atPath: place.folder.file("store.sqlite")))
    }

    /// A realm's id that is a path out of the place, and the file that it would
    /// name: no other test's.
    private static func outside(_ place: BackupPlace) -> (id: String, file: URL) {
        let realms = URL(fileURLWithPath: place.folder.file("realms"))
        let own = realms.deletingLastPathComponent().lastPathComponent
        let id = "../../x-" + own.filter { $0.isLetter || $0.isNumber }
        return (id, realms.appendingPathComponent("\(id).sqlite").standardizedFileURL)
    }

    @Test(arguments: ["NULL", "1"])
    func `a realm that is a path in a store's own rows touches no file outside`(
        deletedAt: String
    ) async throws {
        let place = try await BackupPlace(.sqlite)
        let path = place.folder.file("copy")
        try await Self.filled.value.write(to: path)
        _ = try await place.restore(path)
        let registry = try await place.places.registry(RegistrySchema.migrations)
        let strange = Statement(
            "test.strange", [.text],
            "UPDATE realms SET id = $1, deleted_at = \(deletedAt) WHERE name = 'default'")
        let (name, outside) = Self.outside(place)
        try await registry.write { try $0.execute(strange, [.text(name)]) }
        try await registry.close()
        try Data([1]).write(to: outside)
        defer { try? FileManager.default.removeItem(at: outside) }
        let opened = try? await place.open()
        await opened?.close()
        #expect(try Data(contentsOf: outside) == Data([1]))
        #expect((opened == nil) == (deletedAt == "NULL"))
    }

    @Test func `a row that is there twice leaves the place as it was`() async throws {
        let text = try await Self.filled.value
        let (at, _) = try text.table("customers")
        var strange = text
        strange.lines.insert(strange.lines[at + 1], at: at + 1)
        let place = try await BackupPlace(.sqlite)
        let path = place.folder.file("strange")
        try strange.write(to: path)
        let fault = await #expect(throws: ArchiveFault.self) { try await place.restore(path) }
        #expect(fault?.code == .invalid)
        try await expectEmpty(place)
        try text.write(to: path)
        _ = try await place.restore(path)
        await (try await place.open()).close()
    }

    /// Whether a place has no rows, realms or keys, so that another store may begin there.
    private func expectEmpty(
        _ place: BackupPlace, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let registry = try await place.places.registry(RegistrySchema.migrations)
        #expect(
            try await ArchiveContents.isEmpty(registry, place.dialect), sourceLocation: location)
        try await registry.close()
        #expect(try await place.keys().names() == [], sourceLocation: location)
        guard place.engine == .sqlite else { return }
        let realms = try? FileManager.default.contentsOfDirectory(
            atPath: place.folder.file("realms"))
        #expect(realms ?? [] == [], sourceLocation: location)
    }

    @Test func `a key that was there before stays where a restore fails`() async throws {
        var strange = try await Self.filled.value
        let (at, _) = try strange.table("customers")
        strange.lines.insert(strange.lines[at + 1], at: at + 1)
        let place = try await BackupPlace(.sqlite)
        let path = place.folder.file("strange")
        try strange.write(to: path)
        let names = try await TestWorld.keys.value.names()
        let name = try #require(names.first)
        let bytes = try #require(try await TestWorld.keys.value.read(name))
        _ = try await place.keys().store(bytes, as: name)
        await #expect(throws: ArchiveFault.self) { try await place.restore(path) }
        #expect(try await place.keys().names() == [name])
    }

    /// Rows that name others: what is missing would be a fault for ever.
    @Test(
        arguments: [
            ("customers", "sign_in_names", "customer_id"),
            ("products", "purchases", "product_id"),
            ("app_accounts", "transactions", "app_transaction_id"),
            ("notifications", "notification_attempts", "cause"),
            ("clocks", "realm", "a row"),
            ("transactions", "purchases", "transaction_id"),
            ("purchases", "transactions", "purchase_id"),
        ], BackupEngine.allCases)
    func `a row that names one that is not there is refused, and leaves nothing`(
        names: (gone: String, table: String, column: String), engine: BackupEngine
    ) async throws {
        let (gone, table, column) = names
        var strange = try await Self.filled.value
        let (at, _) = try strange.table(gone)
        while strange.lines[at + 1].hasPrefix("[") { strange.lines.remove(at: at + 1) }
        let place = try await BackupPlace(engine)
        let path = place.folder.file("strange")
        try strange.write(to: path)
        let fault = await #expect(throws: ArchiveFault.self) { try await place.restore(path) }
        #expect(fault?.code == .invalid)
        #expect(fault?.message.contains("`\(column)` of `\(table)`") == true, "\(fault as Any)")
        try await expectEmpty(place)
    }
}
