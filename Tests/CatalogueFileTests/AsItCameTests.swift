// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import CatalogueFile

/// What a file has and nobody changed stays as somebody wrote it.
@Suite struct AsItCameTests {
    /// No two lines are written alike.
    private static let odd = #"""
        {   "version":{"major":4 ,"minor":0},
        	"products": [
             {"type":"Consumable", "productID":"a",
                "displayPrice":"0.990", "mine":[1.50e0,{"x":null}], "localizations":[
                {"locale":"de", "displayName":"\u00c4pfel", "description":"", "note":"m\/n"} ] },
             { "productID" : "b", "type":"NonConsumable" , "displayPrice":"5"}

          ], "identifier" : "\u0058"
        }

        """#

    private func file(_ text: String) throws -> CatalogueFile {
        try CatalogueFile(json: Array(text.utf8), name: "odd.storekit")
    }

    private func text(_ file: CatalogueFile) -> String {
        String(decoding: file.bytes, as: UTF8.self)
    }

    /// The file with one product changed.
    private func changing(
        _ file: CatalogueFile, _ id: ProductID, _ change: (Product) -> Product
    ) throws -> CatalogueFile {
        var catalogue = file.catalogue
        catalogue.products = catalogue.products.map { $0.id == id ? change($0) : $0 }
        catalogue.unpriced.remove(id)
        let changed = try file.selling(catalogue)
        #expect(changed.catalogue == catalogue)
        let again = try CatalogueFile(json: changed.bytes, name: file.name)
        #expect(again.tree == changed.tree)
        return changed
    }

    @Test(arguments: [odd, odd.replacingOccurrences(of: "\n", with: "\r\n")])
    func `a price is changed in place`(written: String) throws {
        let changed = try changing(file(written), "a") { $0.with(price: 1490) }

        #expect(
            text(changed) == written.replacingOccurrences(of: #""0.990""#, with: #""1.49""#))
    }

    @Test func `words are changed in place, beside unknown keys`() throws {
        let changed = try changing(file(Self.odd), "a") {
            $0.with(words: [Localization(locale: "de", displayName: "Birnen", details: "")])
        }

        #expect(
            text(changed)
                == Self.odd.replacingOccurrences(of: #""\u00c4pfel""#, with: #""Birnen""#))
    }

    @Test func `what is added takes the style of what is there`() throws {
        let written = """
            {
                "products": [
                    {
                        "displayPrice": "1",
                        "productID": "a",
                        "type": "Consumable"
                    }
                ]
            }
            """
        let changed = try changing(file(written), "a") {
            $0.with(words: [Localization(locale: "de", displayName: "A", details: "")])
        }

        let added = """
                        "localizations": [
                            {
                                "description": "",
                                "displayName": "A",
                                "locale": "de"
                            }
                        ],
                        "productID"
            """
        #expect(
            text(changed)
                == written.replacingOccurrences(
                    of: "            \"productID\"", with: added))
    }

    @Test func `a file on one line stays on it`() throws {
        let written = #"{"products":[{"productID":"a","type":"Consumable","displayPrice":"1"}]}"#
        var catalogue = try file(written).catalogue
        catalogue.products.append(
            Product(
                id: "b", kind: .consumable, referenceName: "", price: Amount(milliunits: 2000),
                localizations: []))

        let changed = try file(written).selling(catalogue)

        let start = written.dropLast(2) + #",{"displayPrice":"2","familyShareable":false,"#
        #expect(text(changed).hasPrefix(start))
        #expect(!text(changed).contains("\n") && changed.catalogue == catalogue)
    }

    @Test func `what is removed goes with its comma, first, last or only`() throws {
        for (gone, rest) in [("a", ["b"]), ("b", ["a"])] {
            let before = try file(Self.odd)
            var catalogue = before.catalogue
            catalogue.products.removeAll { $0.id == ProductID(gone) }
            let changed = try before.selling(catalogue)
            #expect(changed.catalogue.products.map(\.id.value) == rest)
            #expect(text(changed).contains(#""identifier" : "\u0058""#))
            catalogue.products = []
            let empty = try changed.selling(catalogue)
            #expect(empty.catalogue.products.isEmpty)
            #expect(text(empty).hasPrefix("{   \"version\":{\"major\":4 ,\"minor\":0},\n\t"))
        }
    }

    @Test func `an offer that changes keeps its keys, and its neighbours their bytes`() throws {
        let written = #"""
            {"subscriptionGroups": [
              {"id": "AA", "name": "Pro", "subscriptions": [
                {"productID": "gold", "type": "RecurringSubscription", "displayPrice": "4.99",
                 "groupNumber": 1, "recurringSubscriptionPeriod": "P1M",
                 "adHocOffers": [
                   {"internalID": "01", "offerID": "old", "paymentMode": "payUpFront",
                    "displayPrice": "1.50",  "subscriptionPeriod": "P1W", "mine": 1.50},
                   {"offerID":"not read: ü","paymentMode":"free","subscriptionPeriod":"P1W"},
                   {"offerID":"other","paymentMode":"free","subscriptionPeriod":"P1W"}]}]}]}
            """#
        let before = try file(written)
        let terms = try #require(before.contents.terms["gold"])
        let offers = terms.promotionalOffers.map { offer in
            Offer(
                id: offer.id, referenceName: offer.referenceName, mode: offer.mode,
                period: offer.period,
                price: offer.id == "old" ? Amount(milliunits: 990) : offer.price)
        }

        let changed = try before.offering(nil, ["gold": terms.with(offers, of: .promotional)])

        #expect(
            text(changed) == written.replacingOccurrences(of: #""1.50","#, with: #""0.99","#))
    }

    @Test func `in real files a changed price is one changed line`() throws {
        guard let paths = CorpusLocation.files(endingIn: ".storekit") else {
            print("skipped: 1 test of real .storekit files (SHOPKEEPER_CORPUS names no folder)")
            return
        }
        var changes = 0
        for path in paths {
            guard let file = try? CatalogueFile(contentsOf: path) else { continue }
            let before = text(file).split(separator: "\n", omittingEmptySubsequences: false)
            for product in file.catalogue.products {
                let changed = try changing(file, product.id) { $0.with(price: 123_450) }
                let after = text(changed).split(separator: "\n", omittingEmptySubsequences: false)
                let lines = zip(before, after).filter { $0 != $1 }
                #expect(before.count == after.count && lines.count == 1, "\(path) \(product.id)")
                #expect(lines.first?.1.contains(#""displayPrice" : "123.45""#) == true)
                changes += 1
            }
        }
        print("\(changes) prices changed in \(paths.count) files")
        #expect(changes > paths.count)
    }
}

extension Product {
    fileprivate func with(price: Int64? = nil, words: [Localization]? = nil) -> Product {
        Product(
            id: id, kind: kind, referenceName: referenceName,
            price: price.map { Amount(milliunits: $0) } ?? self.price,
            isFamilyShareable: isFamilyShareable, localizations: words ?? localizations)
    }
}
