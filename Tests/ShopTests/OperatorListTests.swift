// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import Shop

/// Lists and fields that the operators' door does not pass over.
@Suite(.timeLimit(.minutes(5))) struct OperatorListTests {
    private static let app = TestWorld.bundleID.value

    private func words(_ locale: String) -> ProductWords {
        ProductWords(locale: locale, displayName: "A", description: "")
    }

    @Test(arguments: [
        ("prices", "DEU"), ("prices at one instant", "DEU"), ("localizations", "de"),
        ("storefronts", "JPN"), ("images", "A1"), ("group", "de"), ("version", "pro"),
    ])
    func `an entry that stands twice in a list is refused by its name`(
        list: String, name: String
    ) async throws {
        let world = try await TestWorld.open()
        let (realm, context) = (world.realm, TestWorld.context)
        let start = Timestamp(milliseconds: 1_800_000_000_000)
        var change = ProductChange()
        switch list {
        case "prices":
            change.prices = ["USA", "DEU", "DEU"].map { ProductPrice(storefront: $0, price: 1) }
        case "prices at one instant":
            change.prices = [nil, start, start].map {
                ProductPrice(storefront: "DEU", price: 1, startDate: $0)
            }
        case "localizations": change.localizations = ["de", "en_US", "de"].map(words)
        case "storefronts": change.storefronts = ["JPN", "USA", "JPN"]
        case "images": change.images = ["A1", "A1"]
        default: break
        }

        let refusal = try await refusal {
            switch list {
            case "group":
                _ = try await realm.catalogue.createGroup(
                    CreateGroupRequest(
                        groupId: "g", localizations: [words("de"), words("de")]),
                    bundleID: Self.app, context)
            case "version":
                _ = try await realm.catalogue.createAppVersion(
                    CreateAppVersionRequest(version: "1", products: ["pro", "pro"]),
                    bundleID: Self.app, context)
            default:
                _ = try await realm.catalogue.changeProduct(
                    "pro", bundleID: Self.app, change, context)
            }
        }

        #expect(refusal.kind == .badRequest && refusal.error.code == "entryTwice")
        #expect(refusal.error.message.contains("`\(name)`"), "\(refusal.error.message)")
    }

    @Test func `prices of one storefront from several instants on are several`() async throws {
        let world = try await TestWorld.open()
        var change = ProductChange()
        change.prices = [nil, Timestamp(milliseconds: 1), Timestamp(milliseconds: 2)].map {
            ProductPrice(storefront: "DEU", price: 1, startDate: $0)
        }

        let changed = try await world.realm.catalogue.changeProduct(
            "pro", bundleID: Self.app, change, TestWorld.context)

        #expect(changed.prices.count == 3)
    }

    @Test func `an image that the app does not have shows no product`() async throws {
        let world = try await TestWorld.open()
        var change = ProductChange()
        change.images = ["A1"]

        let changed = try await refusal {
            try await world.realm.catalogue.changeProduct(
                "pro", bundleID: Self.app, change, TestWorld.context)
        }
        let made = try await refusal {
            try await world.realm.catalogue.createProduct(
                CreateProductRequest(productId: "ape", type: "consumable", details: change),
                bundleID: Self.app, TestWorld.context)
        }

        #expect([changed, made].map(\.error.code) == ["imageUnknown", "imageUnknown"])
        #expect([changed, made].map(\.kind) == [.notFound, .notFound])
        #expect(changed.error.message.contains("`A1`"))
        let products = try await world.realm.catalogue.listProducts(bundleID: Self.app).products
        #expect(!products.contains { $0.productId == "ape" || !$0.images.isEmpty })
    }

    @Test func `an image that a file named before may stay`() async throws {
        let world = try await TestWorld.open()
        try await world.realm.catalogue.importCatalogue(
            CatalogueImport(
                TestWorld.catalogue(), listings: ["pro": Listing(images: ["B2"])]),
            app: AppDescription(bundleID: TestWorld.bundleID), TestWorld.context)
        var change = ProductChange()
        change.images = ["B2"]
        change.price = 1990

        let changed = try await world.realm.catalogue.changeProduct(
            "pro", bundleID: Self.app, change, TestWorld.context)

        #expect(changed.images == ["B2"] && changed.price == 1990)
    }

    @Test(arguments: ["groupId", "period"])
    func `what is no subscription has neither group nor period`(field: String) async throws {
        let world = try await TestWorld.open()
        for type in ["consumable", "non-consumable", "non-renewing"] {
            let refusal = try await refusal {
                try await world.realm.catalogue.createProduct(
                    CreateProductRequest(
                        productId: "ape", type: type, groupId: field == "groupId" ? "apes" : nil,
                        period: field == "period" ? "P1M" : nil),
                    bundleID: Self.app, TestWorld.context)
            }
            #expect(refusal.error.code == "notASubscription" && refusal.error.field == field)
        }
    }

    @Test(arguments: ["offerId", "referenceName", "isStackable", "isEligible"])
    func `an offer has no field of another kind`(field: String) async throws {
        let world = try await TestWorld.open()
        _ = try await world.realm.catalogue.createProduct(
            CreateProductRequest(
                productId: "gold", type: "auto-renewable", groupId: "metals", period: "P1M"),
            bundleID: Self.app, TestWorld.context)
        var offer = OfferRecord(kind: "introductory", paymentMode: "free", period: "P1W")
        switch field {
        case "offerId": offer.offerId = "a"
        case "referenceName": offer.referenceName = "a"
        case "isStackable": offer.isStackable = true
        default: offer.isEligible = true
        }

        let refusal = try await refusal {
            try await world.realm.catalogue.addOffer(
                offer, product: "gold", bundleID: Self.app, TestWorld.context)
        }

        #expect(refusal.error.code == "offerFieldUnused" && refusal.error.field == field)
    }
}
