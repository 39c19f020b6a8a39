// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import TestSupport
import Testing

@testable import CatalogueFile

private func read(_ json: String) throws -> CatalogueFile {
    try CatalogueFile(json: Array(json.utf8), name: "zoo.storekit")
}

@Suite struct CatalogueFileTests {
    @Test func `a full file is read as far as products go`() throws {
        let file = try read(Fixtures.full)
        let bananas = Product(
            id: "zoo.bananas.5", kind: .consumable, referenceName: "",
            price: Amount(milliunits: 990),
            localizations: [
                Localization(
                    locale: "en_US", displayName: "Five bananas",
                    details: "Five bananas for the monkeys."),
                Localization(
                    locale: "de", displayName: "Fünf Bananen",
                    details: "Fünf Bananen für die Affen."),
            ])
        let house = Product(
            id: "zoo.house", kind: .nonConsumable, referenceName: "House",
            price: Amount(milliunits: 14_000), isFamilyShareable: true,
            localizations: [
                Localization(locale: "en_US", displayName: "Monkey house", details: "🐒")
            ])
        let season = Product(
            id: "zoo.season", kind: .nonRenewing, referenceName: "One season",
            price: Amount(milliunits: 4990), localizations: [])
        let keeper = Product(
            id: "zoo.keeper.monthly", kind: .autoRenewable(groupID: "77EE88FF", period: "P1M"),
            referenceName: "Keeper, monthly",
            price: Amount(milliunits: 2990), localizations: [])
        let expected = Catalogue(
            products: [bananas, house, season, keeper], storefront: "DEU", locale: "de_DE",
            appID: 6_448_000_001)
        #expect(file.catalogue == expected)
        #expect(file.warnings.isEmpty)
    }

    @Test(arguments: [
        "{\"major\" : 1, \"minor\" : 0}", "{\"major\" : 99, \"minor\" : 0}", "1", "null", "\"new\"",
    ])
    func `the version decides nothing`(version: String) throws {
        let original = "{\n    \"major\" : 6,\n    \"minor\" : 3\n  }"
        #expect(Fixtures.full.contains(original))
        let changed = Fixtures.full.replacingOccurrences(of: original, with: version)
        #expect(try read(changed).catalogue == (try read(Fixtures.full)).catalogue)
    }

    @Test(arguments: ["{}", "{\"products\": []}", "{\"subscriptionGroups\": []}"])
    func `a file without products is a catalogue of nothing, and warns`(json: String) throws {
        let file = try read(json)
        #expect(file.catalogue == Catalogue(products: [], storefront: "USA", locale: "en_US"))
        #expect(
            file.warnings.map(\.description) == [
                "zoo.storekit: the file names no product: "
                    + "add one to products, or the app sells nothing"
            ])
    }

    @Test(arguments: [("7", "0", true), ("6", "4", false), ("6", "3", false), ("99", "9", true)])
    func `a version newer than any that is known warns`(
        major: String, minor: String, warns: Bool
    ) throws {
        let file = try read(
            Fixtures.full.replacingOccurrences(
                of: "\"major\" : 6,\n    \"minor\" : 3",
                with: "\"major\" : \(major),\n    \"minor\" : \(minor)"))
        #expect(
            file.warnings.map(\.description)
                == (warns
                    ? [
                        "zoo.storekit: version: the version \(major).\(minor) is newer than 6, the "
                            + "newest known: what is new in it is kept and not read"
                    ] : []))
    }

    @Test func `a file and a package are read alike`() throws {
        let folder = try temporaryFolder("catalogue")
        let package = folder.file("Zoo.storekit")
        try FileManager.default.createDirectory(
            atPath: package + "/Assets", withIntermediateDirectories: true)
        let inner = package + "/Configuration.storekit"
        try Data(Fixtures.full.utf8).write(to: URL(fileURLWithPath: inner))
        let catalogue = try read(Fixtures.full).catalogue
        #expect(try CatalogueFile(contentsOf: package).catalogue == catalogue)
        #expect(try CatalogueFile(contentsOf: package + "/").catalogue == catalogue)
        #expect(try CatalogueFile(contentsOf: inner).catalogue == catalogue)
    }

    @Test func `what cannot be read is refused with a sentence`() throws {
        let folder = try temporaryFolder("catalogue")
        #expect(refusal(of: folder.file("none"))?.contains("there is no such file") == true)
        #expect(refusal(of: folder.path)?.contains("no readable Configuration.storekit") == true)
    }

    private func refusal(of path: String) -> String? {
        do {
            _ = try CatalogueFile(contentsOf: path)
            return nil
        } catch {
            return error.description
        }
    }
}

@Suite struct CatalogueProblemTests {
    /// The file's text, and each problem without the file's name; `!` marks an error.
    private static let table: [(String, [String])] = [
        (
            "",
            [
                "! the file is not JSON: at byte 0: a value or a digit is expected: check it "
                    + "with a JSON linter and save it as UTF-8"
            ]
        ),
        (
            "<?xml version=\"1.0\"?><plist/>",
            [
                "! the file is XML, not JSON: make a StoreKit configuration file in Xcode, "
                    + "or by hand as JSON"
            ]
        ),
        ("[]", ["! the file must hold a JSON object: start it with { and end it with }"]),
        ("{\"products\": {}}", ["! products: it must be an array: put it in [ and ]"]),
        ("{\"products\": [7]}", ["! products[0]: it must be an object: put it in { and }"]),
        (
            "{\"products\": [{}]}",
            [
                "! products[0].productID: it is missing: add it, as text",
                "! products[0].type: it is missing: add it, as text",
            ]
        ),
        (
            Fixtures.product().replacingOccurrences(of: "\"a\"", with: "\"caf\u{E9}\""),
            [
                "! products[0].productID: a product's id is 1 to 100 of letters A–Z and a–z, "
                    + "digits, `-`, `.` and `_`, and not `.` or `..` alone: rename it, in the "
                    + "file and in the app"
            ]
        ),
        (
            "{\"subscriptionGroups\": [{\"id\": \"my group\", \"subscriptions\": []}]}",
            [
                "! subscriptionGroups[0].id: a subscription group's id is 1 to 100 of letters "
                    + "A–Z and a–z, digits, `-`, `.` and `_`, and not `.` or `..` alone: "
                    + "rename it, also as the "
                    + "subscriptionGroupID of its subscriptions"
            ]
        ),
        (
            Fixtures.product().replacingOccurrences(of: "Consumable", with: "Coupon"),
            [
                "! products[0].type: the type is not a product type: write Consumable, "
                    + "NonConsumable, NonRenewingSubscription or RecurringSubscription"
            ]
        ),
        (
            "{\"Products\": []}",
            [
                "? Products: the key is spelt products: rename it; it is not read",
                "? the file names no product: add one to products, or the app sells nothing",
            ]
        ),
        (
            Fixtures.product(",\"displayPrice\": \"$1\"").replacingOccurrences(
                of: "\"displayPrice\": \"1\",", with: ""),
            [
                "! products[0].displayPrice: a price is digits with at most one point and three "
                    + "decimals: write it like \"0.99\", without currency, sign or thousands "
                    + "separator"
            ]
        ),
        (
            Fixtures.product().replacingOccurrences(of: "\"1\"", with: "\"\""),
            [
                "? products[0].displayPrice: a product has a price: write one such as \"0.99\"; "
                    + "until then it cannot be bought"
            ]
        ),
        (
            Fixtures.product().replacingOccurrences(of: "\"1\"", with: "1.10"),
            [
                "? products[0].displayPrice: a price is written in quotes: write \"1.10\", "
                    + "as which it is read"
            ]
        ),
        (
            Fixtures.product(",\"localizations\": [{\"displayName\": 3}]"),
            [
                "! products[0].localizations[0].displayName: it must be text: put it in quotes"
            ]
        ),
        (
            Fixtures.product(",\"referenceName\": \"a\\u0000b\""),
            [
                "! products[0].referenceName: a text never holds U+0000: remove that character"
            ]
        ),
        (
            Fixtures.product(
                ",\"referenceName\": \"a\\nb\", \"localizations\": [{\"locale\": \"en_US\", "
                    + "\"displayName\": \"a\\u202Eb\", \"description\": \"a\\nb\\u200B\"}]"),
            [
                "? products[0].localizations[0].displayName: a text has no control, "
                    + "bidirectional or zero-width characters: remove U+202E; a store refuses it",
                "? products[0].localizations[0].description: a text has no control, "
                    + "bidirectional or zero-width characters: remove U+200B; a store refuses it",
                "? products[0].referenceName: a text has no control, bidirectional or "
                    + "zero-width characters: remove U+000A; a store refuses it",
            ]
        ),
        (
            Fixtures.product(",\"familySharable\": true"),
            [
                "? products[0].familySharable: the key is spelt familyShareable: add the e; "
                    + "it is read all the same"
            ]
        ),
        (
            Fixtures.beside(
                "\"settings\": {\"_storefront\": \"XYZ\", \"_applicationInternalID\": \"x\"}"),
            [
                "? settings._storefront: there is no storefront with this code: write three "
                    + "letters such as USA, which is used until then",
                "? settings._applicationInternalID: an app's number is decimal digits: write the "
                    + "app's Apple ID; it counts as unknown",
            ]
        ),
        (
            Fixtures.beside(
                "\"settings\": {\"_applicationInternalID\": \"0\"}"),
            [
                "? settings._applicationInternalID: an app's number is 1 to 2^53 - 1: write the "
                    + "app's Apple ID, or leave the key out; it counts as unknown"
            ]
        ),
        (
            Fixtures.beside(
                "\"settings\": {\"_storeKitErrors\": [{\"name\": \"Purchase\", "
                    + "\"enabled\": true, \"current\": null}]}"),
            [
                "? settings._storeKitErrors[0].current: an error that is switched on says with "
                    + "which error the call Purchase fails: choose the error in Xcode's editor, or "
                    + "switch it off; until then the call succeeds"
            ]
        ),
        (
            Fixtures.beside(
                "\"subscriptionGroups\": [{\"id\": \"G\", \"name\": \"One\", \"subscriptions\": []}, "
                    + "{\"id\": \"G\", \"name\": \"Two\", \"subscriptions\": []}]"),
            [
                "? subscriptionGroups[1].id: a group's id stands once in a file: give it an id of "
                    + "its own; its subscriptions join the group at subscriptionGroups[0], and "
                    + "the name and texts of that one are used"
            ]
        ),
        (
            Fixtures.beside(
                "\"subscriptions\": [{}], \"subscriptionSuiteGroups\": []"),
            [
                "? subscriptions: this list is not read: move its products to products, "
                    + "nonRenewingSubscriptions or subscriptionGroups"
            ]
        ),
    ]

    @Test(arguments: table)
    func `each problem names key, rule and remedy`(json: String, expected: [String]) {
        #expect(problems(json) == expected)
    }

    private func problems(_ json: String) -> [String] {
        let all: [String]
        do {
            all = try read(json).warnings.map { "? \($0)" }
        } catch let fault as CatalogueFileFault {
            let file = "zoo.storekit: "
            let errors = fault.problems.map { "! \($0)".replacingOccurrences(of: file, with: "") }
            return errors
        } catch {
            return ["\(error)"]
        }
        return all.map { $0.replacingOccurrences(of: "zoo.storekit: ", with: "") }
    }

    @Test func `a doubled and an empty id leave the first`() throws {
        let file = try read(
            """
            {"products": [
              {"productID": "a", "type": "Consumable", "displayPrice": "1"},
              {"productID": "a", "type": "NonConsumable", "displayPrice": "2"},
              {"productID": "", "type": "Consumable", "displayPrice": "3"}]}
            """)
        #expect(file.catalogue.products.map(\.type) == [.consumable])
        #expect(file.warnings.map(\.keyPath) == ["products[1].productID", "products[2].productID"])
    }

    @Test func `in a group the nesting decides`() throws {
        let file = try read(
            """
            {"subscriptionGroups": [{"id": "G", "subscriptions": [
              {"productID": "a", "type": "RecurringSubscription", "displayPrice": "1",
               "subscriptionGroupID": "H", "recurringSubscriptionPeriod": "P5D"}]}]}
            """)
        let product = try #require(file.catalogue.products.first)
        #expect(product.groupID == "G")
        #expect(product.period == nil)
        #expect(file.contents.groups.map(\.products) == [["a"]])
        #expect(file.contents.terms.isEmpty)
        #expect(file.warnings.count == 2)
    }
}

@Suite(.unforgiven) struct AwkwardBytesTests {
    @Test(arguments: Seeds.all)
    func `no bytes crash the reader, and an error names its place`(seed: UInt64) {
        var generator = SeededGenerator(seed)
        let original = Array(Fixtures.full.utf8)
        for _ in 0..<300 {
            var bytes = original
            for _ in 0..<generator.integer(in: 1...4) { mutate(&bytes, &generator) }
            check(bytes)
        }
        for _ in 0..<50 { check(generator.bytes(generator.integer(in: 0...200))) }
    }

    private func check(_ bytes: [UInt8]) {
        do {
            _ = try CatalogueFile(json: bytes, name: "zoo.storekit")
        } catch {
            #expect(error.problems.allSatisfy { $0.file == "zoo.storekit" && !$0.rule.isEmpty })
            #expect(!error.problems.isEmpty)
        }
    }

    private func mutate(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let at = generator.integer(in: 0...(bytes.count - 1))
        switch generator.integer(in: 0...4) {
        case 0: bytes[at] = UInt8(truncatingIfNeeded: generator.next())
        case 1: bytes.remove(at: at)
        case 2: bytes.insert(generator.one(of: Array("{}[]\",:0-.e\\\0".utf8)), at: at)
        case 3: bytes.removeLast(bytes.count - at)
        default:
            let words = ["null", "true", "{}", "[]", "\"\"", "-1e999", "1e-99999", "\"\\ud800\""]
            bytes.replaceSubrange(
                at..<min(at + 6, bytes.count), with: Array(generator.one(of: words).utf8))
        }
    }

    @Test func `deep nesting ends in an answer`() {
        for depth in [1, 64, 65, 511, 512, 513, 514, 100_000] {
            check(Array((String(repeating: "[", count: depth)).utf8))
            let open = String(repeating: "{\"products\":[", count: depth)
            let close = String(repeating: "]}", count: depth)
            check(Array((open + close).utf8))
        }
    }

    @Test func `a file too large is refused unread`() {
        let catalogue = Array(Fixtures.full.utf8)
        let blank: UInt8 = 0x20
        let spaces = { [UInt8](repeating: blank, count: $0 - catalogue.count) }

        let largest = catalogue + spaces(CatalogueFile.bytesMax)
        let fault = #expect(throws: CatalogueFileFault.self) {
            try CatalogueFile(json: largest + [blank], name: "zoo.storekit")
        }
        // It says so also where what lies before its end is no JSON at all.
        let unread = #expect(throws: CatalogueFileFault.self) {
            try CatalogueFile(json: [blank] + largest.reversed(), name: "zoo.storekit")
        }

        #expect(throws: Never.self) {
            try CatalogueFile(json: largest, name: "zoo.storekit")
        }
        #expect(fault?.problems.map(\.rule) == ["the file has more than 16777216 bytes"])
        #expect(unread?.problems == fault?.problems)
    }
}

@Suite struct CorpusTests {
    @Test func `real files load or are refused with a sentence`() throws {
        guard let paths = CorpusLocation.files(endingIn: ".storekit") else {
            print("skipped: 1 test of real .storekit files (SHOPKEEPER_CORPUS names no folder)")
            return
        }
        try #require(!paths.isEmpty)
        var products = 0
        var refused = 0
        for path in paths {
            do {
                let file = try CatalogueFile(contentsOf: path)
                products += file.catalogue.products.count
                #expect(file.rewritten == file.bytes, "\(path) changes when it is written")
            } catch {
                refused += 1
                print("refused:", error)
            }
        }
        print("\(paths.count) files, \(products) products, \(refused) refused")
        #expect(products > paths.count)
        #expect(refused * 10 < paths.count)
    }
}
