// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import CatalogueFile

extension CatalogueFile {
    /// The file as it comes out of the writer, though nothing changed.
    var rewritten: [UInt8] { FileText(tree, endsWithLineFeed: bytes.last == 0x0A).bytes }
}

@Suite(.unforgiven) struct ChangesTests {
    private let full: CatalogueFile

    init() throws {
        full = try CatalogueFile(json: Array(Fixtures.full.utf8), name: "zoo.storekit")
    }

    @Test func `the writer writes as the editor does`() {
        #expect(String(decoding: full.rewritten, as: UTF8.self) == Fixtures.full)
    }

    @Test func `what changes nothing keeps every byte`() throws {
        let odd = "{\"products\":[ ],\n\n \"n\" : 1.50e0}"
        let file = try CatalogueFile(json: Array(odd.utf8), name: "odd")

        #expect(try file.selling(file.catalogue).bytes == Array(odd.utf8))
    }

    @Test func `a changed price changes one line`() throws {
        var catalogue = full.catalogue
        catalogue.products[1] = catalogue.products[1].priced(5990)

        let changed = try full.selling(catalogue)

        let expected = Fixtures.full.replacingOccurrences(of: "\"14.0\"", with: "\"5.99\"")
        #expect(String(decoding: changed.bytes, as: UTF8.self) == expected)
        #expect(changed.catalogue == catalogue)
    }

    @Test func `what is gone is left out, and all else stays`() throws {
        var catalogue = full.catalogue
        catalogue.products.removeFirst()

        let changed = try full.selling(catalogue)

        #expect(changed.catalogue == catalogue)
        #expect(changed.tree["settings"] == full.tree["settings"])
        #expect(changed.contents.terms == full.contents.terms)
    }

    @Test func `what is new goes where its kind is`() throws {
        var catalogue = full.catalogue
        let season = Product(
            id: "zoo.winter", kind: .nonRenewing, referenceName: "Winter",
            price: Amount(milliunits: 2000), localizations: [])
        let yearly = Product(
            id: "zoo.keeper.yearly", kind: .autoRenewable(groupID: "77EE88FF", period: "P1Y"),
            referenceName: "Keeper, yearly",
            price: Amount(milliunits: 19_900), localizations: [])
        catalogue.products.insert(season, at: 3)
        catalogue.products.append(yearly)

        let changed = try full.selling(catalogue)

        #expect(changed.catalogue == catalogue)
        #expect(changed.contents.groups.first?.products.count == 2)
        #expect(changed.contents.terms["zoo.keeper.yearly"]?.level == 1)
    }

    @Test func `a subscription's group is made where there is none`() throws {
        var catalogue = full.catalogue
        catalogue.products.append(
            Product(
                id: "zoo.other", kind: .autoRenewable(groupID: "NEW", period: "P1M"),
                referenceName: "",
                price: Amount(milliunits: 1), localizations: []))

        let changed = try full.selling(catalogue)

        #expect(changed.catalogue == catalogue)
        #expect(changed.contents.groups.map(\.id) == ["77EE88FF", "NEW"])
        #expect(changed.contents.groups.last?.products == ["zoo.other"])
        #expect(changed.warnings.isEmpty)
    }

    @Test func `a product keeps its type`() throws {
        var catalogue = full.catalogue
        let old = catalogue.products[0]
        catalogue.products[0] = Product(
            id: old.id, kind: .nonConsumable, referenceName: old.referenceName, price: old.price,
            localizations: old.localizations)

        #expect(throws: CatalogueFileFault.self) { try full.selling(catalogue) }
    }

    @Test func `a new file sells what was asked and nothing else`() throws {
        var catalogue = full.catalogue
        catalogue.products.removeAll { $0.type == .autoRenewable }
        catalogue.appID = nil

        let file = try CatalogueFile.new(selling: catalogue, name: "new.storekit")

        #expect(file.catalogue == catalogue)
        #expect(file.warnings.isEmpty)
        #expect(file.rewritten == file.bytes)
    }

    /// A random walk through catalogues: the file says what it was told to
    /// say, and reading what was written gives the same file.
    @Test(arguments: Seeds.all)
    func `any catalogue survives writing and reading`(seed: UInt64) throws {
        var generator = SeededGenerator(seed)
        var file = full
        for step in 0..<60 {
            var catalogue = file.catalogue
            switch generator.integer(in: 0...3) {
            case 0 where catalogue.products.count > 1:
                catalogue.products.remove(
                    at: generator.integer(in: 0...(catalogue.products.count - 1)))
            case 1:
                let index = generator.integer(in: 0...(catalogue.products.count - 1))
                catalogue.products[index] = catalogue.products[index].priced(
                    Int64(generator.integer(in: 0...99_999)))
            case 2: catalogue.storefront = generator.one(of: ["USA", "JPN", "FRA"])
            default:
                catalogue.products.append(
                    Product(
                        id: ProductID("step.\(step)"), kind: .consumable,
                        referenceName: "\"\\\n\u{1}é🐒", price: Amount(milliunits: 10),
                        localizations: []))
            }
            file = try file.selling(catalogue)
            #expect(Set(file.catalogue.products) == Set(catalogue.products))
            #expect(file.catalogue.storefront == catalogue.storefront)
            let again = try CatalogueFile(json: file.bytes, name: "zoo.storekit")
            #expect(again.contents == file.contents)
            #expect(again.tree == file.tree)
        }
    }
}

extension Product {
    fileprivate func priced(_ milliunits: Int64) -> Product {
        Product(
            id: id, kind: kind, referenceName: referenceName,
            price: Amount(milliunits: milliunits), isFamilyShareable: isFamilyShareable,
            localizations: localizations)
    }
}

@Suite struct DifferenceTests {
    @Test func `each difference is one line`() throws {
        let before = try contents(
            """
            {"products": [
              {"productID": "a", "type": "Consumable", "displayPrice": "1"},
              {"productID": "b", "type": "Consumable", "displayPrice": "2"}]}
            """)
        let after = try contents(
            """
            {"settings": {"_storefront": "DEU"}, "products": [
              {"productID": "b", "type": "Consumable", "displayPrice": "2.5", "localizations": [
                {"locale": "de", "displayName": "B", "description": ""}]},
              {"productID": "c", "type": "Consumable", "displayPrice": "3"}]}
            """)

        let lines = before.differences(to: after).map(\.description)

        #expect(
            lines == [
                "- a", "~ b price: 2 -> 2.50", "~ b name in de: nothing -> B",
                "~ b description in de: nothing -> ", "+ c", "~ storefront: USA -> DEU",
            ])
        #expect(before.differences(to: before).isEmpty)
    }

    private func contents(_ json: String) throws -> CatalogueContents {
        try CatalogueFile(json: Array(json.utf8), name: "x").contents
    }
}
