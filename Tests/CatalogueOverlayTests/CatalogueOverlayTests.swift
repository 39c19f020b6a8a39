// SPDX-License-Identifier: Apache-2.0

import CatalogueFile
import CatalogueOverlay
import Commerce
import Foundation
import TestSupport
import Testing

@Suite(.unforgiven) struct CatalogueOverlayTests {
    private func read(_ yaml: String) throws -> CatalogueOverlay {
        try CatalogueOverlay(yaml: Array(yaml.utf8), name: "a.storekit.yaml")
    }

    private func problems(_ yaml: String) -> [String] {
        do throws(CatalogueFileFault) {
            _ = try CatalogueOverlay(yaml: Array(yaml.utf8), name: "a")
            return []
        } catch { return error.problems.map { "\($0.keyPath): \($0.rule)" } }
    }

    @Test func `everything that an overlay can say`() throws {
        let overlay = try read(
            """
            # What the file cannot say.
            app:
              bundleId: com.example.zoo
              appId: 1234567890
              name: The Zoo
            products:
              zoo.pro:
                state: ready
                storefronts: [USA, DEU, JPN]
                prices:
                  DEU: 4.490
                  JPN:
                    - 600
                    - {price: 500, from: 2027-01-01T00:00:00Z}
                images: [0A0B0C0D]
                hosted: true
                free: true
                onlyListedPrices: true
              zoo.plain:
            """)

        #expect(overlay.bundleID == "com.example.zoo")
        #expect(overlay.appID == 1_234_567_890)
        #expect(overlay.appName == "The Zoo")
        #expect(overlay.listings["zoo.plain"] == Listing())
        #expect(
            overlay.listings["zoo.pro"]
                == Listing(
                    state: .ready, hasBasePrice: false,
                    prices: [
                        StorefrontPrice(storefront: "DEU", amount: Amount(milliunits: 4490)),
                        StorefrontPrice(storefront: "JPN", amount: Amount(milliunits: 600_000)),
                        StorefrontPrice(
                            storefront: "JPN", amount: Amount(milliunits: 500_000),
                            startsAt: Timestamp(milliseconds: 1_798_761_600_000)),
                    ], storefronts: ["USA", "DEU", "JPN"], isHosted: true,
                    images: ["0A0B0C0D"], isFree: true))
    }

    @Test(arguments: Seeds.all)
    func `what is written is read as the same`(seed: UInt64) throws {
        var generator = SeededGenerator(seed)
        let ids = ["a", "9.b", "-c", "true", "null", "d_1", ".", "zoo.pro-1"]
        let names = ["Zoo & Co: \"all\" #1", " - a", "[*a] !b {c: d}", "Żoo"]
        for round in 0..<100 {
            let listings = ids.map { (id: ProductID($0), listing: Self.listing(&generator)) }
            let name = round < names.count ? names[round] : "." + generator.text(upTo: 30)

            let overlay = try read(
                CatalogueOverlay.text(
                    bundleID: "com.example.zoo", appID: 1_234_567_890, appName: name,
                    listings: listings))

            #expect(overlay.appName == name)
            #expect(overlay.bundleID == "com.example.zoo" && overlay.appID == 1_234_567_890)
            for (id, listing) in listings {
                #expect(overlay.listings[id] ?? Listing() == listing)
            }
        }
    }

    @Test func `what is as usual needs no word`() throws {
        let text = CatalogueOverlay.text(
            bundleID: nil, appID: nil, appName: nil,
            listings: [("a", Listing()), ("b", Listing(state: .removed))])

        #expect(text == "products: {}\n")
        #expect(try read(text).listings.isEmpty)
    }

    private static func listing(_ generator: inout SeededGenerator) -> Listing {
        var listing = Listing(
            state: generator.one(of: [.draft, .ready, .approved]),
            hasBasePrice: generator.boolean(),
            storefronts: generator.one(of: [nil, [], ["USA"], ["NOR", "DEU"]]),
            isHosted: generator.boolean(),
            images: generator.one(of: [[], ["A1"], ["-", "0A0B"]]), isFree: generator.boolean())
        for place in ["DEU", "JPN"] {
            for round in 0..<generator.integer(in: 0...3) {
                let start = Timestamp(milliseconds: generator.integer(in: 0...4_000_000_000_000))
                // One price at most is without a start.
                let isAlways = generator.boolean() && round == 0
                listing.prices.append(
                    StorefrontPrice(
                        storefront: place,
                        amount: Amount(milliunits: generator.integer(in: 0...9_999_999)),
                        startsAt: isAlways ? nil : start))
            }
        }
        return listing
    }

    @Test func `an empty overlay says nothing`() throws {
        #expect(try read("").listings.isEmpty)
        #expect(try read("# nothing\n").listings.isEmpty)
        #expect(try read("products:\n").listings.isEmpty)
    }

    @Test(arguments: [
        ("prices: {}", "prices: this key is unknown"),
        ("app: {id: 1}", "app.id: this key is unknown"),
        ("app: {appId: zero}", "app.appId: an app's number is 1 to 2^53 - 1"),
        ("products: [a]", "products: it must be keys and values"),
        (
            "products: {a: {state: removed}}",
            "products.a.state: a state is draft, ready or approved"
        ),
        ("products: {a: {hosted: yes}}", "products.a.hosted: it must be true or false"),
        (
            "products: {a: {prices: {DEU: 1e3}}}",
            "products.a.prices.DEU: a price is digits with at most one point and three decimals"
        ),
        ("products: {a: {prices: {EUR: 1}}}", "products.a.prices.EUR: there is no storefront EUR"),
        ("products: {a: {storefronts: USA}}", "products.a.storefronts: it must be a list"),
        (
            "products: {a: {prices: {DEU: [1, 2]}}}",
            "products.a.prices.DEU: a storefront has one price from an instant on"
        ),
        (
            "products: {a: {images: [../x]}}",
            "products.a.images: an image's id is 1 to 100 of letters A–Z and a–z, digits, `-`, "
                + "`.` and `_`, and not `.` or `..` alone"
        ),
        (
            "products: {a: {prices: {DEU: {price: 1, from: soon}}}}",
            "products.a.prices.DEU: it is not an instant"
        ),
        ("a: &a [1]\nb: *a", ": anchors, aliases and tags are not read"),
        ("a: !!binary x", ": anchors, aliases and tags are not read"),
    ])
    func `what breaks a rule is reported with its place`(yaml: String, problem: String) {
        #expect(problems(yaml) == [problem])
    }

    @Test func `what is no plain YAML is refused, however deep`() {
        #expect(problems("a: [").first?.contains("not YAML") == true)
        #expect(problems("a: 1\na: 2").first?.contains("not YAML") == true)
        #expect(problems(String(repeating: "[", count: 100_000)).count == 1)
        #expect(problems(String(repeating: "- ", count: 100_000)).count == 1)
        #expect(problems(String(repeating: "? ", count: 100_000)).count == 1)
        #expect(
            problems(
                (0..<500).map { String(repeating: " ", count: $0) + "a:" }
                    .joined(separator: "\n")
            ).count == 1)
        #expect(problems(String(repeating: "a", count: CatalogueOverlay.bytesMax + 1)).count == 1)
    }

    /// Bytes from anybody are read or refused, and never more than that.
    @Test(arguments: Seeds.all)
    func `whatever the bytes, there is an answer`(seed: UInt64) {
        var generator = SeededGenerator(seed)
        let seeds = [
            "app: {bundleId: a.b, appId: 7}\nproducts:\n  p:\n    prices: {DEU: [1, {price: 2}]}\n",
            "products:\n  - a\n  - {b: [c, \"d\", 'e']}\n? f\n: |\n  g\n...\n---\n%YAML 1.2\n",
        ]
        for round in 0..<500 {
            let bytes = Mutation.of(Array(seeds[round % 2].utf8), using: &generator)
            _ = try? CatalogueOverlay(yaml: bytes, name: "a")
        }
    }

    @Test func `it lies beside its file or package`() throws {
        let folder = try temporaryFolder("overlay")
        let path = folder.file("Zoo.storekit")
        #expect(try CatalogueOverlay.beside(path) == nil)
        try Data("app: {bundleId: com.example.zoo}".utf8).write(
            to: URL(fileURLWithPath: path + ".yaml"))

        #expect(try CatalogueOverlay.beside(path)?.bundleID == "com.example.zoo")
        #expect(try CatalogueOverlay.beside(path + "/")?.bundleID == "com.example.zoo")
    }
}
