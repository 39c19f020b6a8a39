// SPDX-License-Identifier: Apache-2.0

import CatalogueFile
import Commerce
import Testing

/// Groups, levels and offers written into a file, and read back.
@Suite struct SubscriptionChangesTests {
    /// Written by hand: odd spaces, a key of its own in an offer.
    private static let text = """
        {"subscriptionGroups": [
          {"id": "AA", "name": "Pro", "localizations": [], "subscriptions": [
            {"productID": "gold", "type": "RecurringSubscription", "displayPrice": "4.99",
             "groupNumber": 1, "recurringSubscriptionPeriod": "P1M", "localizations": [],
             "referenceName": "Gold", "subscriptionGroupID": "AA",
             "adHocOffers": [
               {"internalID": "01", "offerID": "old", "paymentMode": "free",
                "referenceName": "Old", "subscriptionPeriod": "P1W", "mine": 1.50}]}]},
          {"id": "EE", "name": "Empty", "localizations": [], "subscriptions": []}]}
        """

    private func file() throws -> CatalogueFile {
        try CatalogueFile(json: Array(Self.text.utf8), name: "a.storekit")
    }

    private let offers: [(OfferKind, Offer)] = [
        (.introductory, Offer(mode: .free, period: Period(1, .week), price: Amount(milliunits: 0))),
        (
            .introductory,
            Offer(
                mode: .payAsYouGo, period: Period(1, .month), periodCount: 3,
                price: Amount(milliunits: 990), billingPlan: .monthly)
        ),
        (
            .promotional,
            Offer(
                id: "spring", referenceName: "Spring", mode: .payUpFront, period: Period(3, .month),
                price: Amount(milliunits: 1990))
        ),
        (
            .code,
            Offer(
                referenceName: "Fair", mode: .free, period: Period(1, .month),
                price: Amount(milliunits: 0), eligibility: [.new, .expired], isStackable: true)
        ),
        (
            .winBack,
            Offer(
                id: "back", referenceName: "Back", mode: .payAsYouGo, period: Period(1, .month),
                periodCount: 2, price: Amount(milliunits: 490), isEligible: true)
        ),
    ]

    @Test func `what is as it was keeps its very bytes`() throws {
        let file = try file()
        let same = try file.offering(file.contents.groups, file.contents.terms)
        #expect(same.bytes == file.bytes)
        #expect(try file.offering(nil, [:]).bytes == file.bytes)
    }

    @Test func `offers of every kind are written, and read as they were given`() throws {
        let file = try file()
        var terms = try #require(file.contents.terms["gold"]).at(level: 3)
        for (kind, offer) in offers {
            terms = terms.with(terms.offers(kind) + [offer], of: kind)
        }

        let changed = try file.offering(file.contents.groups, ["gold": terms])

        let again = try CatalogueFile(json: changed.bytes, name: "a.storekit")
        #expect(again.contents.terms["gold"] == terms)
        #expect(again.contents.groups == file.contents.groups)
        #expect(again.catalogue == file.catalogue)
        #expect(again.warnings == file.warnings)
        // What was there stays, with what nobody here reads.
        #expect(String(decoding: changed.bytes, as: UTF8.self).contains("\"mine\": 1.50}"))
        // Of two introductory offers older editors see the first.
        #expect(String(decoding: changed.bytes, as: UTF8.self).contains("\"introductoryOffer\""))
    }

    @Test func `offers that are gone are gone`() throws {
        let file = try file()
        let terms = try #require(file.contents.terms["gold"]).with([], of: .promotional)
        let changed = try file.offering(file.contents.groups, ["gold": terms])
        #expect(changed.contents.terms["gold"]?.promotionalOffers == [])
        #expect(changed.contents.terms["gold"] == terms)
    }

    @Test func `of groups that share an id the first is renamed`() throws {
        let text = Self.text.replacing("\"EE\"", with: "\"AA\"")
        let file = try CatalogueFile(json: Array(text.utf8), name: "a.storekit")
        let wanted = SubscriptionGroup(
            id: "AA", referenceName: "All", localizations: [], products: ["gold"])

        let changed = try file.offering([wanted], file.contents.terms)

        let words = String(decoding: changed.bytes, as: UTF8.self)
        #expect(words.contains("\"All\"") && !words.contains("\"Pro\""))
        #expect(words.contains("\"Empty\""))
    }

    @Test func `groups are added, named and left out where they are empty`() throws {
        let file = try file()
        let words = [Localization(locale: "ja", displayName: "プロ", details: "")]
        let wanted = [
            SubscriptionGroup(
                id: "AA", referenceName: "All", localizations: words, products: ["gold"]),
            SubscriptionGroup(id: "NN", referenceName: "New", localizations: [], products: []),
        ]

        let changed = try file.offering(wanted, file.contents.terms)

        #expect(changed.contents.groups == wanted)
        // One that has subscriptions stays, whoever names it.
        #expect(try file.offering([], [:]).contents.groups.map(\.id) == ["AA"])
    }

    @Test func `a subscription that is new comes with its terms`() throws {
        let product = Product(
            id: "silver", kind: .autoRenewable(groupID: "SS", period: "P1Y"), referenceName: "",
            price: Amount(milliunits: 990),
            localizations: [])
        let catalogue = Catalogue(products: [product], storefront: "USA", locale: "en_US")
        let terms = SubscriptionTerms(groupID: "SS", level: 2, period: Period(1, .year))
            .with([offers[0].1], of: .introductory)
        let groups = [
            SubscriptionGroup(
                id: "SS", referenceName: "Silver", localizations: [], products: ["silver"])
        ]

        let made = try CatalogueFile.new(selling: catalogue, name: "b.storekit")
            .offering(groups, ["silver": terms])

        #expect(made.contents.terms["silver"] == terms)
        #expect(made.contents.groups == groups)
    }
}
