// SPDX-License-Identifier: Apache-2.0

import CatalogueFile
import Commerce
import Foundation
import Shop
import ShopServer
import StoreWire
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct CatalogueDoorTests {
    private static let zoo = """
        {
          "products" : [
            {
              "displayPrice" : "0.99",
              "familyShareable" : false,
              "internalID" : "11AA22BB",
              "localizations" : [

              ],
              "productID" : "zoo.banana",
              "promotionalImageID" : "0A0B0C0D",
              "referenceName" : "Banana",
              "type" : "Consumable"
            }
          ],
          "unknown" : 1.50
        }

        """

    private func put(
        _ text: String, _ server: TestServer, app: String = "com.example.zoo"
    ) async throws -> Reply {
        let body = try JSONEncoder().encode(CatalogueDocument(name: "Zoo.storekit", file: text))
        return try await server.send(
            "PUT", "/operator/v1/apps/\(app)/catalogue", [UInt8](body),
            bearer: try await server.store.doorKey(.operator))
    }

    private func get(
        _ server: TestServer, app: String = "com.example.zoo"
    ) async throws -> CatalogueDocument {
        try await server.send(
            "GET", "/operator/v1/apps/\(app)/catalogue",
            bearer: try await server.store.doorKey(.operator)
        ).decoded(CatalogueDocument.self)
    }

    /// A restored backup may hold any bytes for a file.
    @Test(arguments: ["x'00'", "x'7b7d'"])
    func `a stored file that cannot be read is given anew, and a new one replaces it`(
        contents: String
    ) async throws {
        try await TestServer.with { server in
            _ = try await put(Self.zoo, server)
            await server.storages.change(
                "UPDATE catalogue_files SET contents = \(contents), overlay = x'00'")

            let given = try await get(server)
            let again = try await put(Self.zoo, server)
            let back = try await get(server)

            #expect(given.file.contains("zoo.banana") && given.overlay == nil)
            #expect(again.status == 200, "\(again.text)")
            #expect(back.file == Self.zoo)
        }
    }

    @Test func `a file goes in, makes its app, and comes back`() async throws {
        try await TestServer.with { server in
            let first = try await put(Self.zoo, server).decoded(CatalogueImported.self)
            let dearer = Self.zoo.replacingOccurrences(of: "0.99", with: "1.99")
            let second = try await put(dearer, server).decoded(CatalogueImported.self)
            let back = try await get(server)

            #expect(first.differences.map(\.line) == ["+ zoo.banana"])
            #expect(first.warnings.count == 1 && first.warnings[0].contains("0A0B0C0D"))
            #expect(second.differences.map(\.line) == ["~ zoo.banana price: 0.99 -> 1.99"])
            #expect(back.file == dearer)
            #expect(back.name == "Zoo.storekit")
        }
    }

    @Test func `groups and offers made while running come back in the file`() async throws {
        try await TestServer.with { server in
            let realm = try await server.store.realm(named: Store.defaultRealm)
            let context = Shop.RequestContext(requestID: "test")
            _ = try await put(Self.zoo, server)
            _ = try await realm.catalogue.createGroup(
                CreateGroupRequest(groupId: "pro", name: "Pro"), bundleID: "com.example.zoo",
                context)
            for (id, level) in [("gold", 1), ("silver", 2)] {
                var details = ProductChange()
                details.level = level
                _ = try await realm.catalogue.createProduct(
                    CreateProductRequest(
                        productId: id, type: "auto-renewable", groupId: "pro", period: "P1M",
                        details: details), bundleID: "com.example.zoo", context)
            }
            for offer in [
                OfferRecord(kind: "introductory", paymentMode: "free", period: "P1W"),
                OfferRecord(
                    kind: "win-back", offerId: "back", paymentMode: "payAsYouGo", periodCount: 2,
                    price: 490),
            ] {
                _ = try await realm.catalogue.addOffer(
                    offer, product: "silver", bundleID: "com.example.zoo", context)
            }
            let file = try await get(server).file
            let again = try await put(file, server, app: "com.example.zoo2")

            #expect(again.status == 200)
            #expect(file.contains(#""unknown" : 1.50"#))
            let groups = try await realm.catalogue.groups("com.example.zoo2").groups
            #expect(groups.map(\.name) == ["Pro"])
            #expect(
                groups.first?.products == [
                    GroupMember(productId: "gold", level: 1),
                    GroupMember(productId: "silver", level: 2),
                ])
            #expect(
                try await realm.catalogue.offers("silver", bundleID: "com.example.zoo2")
                    == realm.catalogue.offers("silver", bundleID: "com.example.zoo"))
            #expect(try await get(server, app: "com.example.zoo2").file == file)
        }
    }

    @Test func `production reports that a new app waits for a version`() async throws {
        try await TestServer.with { server in
            let key = try await server.store.doorKey(.operator)
            let named = Self.zoo.replacingOccurrences(
                of: "\"localizations\" : [\n\n      ]",
                with: #""localizations" : [{"locale": "en_US", "displayName": "Banana"}]"#)
            let body = [UInt8](
                try JSONEncoder().encode(CatalogueDocument(name: "Zoo.storekit", file: named)))
            func warnings(_ realm: String) async throws -> [String] {
                try await server.send(
                    "PUT", "\(realm)/operator/v1/apps/com.example.zoo/catalogue", body, bearer: key
                ).decoded(CatalogueImported.self).warnings
            }

            let waiting = try await warnings("/realms/live")
            let context = Shop.RequestContext(requestID: "test")
            let realm = try await server.store.realm(named: "live")
            _ = try await realm.catalogue.createAppVersion(
                CreateAppVersionRequest(version: "1.0", products: ["zoo.banana"]),
                bundleID: "com.example.zoo", context)
            _ = try await realm.catalogue.changeAppVersion(
                "1.0", bundleID: "com.example.zoo", AppVersionChange(state: "live"), context)
            let sells = try await warnings("/realms/live")

            #expect(waiting.contains { $0.hasPrefix("nothing is sold yet") })
            #expect(
                waiting.contains {
                    $0.hasPrefix("approved, because no overlay gives another state: zoo.banana; ")
                })
            #expect(sells.allSatisfy { !$0.hasPrefix("approved, because") })
            #expect(sells.allSatisfy { !$0.hasPrefix("nothing is sold yet") })
            let sandbox = try await warnings("")
            #expect(
                sandbox.allSatisfy {
                    !$0.hasPrefix("nothing is sold yet") && !$0.hasPrefix("approved, because")
                })
        }
    }

    @Test func `images go in and come back`() async throws {
        try await TestServer.with { server in
            let key = try await server.store.doorKey(.operator)
            let path = "/operator/v1/apps/com.example.zoo/images/0A0B0C0D"
            let png = SamplePicture.png(width: 7)
            _ = try await put(Self.zoo, server)

            let missing = try await server.send("GET", path, bearer: key)
            let stored = try await server.send("PUT", path, png, bearer: key)
            let read = try await server.send("GET", path, bearer: key)
            let again = try await put(Self.zoo, server).decoded(CatalogueImported.self)

            let statuses = [missing, stored, read].map(\.status)
            #expect(statuses == [404, 204, 200])
            #expect(read.body == png)
            #expect(read.header("Content-Type") == "image/png")
            #expect(again.warnings.isEmpty)
            #expect(try await get(server).images == ["0A0B0C0D"])
        }
    }

    @Test func `an overlay's image that the app does not have is reported`() async throws {
        try await TestServer.with { server in
            let key = try await server.store.doorKey(.operator)
            func warnings() async throws -> [String] {
                let document = CatalogueDocument(
                    name: "Zoo.storekit", file: Self.zoo,
                    overlay: "products: {zoo.banana: {images: [0A0B0C0D, A1]}}")
                let reply = try await server.send(
                    "PUT", "/operator/v1/apps/com.example.zoo/catalogue",
                    [UInt8](try JSONEncoder().encode(document)), bearer: key)
                return try reply.decoded(CatalogueImported.self).warnings
                    .filter { $0.contains("overlay") }
            }
            func warning(_ id: String) -> String {
                "zoo.banana: the overlay names the image `\(id)`, which the app does not have; "
                    + "upload it with `app image put`"
            }

            #expect(try await warnings() == [warning("0A0B0C0D"), warning("A1")])
            _ = try await server.send(
                "PUT", "/operator/v1/apps/com.example.zoo/images/A1",
                SamplePicture.png(width: 7), bearer: key)
            #expect(try await warnings() == [warning("0A0B0C0D")])
        }
    }

    @Test func `an image that a file names stays until none does`() async throws {
        try await TestServer.with { server in
            let key = try await server.store.doorKey(.operator)
            let images = "/operator/v1/apps/com.example.zoo/images/"
            func put(_ overlay: String?, file: String = Self.zoo) async throws {
                let body = try JSONEncoder().encode(
                    CatalogueDocument(name: "Zoo.storekit", file: file, overlay: overlay))
                let reply = try await server.send(
                    "PUT", "/operator/v1/apps/com.example.zoo/catalogue", [UInt8](body),
                    bearer: key)
                #expect(reply.status == 200)
            }
            func delete(_ id: String) async throws -> Reply {
                try await server.send("DELETE", images + id, bearer: key)
            }
            try await put("products: {zoo.banana: {images: [A1]}}")
            for id in ["0A0B0C0D", "A1"] {
                _ = try await server.send(
                    "PUT", images + id, SamplePicture.png(width: 7), bearer: key)
            }

            let (named, shown) = (try await delete("0A0B0C0D"), try await delete("A1"))
            let other = Self.zoo.replacingOccurrences(of: "0A0B0C0D", with: "0A0B0C0E")
            try await put("products: {zoo.banana: {images: [A2]}}", file: other)
            let statuses = [try await delete("0A0B0C0D"), try await delete("A1")].map(\.status)
            let invalid = try await delete("a%2Fb")

            #expect(named.status == 409 && named.error?.code == "imageInUse")
            #expect(shown.status == 409 && shown.error?.code == "imageInUse")
            #expect(
                named.error?.message
                    == "The image `0A0B0C0D` is used by the catalogue file for `zoo.banana`.")
            #expect(
                shown.error?.message
                    == "The image `A1` is used by product `zoo.banana`, the overlay for `zoo.banana`."
            )
            #expect(statuses == [204, 204])
            #expect(invalid.status == 400 && invalid.error?.code == "imageIdInvalid")
            #expect(try await get(server).images == [])
        }
    }

    @Test func `a file that cannot be sold from is refused whole, and the old stays`() async throws
    {
        try await TestServer.with { server in
            _ = try await put(Self.zoo, server)

            let broken = try await put(
                Self.zoo.replacingOccurrences(of: "\"0.99\"", with: "\"cheap\""), server)
            let noJSON = try await put("<plist/>", server)

            let statuses = [broken, noJSON].map(\.status)
            #expect(statuses == [400, 400])
            #expect(broken.error?.code == "catalogueInvalid")
            #expect(broken.error?.message.contains("products[0].displayPrice") == true)
            #expect(try await get(server).file == Self.zoo)
        }
    }

    @Test func `an overlay adds what the file cannot express, and is exported again`() async throws
    {
        try await TestServer.with { server in
            let key = try await server.store.doorKey(.operator)
            let path = "/operator/v1/apps/com.example.zoo/catalogue"
            func put(_ overlay: String) async throws -> Reply {
                let body = try JSONEncoder().encode(
                    CatalogueDocument(name: "Zoo.storekit", file: Self.zoo, overlay: overlay))
                return try await server.send("PUT", path, [UInt8](body), bearer: key)
            }
            let yaml = "app: {name: The Zoo}\nproducts: {zoo.banana: {state: ready}, zoo.x: }\n"

            _ = try await put("")
            let done = try await put(yaml).decoded(CatalogueImported.self)
            let other = try await put("app: {bundleId: com.example.other}")
            let broken = try await put("products: {zoo.banana: {state: sold}}")

            #expect(done.differences.map(\.line) == ["~ zoo.banana state: approved -> ready"])
            #expect(done.warnings.last == "zoo.x: the overlay names it, and the file does not")
            #expect(other.error?.code == "overlayOfAnotherApp")
            #expect(broken.error?.code == "catalogueInvalid")
            #expect(broken.error?.message.contains("products.zoo.banana.state") == true)
            #expect(try await get(server).overlay == yaml)
        }
    }

    @Test func `an overlay is exported as it was, until something it cannot say has changed`()
        async throws
    {
        try await TestServer.with { server in
            let key = try await server.store.doorKey(.operator)
            let app = "/operator/v1/apps/com.example.zoo"
            func send(_ method: String, _ path: String, _ body: String) async throws {
                let reply = try await server.send(method, path, Array(body.utf8), bearer: key)
                #expect(reply.status == 200, "\(reply.error.debugDescription)")
            }
            func overlay() async throws -> String? { try await get(server).overlay }
            _ = try await put(Self.zoo, server)
            let none = try await overlay()

            try await send(
                "PATCH", app + "/products/zoo.banana",
                #"{"state": "draft", "storefronts": ["USA", "JPN"]}"#)
            let changed = try await overlay()
            try await send("PATCH", app, #"{"name": "Zoo & Co"}"#)
            let renamed = try #require(try await overlay())
            let again = try JSONEncoder().encode(
                CatalogueDocument(
                    name: "Zoo.storekit", file: try await get(server).file, overlay: renamed))
            let other = try await server.send(
                "PUT", "/operator/v1/apps/com.example.copy/catalogue", [UInt8](again), bearer: key)
            let copied = try await get(server, app: "com.example.copy")

            #expect(none == nil)
            #expect(
                changed == """
                    products:
                      zoo.banana:
                        state: draft
                        storefronts: [JPN, USA]

                    """)
            #expect(renamed.hasPrefix("app:\n  name: \"Zoo \\U00000026 Co\"\n"))
            #expect(other.status == 200)
            #expect(copied.overlay == renamed)
        }
    }

    @Test func `an app without a file is exported as one`() async throws {
        try await TestServer.with { server in
            let exported = try await get(server, app: "com.example.monkeys")
            let key = try await server.store.doorKey(.operator)
            let unknown = try await server.send(
                "GET", "/operator/v1/apps/com.example.none/catalogue", bearer: key)

            #expect(exported.name == "com.example.monkeys.storekit")
            #expect(exported.file.contains("\"credits.5\""))
            #expect(unknown.status == 404)
        }
    }

    @Test func `every real file goes in and comes back byte for byte`() async throws {
        guard let paths = CorpusLocation.files(endingIn: ".storekit") else {
            print("skipped: 1 test of real .storekit files (SHOPKEEPER_CORPUS names no folder)")
            return
        }
        try await TestServer.with { server in
            var count = 0
            for path in paths {
                guard (try? CatalogueFile(contentsOf: path)) != nil else { continue }
                let bytes = try #require(FileManager.default.contents(atPath: path))
                let text = String(decoding: bytes, as: UTF8.self)
                let app = "com.example.real\(count)"
                let reply = try await put(text, server, app: app)
                #expect(reply.status == 200, "\(path): \(reply.text.prefix(300))")
                let back = try await get(server, app: app).file
                let isSame = Data(back.utf8) == bytes
                #expect(isSame, "\(path)")
                count += 1
            }
            #expect(count * 10 > paths.count * 9)
        }
    }

    @Test func `the audit names the operator and the import`() async throws {
        try await TestServer.with { server in
            _ = try await put(Self.zoo, server)
            let entries = try await server.send(
                "GET", "/operator/v1/audit", bearer: try await server.store.doorKey(.operator)
            ).decoded(AuditRecords.self).entries

            #expect(entries.last?.who == "operator")
            #expect(entries.last?.subject == "com.example.zoo")
            #expect(
                entries.last?.changes.map { "\($0.field) \($0.after ?? "-")" }.prefix(3)
                    == ["file Zoo.storekit", "products 1", "name com.example.zoo"])
        }
    }
}
