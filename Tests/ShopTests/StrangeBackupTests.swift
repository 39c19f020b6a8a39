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
    /// A value of the first row of a table, put in place of the one that is there.
    struct Spoilt: Sendable, CustomTestStringConvertible {
        let table: String
        let column: String
        let values: [String]
        var testDescription: String { "\(table).\(column)" }

        init(_ place: String, _ values: String...) {
            let parts = place.split(separator: ".").map(String.init)
            (table, column, self.values) = (parts[0], parts[1], values)
        }
    }

    private static let huge = "9223372036854775807"
    private static let low = "-9223372036854775808"
    private static let long = "\"\(String(repeating: "x", count: 70_000))\""

    static let spoilt = [
        Spoilt("realms.id", "\"../../x\"", "\"\"", "\"A\"", "1", "null", "\"a/b\""),
        Spoilt("realms.name", "\"../x\"", "\"\"", "\"Live\""),
        Spoilt("realms.environment", "\"production\"", "null"),
        Spoilt("realms.seed", "\"7\"", "true"),
        Spoilt("realms.created_at", "-1", huge, low, "null"),
        Spoilt("number_blocks.kind", "0", "5", "\"1\""),
        Spoilt("number_blocks.next_count", "-1", "1000000000001", huge, low),
        Spoilt("door_keys.door", "\"backdoor\""),
        Spoilt("door_keys.secret", "\"\"", "\"short\"", "null"),
        Spoilt("revoked_certificates.serial", "\"../x\"", "\"\""),
        Spoilt("server_key_realms.realm_id", "\"../x\""),
        Spoilt("operators.name", "\"a b\"", "\"\\u001b[2J\""),
        Spoilt("operators.key_hash", "{\"base64\":\"AAEC\"}", "\"text\""),
        Spoilt("store_audit.entry", "0", low),
        Spoilt("store_audit.who", long),
        Spoilt("store_audit_counts.written", "-1", huge),
        Spoilt("rotation_notes.kind", "\"other\""),
        Spoilt("rotation_notes.generation", "0", low, huge),
        Spoilt("reset_notes.realm", "\"../x\""),
        Spoilt("reset_notes.generation", huge, "0"),
        Spoilt("realm.id", "\"../../x\"", "\"other\""),
        Spoilt("realm.name", "\"other\""),
        Spoilt("realm.environment", "\"Production\""),
        Spoilt("realm.generation", huge, "9007199254740992", "0"),
        Spoilt("clocks.clock_ahead", huge, low, "1.5"),
        Spoilt("clocks.clock_stands_at", huge, "-1"),
        Spoilt("clocks.clock_rate", "0", "-1", huge),
        Spoilt("clocks.clock_since", low, huge),
        Spoilt("realm.audit_count", huge, "-1"),
        Spoilt("realm.buckets", "\"0-499\""),
        Spoilt("realm.cluster", "\"x\""),
        Spoilt("apps.storefront", "\"XXX\"", "\"\""),
        Spoilt("apps.settings", "\"no JSON\""),
        Spoilt("apps.notification_url", "\"file:///etc/passwd\"", "\"http://a b\""),
        Spoilt("apps.purchases_enabled", "2", "\"yes\""),
        Spoilt("products.price", "-1", huge, "1000000000000001"),
        Spoilt("products.product_type", "\"free\""),
        Spoilt("products.localizations", "\"{}\""),
        Spoilt("products.state", "\"sold\""),
        Spoilt(
            "products.listing", "\"no JSON\"",
            #""{\"prices\":[{\"storefront\":\"USA\",\"price\":-1}]}""#,
            #""{\"prices\":[{\"storefront\":\"USA\",\"price\":1,\"startsAt\":-9223372036854775808}]}""#
        ),
        Spoilt("catalogue_images.image_id", "\"../x\""),
        Spoilt("catalogue_images.contents", "\"text\""),
        Spoilt("app_versions.state", "\"dead\""),
        Spoilt("subscription_groups.localizations", "\"{}\""),
        Spoilt("server_keys.public_key", "\"text\"", "{\"base64\":\"\"}"),
        Spoilt("number_marks.kind", "9"),
        Spoilt("number_marks.next_count", huge, "-1"),
        Spoilt("audit.entry", "0"),
        Spoilt("audit.written_at", huge),
        Spoilt(
            "customers.customer_id", "0", "-1", huge, "2000000000000001", "7"),
        Spoilt("customers.name", "\"\"", long, "null"),
        Spoilt("customers.storefront", "\"XXX\""),
        Spoilt("customers.revision", "-1", huge),
        Spoilt("customers.email", "\"nobody\""),
        Spoilt(
            "customers.password_hash", "\"\"", "\"plain\"", "\"scrypt$1048576$32$1$00$00\"",
            "\"scrypt$1048576$8$1$00$00\"", "\"scrypt$131072$8$16$00$00\"",
            "\"scrypt$3$8$1$00$00\""),
        Spoilt("sign_in_names.customer_id", huge),
        Spoilt("devices.device_uuid", "\"../x\""),
        Spoilt("devices.device_id", "1000000000000001"),
        Spoilt("app_accounts.app_transaction_id", "5000000000000001", huge),
        Spoilt("purchases.purchase_id", "\"1\""),
        Spoilt("purchases.quantity", "0", "11", huge, low),
        Spoilt("purchases.unit_price", "-1", huge),
        Spoilt("purchases.currency", "\"usd\"", "\"\""),
        Spoilt("purchases.state", "\"given\"", "\"waiting\"", "\"refused\""),
        Spoilt("purchases.transaction_id", "null", huge),
        Spoilt("purchases.total_price", "-1", huge),
        Spoilt("transactions.transaction_id", "1", huge, "2000000000009001"),
        Spoilt("transactions.quantity", "0", "11", huge),
        Spoilt("transactions.unit_price", "-1"),
        Spoilt("transactions.total_price", "-1", huge),
        Spoilt("transactions.product_type", "\"x\""),
        Spoilt("transactions.product_id", "\"other\""),
        Spoilt("transactions.purchased_at", huge, low),
        Spoilt("transactions.record", "{\"base64\":\"MIIB\"}"),
        Spoilt("outbox.notification_uuid", "\"x\""),
        Spoilt("outbox.customer_id", "-1"),
        Spoilt("errands.fence", "-1", huge),
        Spoilt("errands.attempt", "-1", huge),
        Spoilt("errands.due_at", huge),
        Spoilt("due_work.kind", "\"gift\""),
        Spoilt("due_work.subject", "\"no purchase\""),
        Spoilt("notifications.signed_payload", "\"no JWS\"", "\"a.b\\n.c\""),
        Spoilt("notification_attempts.status", "-1", huge),
    ]

    // MARK: A backup with a row in each table

    private static let filled = Task { () -> [Substring] in
        let place = try await BackupPlace(.sqlite)
        let store = try await place.open(isNew: true)
        let realm = try await store.realm(named: Store.defaultRealm)
        try await realm.putCatalogue(
            TestWorld.catalogue(), app: AppDescription(bundleID: TestWorld.bundleID))
        _ = try await store.createOperator(CreateOperatorRequest(name: "ann"), TestWorld.context)
        _ = try await store.resetRealm(named: Store.defaultRealm, TestWorld.context)
        let token = try await realm.signIn(
            SignInRequest(appVersion: "1", deviceUUID: TestWorld.deviceUUID), TestWorld.context
        ).token
        let session = try await realm.session(token: token)
        let sold = try await realm.purchase(
            purchaseID(1),
            PurchaseRequest(productId: "credits.5", quantity: 1, unitPrice: 990, currency: "USD"),
            session, TestWorld.context)
        #expect(sold.state == "sold")
        try await store.registry.write { writing in
            for sql in registryRows { try writing.execute(Statement("test.fill", sql), []) }
        }
        try await realm.home.write { writing in
            for sql in realmRows { try writing.execute(Statement("test.fill", sql), []) }
        }
        await store.close()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: try await place.backup("copy")))
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }

    private static let registryRows = [
        "INSERT INTO revoked_certificates VALUES ('0a', 1)",
        "INSERT INTO server_key_realms SELECT 'KEY', id FROM realms",
        "INSERT INTO rotation_notes VALUES ('sandbox', 'b', 2, 'ann', 1, 'a')",
        "INSERT INTO reset_notes SELECT id, 2 FROM realms",
    ]

    private static let realmRows = [
        "INSERT INTO catalogue_files VALUES ('a', 'a.storekit', x'7b7d', NULL, 1)",
        "INSERT INTO catalogue_images VALUES ('a', 'b', x'00')",
        "INSERT INTO app_versions VALUES ('a', '1', 'live', 1, 2)",
        "INSERT INTO subscription_groups VALUES ('a', 'g', 0, 'g', '[]', 1)",
        """
        INSERT INTO server_keys (key_id, issuer_id, bundle_id, public_key, created_at)
        VALUES ('KEY', 'issuer', 'a', x'00', 1)
        """,
        "INSERT INTO due_work SELECT customer_id, 'approval', 'a/b', 1 FROM customers",
        """
        INSERT INTO errands SELECT customer_id, 'settle', 'a/b', 'processor', 1, 1, 1, NULL
        FROM customers
        """,
        """
        INSERT INTO notifications (customer_id, cause, notification_uuid, notification_type,
            bundle_id, signed_payload, signed_at)
        SELECT customer_id, 'c', '00000000-0000-4000-8000-000000000000', 'TEST', 'a', 'a.b.c', 1
        FROM customers
        """,
        "INSERT INTO notification_attempts SELECT customer_id, 'c', 1, 1, 'SUCCESS', 200 FROM customers",
    ]

    /// The lines with a right last one.
    private static func ended(_ lines: [Substring]) -> [UInt8] {
        var bytes: [UInt8] = []
        for line in lines.dropLast() { bytes += Array(line.utf8) + [0x0A] }
        let sha256 = hexadecimal(SHA256.hash(data: bytes))
        return bytes + Array("{\"lines\":\(lines.count - 1),\"sha256\":\"\(sha256)\"}\n".utf8)
    }

    private struct Table: Decodable {
        let table: String
        let columns: [String]
    }

    private static func tables(_ lines: [Substring]) -> [(line: Int, table: Table)] {
        lines.indices.compactMap { index in
            guard lines[index].contains("\"table\"") else { return nil }
            return (try? JSONDecoder().decode(Table.self, from: Data(lines[index].utf8)))
                .map { (index, $0) }
        }
    }

    /// The values of a row as they are written.
    private static func cells(_ line: Substring) throws -> [String] {
        let values = try #require(
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [Any])
        return try values.map { value in
            let data = try JSONSerialization.data(
                withJSONObject: value, options: [.fragmentsAllowed, .withoutEscapingSlashes])
            return String(decoding: data, as: UTF8.self)
        }
    }

    private func isInvalid(_ lines: [Substring], _ comment: String) {
        let fault = #expect(throws: ArchiveFault.self, "\(comment)") {
            try StoreRestore.check(Self.ended(lines), name: "strange")
        }
        // What JSON does not read as a value of ours is no archive's line.
        #expect([.invalid, .damaged].contains(fault?.code), "\(comment): \(fault as Any)")
    }

    // MARK: Tests

    @Test func `a backup as it was written passes, and has every table and column`() async throws {
        let lines = try await Self.filled.value

        try StoreRestore.check(Self.ended(lines), name: "own")

        for (rules, marker) in [
            (StoreArchiveRules.registry, "realms"), (StoreArchiveRules.realm, "realm"),
        ] {
            let tables = Self.tables(lines).map(\.table)
            #expect(tables.contains { $0.table == marker })
            for rule in rules {
                let columns = tables.first { $0.table == rule.name }?.columns ?? []
                #expect(Set(columns) == Set(rule.columns.map(\.name)), "\(rule.name)")
            }
        }
        let known = (StoreArchiveRules.registry + StoreArchiveRules.realm).map(\.name)
        #expect(Set(Self.tables(lines).map(\.table.table)) == Set(known))
    }

    @Test(arguments: spoilt)
    func `a value that no store writes is refused`(spoilt: Spoilt) async throws {
        let lines = try await Self.filled.value
        let (at, table) = try #require(
            Self.tables(lines).first { $0.table.table == spoilt.table })
        let place = try #require(table.columns.firstIndex(of: spoilt.column))
        try #require(lines[at + 1].hasPrefix("["), "\(spoilt.table) has a row")

        for value in spoilt.values {
            var strange = lines
            var cells = try Self.cells(lines[at + 1])
            cells[place] = value
            strange[at + 1] = "[\(cells.joined(separator: ","))]"
            isInvalid(strange, "\(spoilt.table).\(spoilt.column) = \(value.prefix(80))")
        }
    }

    @Test func `tables, columns, databases, keys and numbers that no backup has are refused`()
        async throws
    {
        let lines = try await Self.filled.value
        let first = try #require(Self.tables(lines).first).line
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
            var strange = lines
            change(&strange)
            isInvalid(strange, name)
        }
    }

    /// Two ways in which a path would have been used: a realm's database that
    /// is made, and one of a deleted realm that is removed.
    @Test(arguments: ["live", "deleted"])
    func `a realm that is a path touches no file outside`(kind: String) async throws {
        let lines = try await Self.filled.value
        let (at, _) = try #require(Self.tables(lines).first { $0.table.table == "realms" })
        let place = try await BackupPlace(.sqlite)
        let (name, outside) = Self.outside(place)
        var strange = lines
        if kind == "live" {
            let id = try #require(try Self.cells(lines[at + 1]).first?.dropFirst().dropLast())
            strange = lines.map { Substring($0.replacing(String(id), with: name)) }
        } else {
            strange.insert(#"["\#(name)","gone","Sandbox",null,1,2,null]"#, at: at + 1)
        }
        let path = place.folder.file("strange")
        try Data(Self.ended(strange)).write(to: URL(fileURLWithPath: path))

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
        try Data(Self.ended(try await Self.filled.value)).write(to: URL(fileURLWithPath: path))
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

    @Test func `a row that is there twice leaves a place that is not served`() async throws {
        let lines = try await Self.filled.value
        let (at, _) = try #require(Self.tables(lines).first { $0.table.table == "customers" })
        var strange = lines
        strange.insert(strange[at + 1], at: at + 1)
        let place = try await BackupPlace(.sqlite)
        let path = place.folder.file("strange")
        try Data(Self.ended(strange)).write(to: URL(fileURLWithPath: path))

        let fault = await #expect(throws: ArchiveFault.self) { try await place.restore(path) }
        let served = await #expect(throws: StorageFault.self) { try await place.open() }
        try Data(Self.ended(lines)).write(to: URL(fileURLWithPath: path))
        _ = try await place.restore(path)

        #expect(fault?.code == .invalid)
        #expect(served?.code == .halfRestored)
        await (try await place.open()).close()
    }
}
