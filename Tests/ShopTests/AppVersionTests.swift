// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import Shop

@Suite(.timeLimit(.minutes(5))) struct AppVersionTests {
    private static let app = "com.example.zoo"

    private func world(_ environment: Environment = .production) async throws -> TestWorld {
        let world = try await TestWorld.open(realm: "live", environment: environment)
        _ = try await world.realm.catalogue.createApp(
            CreateAppRequest(bundleId: Self.app), TestWorld.context)
        for id in ["lion", "tiger"] {
            var details = ProductChange()
            details.price = 990
            details.state = "approved"
            details.localizations = [
                ProductWords(locale: "en_US", displayName: id, description: "")
            ]
            _ = try await world.realm.catalogue.createProduct(
                CreateProductRequest(productId: id, type: "consumable", details: details),
                bundleID: Self.app, TestWorld.context)
        }
        return world
    }

    private func add(
        _ world: TestWorld, _ version: String, _ products: [String]
    ) async throws -> AppVersionSummary {
        try await world.realm.catalogue.createAppVersion(
            CreateAppVersionRequest(version: version, products: products), bundleID: Self.app,
            TestWorld.context)
    }

    private func change(
        _ world: TestWorld, _ version: String, _ change: AppVersionChange
    ) async throws -> AppVersionSummary {
        try await world.realm.catalogue.changeAppVersion(
            version, bundleID: Self.app, change, TestWorld.context)
    }

    private func why(_ world: TestWorld, _ id: String) async throws -> String {
        try await world.realm.catalogue.why(id, bundleID: Self.app, storefront: nil).answer
    }

    @Test func `the first product goes live with its version, and opens the way for others`()
        async throws
    {
        let world = try await world()
        #expect(try await why(world, "lion") == "awaitsVersion")

        let made = try await add(world, "1.0", ["lion"])
        #expect([made.state] + made.products == ["waiting", "lion"])
        #expect(try await why(world, "lion") == "awaitsVersion")
        let live = try await change(world, "1.0", AppVersionChange(state: "live"))
        let again = try await change(world, "1.0", AppVersionChange(state: "live"))

        #expect(live.state == "live" && live.liveDate == TestWall.start && again == live)
        #expect(try await why(world, "lion") == "sold")
        #expect(try await why(world, "tiger") == "sold")
        try await world.realm.catalogue.removeProduct("lion", bundleID: Self.app, TestWorld.context)
        #expect(try await why(world, "tiger") == "sold")
        let words = try await world.realm.auditEntries().entries.filter {
            $0.deed.hasPrefix("version.") && $0.subject.hasPrefix(Self.app)
        }.map { "\($0.deed) \($0.shown)" }
        #expect(
            words.prefix(2) == [
                "version.create state: - > waiting; products: - > lion",
                "version.change state: waiting > live",
            ])
    }

    @Test func `a version without products opens nothing, the next one does`() async throws {
        let world = try await world()
        _ = try await add(world, "1.0", [])
        _ = try await change(world, "1.0", AppVersionChange(state: "live"))
        #expect(try await why(world, "lion") == "awaitsVersion")

        _ = try await add(world, "1.1", [])
        _ = try await change(
            world, "1.1", AppVersionChange(state: "live", products: ["lion", "tiger"]))

        #expect(try await why(world, "tiger") == "sold")
        #expect(
            try await world.realm.catalogue.appVersions(Self.app).versions.map(\.products.count)
                == [0, 2])
    }

    @Test func `a product approved after its version is live begins the sale`() async throws {
        let world = try await world()
        var details = ProductChange()
        details.state = "draft"
        _ = try await world.realm.catalogue.changeProduct(
            "lion", bundleID: Self.app, details, TestWorld.context)
        _ = try await add(world, "1.0", ["lion"])
        _ = try await change(world, "1.0", AppVersionChange(state: "live"))
        #expect(try await why(world, "tiger") == "awaitsVersion")

        details.state = "approved"
        _ = try await world.realm.catalogue.changeProduct(
            "lion", bundleID: Self.app, details, TestWorld.context)

        #expect(try await why(world, "lion") == "sold")
        #expect(try await why(world, "tiger") == "sold")
    }

    @Test func `a sandbox waits for no version, however the app is created`() async throws {
        let sandbox = try await world(.sandbox)
        #expect(try await why(sandbox, "lion") == "sold")
        #expect(
            try await sandbox.realm.catalogue.why(
                "pro", bundleID: "com.example.monkeys", storefront: nil
            )
            .answer == "sold")
    }

    @Test func `what a file brings into production waits for a version too, and but once`()
        async throws
    {
        let world = try await TestWorld.open(realm: "live", environment: .production)
        func bring() async throws {
            try await world.realm.catalogue.putCatalogue(
                TestWorld.catalogue(), app: AppDescription(bundleID: BundleID(Self.app)))
        }
        try await bring()

        #expect(try await why(world, "pro") == "awaitsVersion")
        #expect(try await world.realm.catalogue.hasBegunToSell(Self.app) == false)
        _ = try await add(world, "1.0", ["pro"])
        try await bring()
        #expect(try await why(world, "pro") == "awaitsVersion")
        _ = try await change(world, "1.0", AppVersionChange(state: "live"))
        #expect(try await why(world, "pro") == "sold")
        try await bring()
        #expect(try await why(world, "credits.5") == "sold")
        #expect(try await world.realm.catalogue.hasBegunToSell(Self.app))
    }

    @Test func `an app made by hand waits on when a file comes for it`() async throws {
        let world = try await world()
        try await world.realm.catalogue.putCatalogue(
            TestWorld.catalogue(), app: AppDescription(bundleID: BundleID(Self.app)))

        #expect(try await why(world, "pro") == "awaitsVersion")
    }

    @Test func `a product comes with one version, and goes to another when it is let go`()
        async throws
    {
        let world = try await world()
        _ = try await add(world, "1.0", ["lion", "tiger"])

        let second = try await refusal { try await add(world, "1.1", ["lion"]) }
        _ = try await add(world, "1.1", [])
        let later = try await refusal {
            try await change(world, "1.1", AppVersionChange(products: ["tiger"]))
        }
        let before = try await world.realm.catalogue.appVersions(Self.app).versions.map(\.products)
        let same = try await change(world, "1.0", AppVersionChange(products: ["tiger"]))
        let freed = try await change(world, "1.1", AppVersionChange(products: ["lion"]))

        #expect([second, later].map(\.error.code) == ["productInVersion", "productInVersion"])
        #expect(second.kind == .conflict && second.error.message.contains("1.0"))
        #expect(before == [["lion", "tiger"], []])
        #expect(same.products == ["tiger"] && freed.products == ["lion"])
    }

    @Test func `what breaks a rule is refused, and nothing is changed`() async throws {
        let world = try await world()
        _ = try await add(world, "1.0", ["lion"])
        _ = try await change(world, "1.0", AppVersionChange(state: "live"))
        let before = try await world.realm.catalogue.appVersions(Self.app)
        let live = AppVersionChange(state: "waiting")
        let many = Array(repeating: "tiger", count: 101)
        let codes = [
            try await refusal { try await add(world, "1.x", []) }.error.code,
            try await refusal { try await add(world, "1.0", []) }.error.code,
            try await refusal { try await add(world, "2", ["unicorn"]) }.error.code,
            try await refusal { try await add(world, "2", ["lion"]) }.error.code,
            try await refusal { try await add(world, "2", many) }.error.code,
            try await refusal { try await change(world, "3", AppVersionChange()) }.error.code,
            try await refusal {
                try await change(world, "1.0", AppVersionChange(products: []))
            }.error.code,
            try await refusal { try await change(world, "1.0", live) }.error.code,
        ]

        #expect(
            codes == [
                "versionInvalid", "versionExists", "productIdUnknown", "productIdUnknown",
                "tooManyEntries", "versionUnknown", "versionLive", "stateUnknown",
            ])
        #expect(try await world.realm.catalogue.appVersions(Self.app) == before)
    }
}
