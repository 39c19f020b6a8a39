// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import TestSupport
import Testing

@testable import Shop

/// What the audit says of administrative changes, and of those that are none.
@Suite(.timeLimit(.minutes(5))) struct AuditTests {
    private static let app = TestWorld.bundleID.value
    private static let png = SamplePicture.png(width: 7)

    private func entries(_ world: TestWorld, _ deed: String) async throws -> [String] {
        try await world.realm.auditEntries().entries.filter { $0.deed == deed }
            .map(\.shown)
    }

    private func importing(_ contents: [UInt8] = [0x7B, 0x7D]) -> CatalogueImport {
        CatalogueImport(
            TestWorld.catalogue(),
            original: CatalogueOriginal(name: "Zoo.storekit", file: contents))
    }

    private func bring(_ given: CatalogueImport, _ world: TestWorld) async throws {
        try await world.realm.catalogue.importCatalogue(
            given, app: AppDescription(bundleID: TestWorld.bundleID), TestWorld.context)
    }

    /// Every change that may be asked for again as it is.
    private func change(_ world: TestWorld, _ customer: String) async throws {
        let (realm, context) = (world.realm, TestWorld.context)
        try await bring(importing(), world)
        _ = try await realm.catalogue.changeApp(
            Self.app, AppChange(name: "Zoo", purchasesEnabled: false), context)
        try await realm.catalogue.setNotificationURL(
            "https://example.com/", bundleID: Self.app, context)
        try await realm.catalogue.putImage("A1", bundleID: Self.app, Self.png, context)
        var details = ProductChange()
        details.price = 500
        _ = try await realm.catalogue.changeProduct("pro", bundleID: Self.app, details, context)
        details = ProductChange()
        details.price = 4990
        _ = try await realm.catalogue.changeProduct("pro", bundleID: Self.app, details, context)
        _ = try await realm.catalogue.changeGroup(
            "apes", bundleID: Self.app,
            GroupChange(
                name: "Apes",
                localizations: [
                    ProductWords(locale: "en_US", displayName: "Apes", description: "All")
                ]), context)
        _ = try await realm.catalogue.changeAppVersion(
            "1.0", bundleID: Self.app, AppVersionChange(state: "live"), context)
        _ = try await realm.customers.changeCustomer(
            customer, ChangeCustomerRequest(email: "ann@example.com", asksToBuy: true), context)
        _ = try await realm.moveClock(MoveClockRequest(rate: 60), context)
    }

    @Test func `what changes nothing leaves no entry`() async throws {
        let world = try await TestWorld.open()
        let (realm, context) = (world.realm, TestWorld.context)
        let customer = try await realm.customers.createCustomer(CreateCustomerRequest(name: "ann"))
            .customerId
        _ = try await realm.catalogue.createGroup(
            CreateGroupRequest(groupId: "apes"), bundleID: Self.app, context)
        _ = try await realm.catalogue.createAppVersion(
            CreateAppVersionRequest(version: "1.0", products: ["pro"]), bundleID: Self.app,
            context)
        try await change(world, customer)
        let before = try await realm.auditEntries().entries

        try await change(world, customer)
        _ = try await realm.customers.endSessions(ofCustomer: customer, context)

        // A price that goes up and down is two changes.
        let after = try await realm.auditEntries().entries.dropFirst(before.count)
        #expect(after.map(\.deed) == ["product.change", "product.change"])
        #expect(
            Set(before.map(\.deed)).isSuperset(of: [
                "catalogue.import", "app.change", "app.notificationUrl", "image.put",
                "group.change", "version.change", "customer.change", "clock.move",
            ]))
    }

    @Test func `an image of as many bytes is another image`() async throws {
        let world = try await TestWorld.open()
        for last: UInt8 in [1, 2] {
            try await world.realm.catalogue.putImage(
                "A1", bundleID: Self.app, SamplePicture.png(width: 7, salt: last),
                TestWorld.context)
        }

        let words = try await entries(world, "image.put")

        #expect(words.count == 2 && words.allSatisfy { $0.contains("sha256: ") })
        #expect(words.first?.hasPrefix("bytes: - > \(Self.png.count); sha256: - > ") == true)
        #expect(words.last?.contains("bytes") == false, "\(words)")
    }

    @Test func `words of a group that differ in a description alone are a change`() async throws {
        let world = try await TestWorld.open()
        _ = try await world.realm.catalogue.createGroup(
            CreateGroupRequest(groupId: "apes"), bundleID: Self.app, TestWorld.context)
        for details in ["One", "Two"] {
            _ = try await world.realm.catalogue.changeGroup(
                "apes", bundleID: Self.app,
                GroupChange(localizations: [
                    ProductWords(locale: "en_US", displayName: "A", description: details)
                ]), TestWorld.context)
        }

        let words = try await entries(world, "group.change")

        #expect(words.count == 2 && words.last == "description.en_US: One > Two", "\(words)")
    }

    @Test func `an import names each field that it changed`() async throws {
        let world = try await TestWorld.open()
        try await bring(importing(), world)
        var details = ProductChange()
        details.price = 10
        _ = try await world.realm.catalogue.changeProduct(
            "pro", bundleID: Self.app, details, TestWorld.context)
        _ = try await world.realm.catalogue.changeApp(
            Self.app, AppChange(storefront: "FRA"), TestWorld.context)

        try await bring(importing(), world)

        let last = try #require(try await world.realm.auditEntries().entries.last)
        #expect(last.deed == "catalogue.import")
        #expect(
            last.changes.map(\.field).sorted() == ["pro: price", "storefront"], "\(last.shown)")
        #expect(last.before("pro: price") == "0.01" && last.after("pro: price") == "4.99")
        #expect(last.before("storefront") == "FRA")
    }

    @Test func `long values that begin alike differ, and many changes are counted`() {
        let long = String(repeating: "é", count: 2000)
        let one = AuditFields.changes(from: ["a": long + "1"], to: ["a": long + "2"])
        #expect(one.count == 1 && one.first?.before != one.first?.after)
        #expect(one.first?.after?.contains("… (4001 bytes, SHA-256 ") == true)
        #expect(one.first?.after?.contains("\u{FFFD}") == false)
        let many = AuditFields((0..<1000).map { ("\($0)", "x") })
        let changes = AuditFields.changes(from: nil, to: many)
        #expect(changes.count == AuditFields.changesMax + 1)
        #expect(changes.last?.after == "\(1000 - AuditFields.changesMax)")
    }

    /// A restore refuses what does not fit its column, so every entry must.
    @Test func `the longest entry fits its column`() throws {
        let escaped = String(repeating: "\u{1}", count: 5000)
        let fields = { (last: String) in
            AuditFields(
                (0..<1000).map { number in
                    (String(repeating: "p", count: 320) + "\(number)", escaped + last)
                })
        }

        let changes = AuditFields.changes(from: fields("1"), to: fields("2"))

        let bytes = try AuditText.of(changes).utf8.count
        #expect(bytes <= RealmSchema.auditChangesBytesMax, "\(bytes)")
    }

    @Test func `a group that a product brings has its entry`() async throws {
        let world = try await TestWorld.open()
        for id in ["gold", "silver"] {
            _ = try await world.realm.catalogue.createProduct(
                CreateProductRequest(
                    productId: id, type: "auto-renewable", groupId: "metals", period: "P1M"),
                bundleID: Self.app, TestWorld.context)
        }

        let made = try await world.realm.auditEntries().entries.filter {
            $0.deed == "group.create"
        }

        #expect(made.map(\.subject) == ["\(Self.app)/metals"])
        #expect(made.map(\.shown) == ["name: - > metals"])
    }

    @Test func `a file that comes again is audited where it takes something back`() async throws {
        let world = try await TestWorld.open()
        try await bring(importing(), world)
        let first = try await entries(world, "catalogue.import").count

        try await bring(importing(), world)
        #expect(try await entries(world, "catalogue.import").count == first)
        var details = ProductChange()
        details.price = 500
        _ = try await world.realm.catalogue.changeProduct(
            "pro", bundleID: Self.app, details, TestWorld.context)
        try await bring(importing(), world)
        #expect(try await entries(world, "catalogue.import").count == first + 1)
        try await bring(importing([0x7B, 0x20, 0x7D]), world)
        #expect(try await entries(world, "catalogue.import").count == first + 2)
    }

    @Test func `first things are not called others, and what is gone is not counted`()
        async throws
    {
        let world = try await TestWorld.open()
        let (realm, context) = (world.realm, TestWorld.context)
        let customer = try await realm.customers.createCustomer(CreateCustomerRequest(name: "ann"))
            .customerId
        for password in ["one", "two"] {
            _ = try await realm.customers.changeCustomer(
                customer, ChangeCustomerRequest(password: password), context)
            _ = try await realm.catalogue.makeSharedSecret(Self.app, context)
        }
        try await realm.catalogue.removeProduct("pro", bundleID: Self.app, context)
        let left = try await realm.catalogue.listProducts(bundleID: Self.app).products.count - 1
        try await bring(importing(), world)

        #expect(
            try await entries(world, "customer.change")
                == ["password: - > one", "password: one > another"])
        #expect(
            try await entries(world, "app.sharedSecret") == [
                "sharedSecret: - > one", "sharedSecret: one > another",
            ])
        #expect(
            try await entries(world, "catalogue.import").last?.contains("products: \(left) > ")
                == true)
    }
}
