// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import Shop

@Suite(.timeLimit(.minutes(5))) struct SubscriptionAdministrationTests {
    private static let app = TestWorld.bundleID.value

    /// A world whose app has the subscription `gold` in the group `pro`.
    private func world() async throws -> TestWorld {
        let world = try await TestWorld.open()
        _ = try await world.realm.catalogue.createProduct(
            CreateProductRequest(
                productId: "gold", type: "auto-renewable", groupId: "pro", period: "P1M"),
            bundleID: Self.app, TestWorld.context)
        return world
    }

    @discardableResult
    private func add(_ world: TestWorld, _ offer: OfferRecord, to product: String = "gold")
        async throws -> OfferRecord
    {
        try await world.realm.catalogue.addOffer(
            offer, product: product, bundleID: Self.app, TestWorld.context)
    }

    private func remove(_ world: TestWorld, _ kind: String, _ name: String) async throws {
        try await world.realm.catalogue.removeOffer(
            name, kind: kind, product: "gold", bundleID: Self.app, TestWorld.context)
    }

    static let offers = [
        OfferRecord(kind: "introductory", paymentMode: "free", period: "P1W"),
        OfferRecord(
            kind: "introductory", paymentMode: "payAsYouGo", periodCount: 3, price: 990,
            billingPlan: "MONTHLY"),
        OfferRecord(
            kind: "promotional", offerId: "spring", paymentMode: "payUpFront", period: "P3M",
            price: 1990),
        OfferRecord(
            kind: "code", referenceName: "Fair", paymentMode: "free", period: "P1M",
            eligibility: ["expired", "new"], isStackable: true),
        OfferRecord(
            kind: "win-back", offerId: "back", referenceName: "Come back",
            paymentMode: "payAsYouGo", periodCount: 2, price: 490, isEligible: true),
    ]

    @Test func `offers of each kind are added, listed and removed`() async throws {
        let world = try await world()

        for offer in Self.offers { try await add(world, offer) }

        let told = try await world.realm.catalogue.offers("gold", bundleID: Self.app).offers
        #expect(told.map { $0.name ?? "" } == ["any", "MONTHLY", "spring", "Fair", "back"])
        #expect(told.map { $0.period ?? "" } == ["P1W", "P1M", "P3M", "P1M", "P1M"])
        #expect(told.map { $0.price ?? -1 } == [0, 990, 1990, 0, 490])
        #expect(told[3].eligibility == ["expired", "new"] && told[3].isStackable == true)
        for (offer, name) in zip(Self.offers, ["any", "MONTHLY", "spring", "Fair", "back"]) {
            try await remove(world, offer.kind, name)
        }
        #expect(try await world.realm.catalogue.offers("gold", bundleID: Self.app).offers.isEmpty)
        let audit = try await world.realm.auditEntries().entries.filter {
            $0.deed.hasSuffix("Offer")
        }
        #expect(audit.count == 10)
        #expect(audit.first?.shown == "offer.introductory.any: - > free 0.00 1xP1W")
        #expect(audit.last?.shown == "offer.win-back.back: payAsYouGo 0.49 2xP1M, Come back > -")
    }

    @Test(arguments: [
        (OfferRecord(kind: "gift", paymentMode: "free", period: "P1W"), "offerKindUnknown"),
        (OfferRecord(kind: "promotional", paymentMode: "free", period: "P1W"), "offerIdInvalid"),
        (
            OfferRecord(kind: "win-back", offerId: "a b", paymentMode: "free", period: "P1W"),
            "offerIdInvalid"
        ),
        (OfferRecord(kind: "code", paymentMode: "free", period: "P1W"), "textEmpty"),
        (
            OfferRecord(kind: "code", referenceName: "a", paymentMode: "free", period: "P1W"),
            "eligibilityInvalid"
        ),
        (
            OfferRecord(
                kind: "code", referenceName: "a", paymentMode: "free", period: "P1W",
                eligibility: ["new", "new"]), "eligibilityInvalid"
        ),
        (
            OfferRecord(
                kind: "introductory", paymentMode: "free", period: "P1W", eligibility: ["new"]),
            "eligibilityInvalid"
        ),
        (
            OfferRecord(kind: "introductory", paymentMode: "none", period: "P1W"),
            "paymentModeUnknown"
        ),
        (OfferRecord(kind: "introductory", paymentMode: "free"), "periodInvalid"),
        (OfferRecord(kind: "introductory", paymentMode: "free", period: "1W"), "periodInvalid"),
        (
            OfferRecord(kind: "introductory", paymentMode: "free", period: "P1W", periodCount: 2),
            "periodInvalid"
        ),
        (
            OfferRecord(
                kind: "introductory", paymentMode: "payAsYouGo", periodCount: 1000, price: 1),
            "periodInvalid"
        ),
        (
            OfferRecord(kind: "introductory", paymentMode: "free", period: "P1W", price: 1),
            "priceInvalid"
        ),
        (
            OfferRecord(kind: "introductory", paymentMode: "payUpFront", period: "P1W"),
            "priceInvalid"
        ),
        (
            OfferRecord(
                kind: "introductory", paymentMode: "payUpFront", period: "P1W", price: -1),
            "priceInvalid"
        ),
        (
            OfferRecord(
                kind: "introductory", paymentMode: "free", period: "P1W", billingPlan: "YEARLY"),
            "billingPlanUnknown"
        ),
        (
            OfferRecord(
                kind: "introductory", paymentMode: "payAsYouGo", period: "P1Y", price: 1),
            "offerPeriodOfAnother"
        ),
        (OfferRecord(kind: "introductory", paymentMode: "free", period: "P2W"), "offerExists"),
    ])
    func `an offer that breaks a rule is refused, and nothing is changed`(
        offer: OfferRecord, code: String
    ) async throws {
        let world = try await world()
        try await add(world, Self.offers[0])
        let before = try await world.realm.catalogue.offers("gold", bundleID: Self.app)

        let refused = try await refusal { try await add(world, offer) }

        #expect(refused.error.code == code)
        #expect(try await world.realm.catalogue.offers("gold", bundleID: Self.app) == before)
    }

    @Test func `only subscriptions with terms have offers and levels`() async throws {
        let world = try await world()
        func code(_ product: String) async throws -> String {
            try await refusal { try await add(world, Self.offers[0], to: product) }.error.code
        }

        #expect(try await code("pro") == "notASubscription")
        #expect(try await code("monthly") == "termsUnknown")
        #expect(try await code("nothing") == "productIdUnknown")
        let none = try await refusal { try await remove(world, "promotional", "spring") }
        #expect(none.error.code == "offerUnknown")
    }

    @Test func `groups are made, named, filled, ordered and removed`() async throws {
        let world = try await world()
        let realm = world.realm
        let made = try await realm.catalogue.createGroup(
            CreateGroupRequest(groupId: "silver"), bundleID: Self.app, TestWorld.context)
        #expect([made.groupId, made.name] == ["silver", "silver"] && made.products.isEmpty)
        var change = ProductChange()
        change.level = 2
        let moved = try await realm.catalogue.changeProduct(
            "gold", bundleID: Self.app, change, TestWorld.context)
        #expect(moved.level == 2)
        _ = try await realm.catalogue.createProduct(
            CreateProductRequest(
                productId: "platinum", type: "auto-renewable", groupId: "pro", period: "P1Y"),
            bundleID: Self.app, TestWorld.context)
        let named = try await realm.catalogue.changeGroup(
            "pro", bundleID: Self.app,
            GroupChange(
                name: "Pro",
                localizations: [ProductWords(locale: "ja", displayName: "プロ", description: "")]),
            TestWorld.context)

        #expect(named.name == "Pro" && named.localizations.map(\.displayName) == ["プロ"])
        #expect(named.products.map(\.productId) == ["platinum", "gold"])
        #expect(
            try await realm.catalogue.groups(Self.app).groups.map(\.groupId) == ["pro", "silver"])
        try await realm.catalogue.removeGroup("silver", bundleID: Self.app, TestWorld.context)
        let full = try await refusal {
            try await realm.catalogue.removeGroup("pro", bundleID: Self.app, TestWorld.context)
        }
        let gone = try await refusal {
            try await realm.catalogue.removeGroup("silver", bundleID: Self.app, TestWorld.context)
        }
        #expect([full.error.code, gone.error.code] == ["groupNotEmpty", "groupUnknown"])
        let twice = try await refusal {
            try await realm.catalogue.createGroup(
                CreateGroupRequest(groupId: "pro"), bundleID: Self.app, TestWorld.context)
        }
        #expect(twice.error.code == "groupExists")
        let audit = try await realm.auditEntries().entries.filter { $0.deed.hasPrefix("group.") }
        #expect(
            audit.map { "\($0.deed) \($0.shown)" } == [
                "group.create name: - > pro", "group.create name: - > silver",
                "group.change name: pro > Pro; displayName.ja: - > プロ",
                "group.remove name: silver > -",
            ])
    }

    @Test(arguments: [0, 1001, -1])
    func `an invalid level is refused`(level: Int) async throws {
        let world = try await world()
        var change = ProductChange()
        change.level = level
        let refused = try await refusal {
            try await world.realm.catalogue.changeProduct(
                "gold", bundleID: Self.app, change, TestWorld.context)
        }
        #expect(refused.error.code == "levelInvalid")
    }
}
