// SPDX-License-Identifier: Apache-2.0

import CatalogueFile
import Commerce
import TestSupport
import Testing

/// Offers, plans, settings, policies and keys of a file.
@Suite struct SubscriptionFileTests {
    private func offers(_ key: String, _ offers: String, period: String = "P1M") throws
        -> (terms: SubscriptionTerms, warnings: [String])
    {
        let file = try file(
            """
            {"subscriptionGroups": [{"id": "G", "name": "Gold", "localizations": [], "subscriptions": [
              {"productID": "s", "type": "RecurringSubscription", "displayPrice": "9.99",
               "groupNumber": 2, "recurringSubscriptionPeriod": "\(period)", "\(key)": \(offers)}]}]}
            """)
        return (try #require(file.contents.terms["s"]), file.warnings.map(\.keyPath))
    }

    private func file(_ json: String) throws -> CatalogueFile {
        try CatalogueFile(json: Array(json.utf8), name: "x")
    }

    @Test(arguments: ["adHocOffers", "winbackOffers"])
    func `an offer that apps name has an id by the rule for ids`(key: String) throws {
        let offers =
            #"[{"offerID": "Two weeks", "paymentMode": "free", "subscriptionPeriod": "P2W"},"#
            + #" {"offerID": "weeks.2", "paymentMode": "free", "subscriptionPeriod": "P2W"}]"#

        let (terms, warnings) = try self.offers(key, offers)

        let kind = key == "adHocOffers" ? OfferKind.promotional : .winBack
        #expect(terms.offers(kind).map(\.id) == ["weeks.2"])
        #expect(warnings.count == 1)
        #expect(warnings.first?.hasSuffix("\(key)[0].offerID") == true)
    }

    @Test(arguments: ["adHocOffers", "winbackOffers", "codeOffers", "introductoryOffers"])
    func `of offers that share a name the first is taken, and the other warned about`(
        key: String
    ) throws {
        let kinds: [String: OfferKind] = [
            "adHocOffers": .promotional, "winbackOffers": .winBack, "codeOffers": .code,
            "introductoryOffers": .introductory,
        ]
        let name =
            ["codeOffers": #""referenceName": "a""#, "introductoryOffers": #""note": 1"#][key]
            ?? #""offerID": "a""#
        let offers = ["P1W", "P2W", "P3W"].map {
            #"{\#(name), "paymentMode": "free", "subscriptionPeriod": "\#($0)"}"#
        }

        let (terms, warnings) = try self.offers(key, "[\(offers.joined(separator: ", "))]")

        let kind = try #require(kinds[key])
        #expect(terms.offers(kind).map(\.period) == [Period(1, .week)])
        #expect(warnings.count == 2)
        #expect(warnings.first?.contains("\(key)[1]") == true, "\(warnings)")
    }

    @Test func `an offer that shares a name stays in the file`() throws {
        let json = """
            {"subscriptionGroups": [{"id": "G", "name": "Gold", "subscriptions": [
              {"productID": "s", "type": "RecurringSubscription", "displayPrice": "9.99",
               "groupNumber": 2, "recurringSubscriptionPeriod": "P1M", "adHocOffers": [
              {"offerID": "a", "paymentMode": "free", "subscriptionPeriod": "P1W"},
              {"offerID": "a", "paymentMode": "free", "subscriptionPeriod": "P2W"},
              {"offerID": "b", "paymentMode": "free", "subscriptionPeriod": "P1W"}]}]}]}
            """
        let file = try file(json)
        var terms = file.contents.terms
        let known = try #require(terms["s"])
        terms["s"] = known.with(
            known.promotionalOffers.filter { $0.id == "a" }, of: .promotional)

        let changed = try file.offering(file.contents.groups, terms)

        let gone = #",{"offerID":"b","paymentMode":"free","subscriptionPeriod":"P1W"}"#
        #expect(
            String(decoding: changed.bytes, as: UTF8.self).filter { !$0.isWhitespace }
                == json.filter { !$0.isWhitespace }.replacing(gone, with: ""))
    }

    @Test func `a group, its level and its words`() throws {
        let (terms, warnings) = try offers("adHocOffers", "[]")

        #expect(terms == SubscriptionTerms(groupID: "G", level: 2, period: Period(1, .month)))
        #expect(warnings.isEmpty)
    }

    @Test func `both spellings of an introductory offer`() throws {
        let offer = #"{"paymentMode": "free", "subscriptionPeriod": "P1W", "displayPrice": "3"}"#
        let expected = [
            Offer(mode: .free, period: Period(1, .week), price: Amount(milliunits: 0))
        ]

        #expect(try offers("introductoryOffer", offer).terms.introductoryOffers == expected)
        #expect(try offers("introductoryOffers", "[\(offer)]").terms.introductoryOffers == expected)
        #expect(try offers("introductoryOffer", "null").terms.introductoryOffers.isEmpty)
    }

    @Test func `where both spellings are there the list is taken`() throws {
        let list = #"[{"paymentMode": "free", "subscriptionPeriod": "P3D"}], "introductoryOffer": "#
        let single = #"{"paymentMode": "free", "subscriptionPeriod": "P1W"}"#

        let (terms, _) = try offers("introductoryOffers", list + single)

        #expect(terms.introductoryOffers.map(\.period) == [Period(3, .day)])
    }

    @Test func `an offer paid as you go counts the subscription's own periods`() throws {
        let (terms, warnings) = try offers(
            "adHocOffers",
            """
            [{"offerID": "spring", "referenceName": "Spring", "paymentMode": "payAsYouGo",
              "subscriptionPeriod": "P1M", "numberOfPeriods": 3, "displayPrice": "4.99"},
             {"offerID": "odd", "paymentMode": "payAsYouGo", "subscriptionPeriod": "P1Y",
              "displayPrice": "4.99"}]
            """)

        #expect(
            terms.promotionalOffers == [
                Offer(
                    id: "spring", referenceName: "Spring", mode: .payAsYouGo,
                    period: Period(1, .month), periodCount: 3, price: Amount(milliunits: 4990)),
                Offer(
                    id: "odd", mode: .payAsYouGo, period: Period(1, .month),
                    price: Amount(milliunits: 4990)),
            ])
        #expect(
            warnings == ["subscriptionGroups[0].subscriptions[0].adHocOffers[1].subscriptionPeriod"]
        )
    }

    @Test func `codes and win-back offers say whom they are for`() throws {
        let (codes, _) = try offers(
            "codeOffers",
            """
            [{"referenceName": "Fair", "paymentMode": "payUpFront", "subscriptionPeriod": "P6M",
              "displayPrice": "9", "eligibility": ["expired", "new"], "isStackable": true}]
            """)
        let (back, _) = try offers(
            "winbackOffers",
            """
            [{"offerID": "back", "paymentMode": "free", "subscriptionPeriod": "P1M",
              "isEligible": true}]
            """)

        #expect(codes.codeOffers.first?.eligibility == [.new, .expired])
        #expect(codes.codeOffers.first?.isStackable == true)
        #expect(codes.codeOffers.first?.price == Amount(milliunits: 9000))
        #expect(back.winBackOffers.first?.isEligible == true)
    }

    @Test(arguments: [
        (#"{"paymentMode": "none", "displayPrice": "1"}"#, "paymentMode"),
        (#"{"offerMode": "free", "duration": 1, "durationUnit": "week"}"#, "offerMode"),
        (#"{"paymentMode": "free"}"#, "subscriptionPeriod"),
        (#"{"paymentMode": "free", "subscriptionPeriod": "P0D"}"#, "subscriptionPeriod"),
        (#"{"paymentMode": "free", "subscriptionPeriod": "P1Y2M"}"#, "subscriptionPeriod"),
        (
            #"{"paymentMode": "payUpFront", "subscriptionPeriod": "P1M", "displayPrice": ""}"#,
            "displayPrice"
        ),
        (#"{"paymentMode": "payUpFront", "subscriptionPeriod": "P1M"}"#, "displayPrice"),
    ])
    func `half an offer is no offer`(offer: String, key: String) throws {
        let (terms, warnings) = try offers("introductoryOffer", offer)

        #expect(terms.introductoryOffers.isEmpty)
        #expect(
            warnings == ["subscriptionGroups[0].subscriptions[0].introductoryOffer.\(key)"])
    }

    @Test func `a year may be paid by the month`() throws {
        let (terms, warnings) = try offers(
            "billingPlans",
            """
            [{"billingPlanType": "BILLED_UPFRONT", "displayPrice": "50",
              "commitmentDisplayPrice": "50", "isEnabled": true},
             {"billingPlanType": "MONTHLY", "displayPrice": "0.5",
              "commitmentDisplayPrice": "6.00", "isEnabled": false},
             {"billingPlanType": "WEEKLY", "displayPrice": "1"}]
            """, period: "P1Y")

        #expect(terms.billingPlans.map(\.kind) == [.upfront, .monthly])
        #expect(terms.billingPlans.map(\.commitmentPrice.milliunits) == [50_000, 6000])
        #expect(terms.billingPlans.map(\.isEnabled) == [true, false])
        #expect(warnings.count == 2)
    }

    @Test func `a year by the month costs twelve parts, unless the file says otherwise`() throws {
        let (terms, _) = try offers(
            "billingPlans",
            """
            [{"billingPlanType": "BILLED_UPFRONT", "displayPrice": "50"},
             {"billingPlanType": "MONTHLY", "displayPrice": "5"}]
            """, period: "P1Y")

        #expect(terms.billingPlans.map(\.commitmentPrice.milliunits) == [50_000, 60_000])
    }

    @Test func `settings are the world's switches`() throws {
        let file = try file(
            """
            {"settings": {"_timeRate": 15, "_askToBuyEnabled": true, "_billingIssuesEnabled": true,
              "_renewalBillingIssuesEnabled": true, "_billingGracePeriodEnabled": true,
              "_disableDialogs": true, "_storeKitErrors": [
                {"name": "Load Products", "enabled": true, "current": {"index": 2, "type": "generic"}},
                {"name": "Purchase", "enabled": false, "current": {"index": 1, "type": "purchase"}},
                {"name": "Verification", "enabled": true, "current": null},
                {"name": "App Store Sync", "enabled": true, "current": {"index": 0, "type": "purchase"}},
                {"name": "Weather", "enabled": false}]}}
            """)

        #expect(
            file.contents.settings
                == SandboxSettings(
                    timeRate: .monthIsThirtySeconds, asksToBuy: true, interruptsPurchases: true,
                    failsRenewals: true, hasGracePeriod: true, disablesDialogs: true,
                    errors: [SimulatedError(call: .loadProducts, kind: .generic, index: 2)]))
        #expect(
            file.warnings.map(\.keyPath).filter { !$0.isEmpty } == [
                "settings._storeKitErrors[2].current", "settings._storeKitErrors[3].current",
                "settings._storeKitErrors[4].name",
            ])
        #expect(file.unobeyed.isEmpty)
    }

    @Test func `an unknown time rate is real time`() throws {
        let file = try file(#"{"settings": {"_timeRate": 7}}"#)

        #expect(file.contents.settings.timeRate == .real)
        #expect(file.warnings.map(\.keyPath) == ["", "settings._timeRate"])
    }

    @Test func `policies and the offers' key`() throws {
        let key = String(repeating: "QUJD", count: 50)
        let file = try file(
            """
            {"appPolicies": {"eula": "Be kind.", "policies": [
               {"locale": "en_US", "policyText": "", "policyURL": "https://example.com/privacy"}]},
             "subscriptionOffersKeyPair": {"id": "1A2B3C4D", "privateKey": "\(key)"}}
            """)

        #expect(file.contents.policies.licence == "Be kind.")
        #expect(file.contents.policies.policies.map(\.url) == ["https://example.com/privacy"])
        #expect(file.contents.offersKey?.id == "1A2B3C4D")
        #expect(file.contents.offersKey?.privateKey.count == 150)
    }

    @Test func `a key that cannot be used fails nothing`() throws {
        let file = try file(
            #"{"subscriptionOffersKeyPair": {"id": "1A2B3C4D", "privateKey": "REMOVED"}}"#)

        #expect(file.contents.offersKey == nil)
        #expect(file.warnings.map(\.keyPath) == ["", "subscriptionOffersKeyPair"])
    }
}

@Suite struct PeriodTests {
    @Test(arguments: ["P3D", "P1W", "P12M", "P999Y"])
    func `a period is written as it was read`(text: String) throws {
        #expect(try #require(Period(iso8601: text)).description == text)
    }

    @Test(arguments: [
        "", "P", "P1", "1M", "PM", "P0M", "P-1M", "P1H", "PT1M", "P1000D", "p1m", "P１M",
    ])
    func `text that is not a period is rejected`(text: String) {
        #expect(Period(iso8601: text) == nil)
    }
}
