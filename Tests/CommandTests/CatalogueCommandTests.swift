// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct CatalogueCommandTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    private func write(_ products: [(String, String)], to name: String) throws {
        let items = products.map {
            """
            {"productID": "\($0.0)", "type": "Consumable", "displayPrice": "\($0.1)",
             "promotionalImageID": "A1B2C3D4"}
            """
        }
        let package = rig.path(name)
        try FileManager.default.createDirectory(
            atPath: package + "/Assets", withIntermediateDirectories: true)
        try Data("{\"products\": [\(items.joined(separator: ","))], \"odd\": 1.50}".utf8).write(
            to: URL(fileURLWithPath: package + "/Configuration.storekit"))
        try Data(SamplePicture.png(width: 7)).write(
            to: URL(fileURLWithPath: package + "/Assets/A1B2C3D4.PNG"))
    }

    private func bytes(_ name: String) -> Data? {
        FileManager.default.contents(atPath: rig.path(name))
    }

    @Test func `a package goes into a running store and comes back`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        try write([("zoo.a", "0.99"), ("zoo.b", "2")], to: "Zoo.storekit")

        let first = try await rig.object(
            "catalogue", "import", "Zoo.storekit", "--bundle-id", "com.example.zoo")
        _ = try await rig.object(
            "catalogue", "export", "--bundle-id", "com.example.zoo", "-o", "Back.storekit")
        let same = try await rig.run(
            "shopkeeper", "catalogue", "diff", "Zoo.storekit", "--bundle-id", "com.example.zoo")
        try write([("zoo.b", "3")], to: "Zoo.storekit")
        let differs = try await rig.run(
            "shopkeeper", "catalogue", "diff", "Zoo.storekit", "--bundle-id", "com.example.zoo")
        let deeds = try await rig.list("audit", "list").map { $0["deed"] as? String }

        #expect((first["differences"] as? [Any])?.count == 2)
        #expect((first["warnings"] as? [Any])?.isEmpty == true)
        #expect(
            bytes("Back.storekit/Assets/A1B2C3D4.png") == bytes("Zoo.storekit/Assets/A1B2C3D4.PNG"))
        #expect(same.status == 0)
        #expect(differs.status == 1)
        #expect(differs.output == "- zoo.a\n~ zoo.b price: 2 -> 3\n")
        #expect(deeds.contains("image.put") && deeds.contains("catalogue.import"))
    }

    @Test func `a word that changes keeps its place and its description`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let file = """
            {"products": [{"productID": "zoo.a", "type": "Consumable", "displayPrice": "2",
              "localizations": [
                {"locale": "de", "displayName": "Affe", "description": "Ein Affe"},
                {"locale": "en_US", "displayName": "Ape", "description": "An ape"}]}]}
            """
        try Data(file.utf8).write(to: URL(fileURLWithPath: rig.path("Words.storekit")))
        let (option, app) = ("--bundle-id", "com.example.zoo")
        _ = try await rig.object("catalogue", "import", "Words.storekit", option, app)
        func exported(_ words: String) async throws -> String {
            _ = try await rig.object("product", "set", "zoo.a", "--words", words, option, app)
            _ = try await rig.object("catalogue", "export", "-o", "Back.storekit", option, app)
            return try String(contentsOfFile: rig.path("Back.storekit"), encoding: .utf8)
        }

        let named = try await exported("de=Gorilla")
        let emptied = try await exported("de=Gorilla|")

        #expect(named == file.replacingOccurrences(of: "Affe\",", with: "Gorilla\","))
        #expect(
            emptied
                == named.replacingOccurrences(
                    of: "\"description\": \"Ein Affe\"", with: "\"description\": \"\""))
        _ = try await rig.object(
            "product", "set", "zoo.a", "--price-in", "DEU=1", "--price-in", "USA=2", option, app)
        let priced = try await rig.object(
            "product", "set", "zoo.a", "--price-in", "DEU=3", option, app)
        let prices = (priced["prices"] as? [[String: Any]])?.map { $0["storefront"] as? String }
        #expect(prices == ["DEU", "USA"])
    }

    @Test func `an image is deleted once, and not while a product is shown by it`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        try write([("zoo.a", "0.99")], to: "Zoo.storekit")
        func ask(_ words: String...) async throws -> ChildProcess.Outcome {
            try await ChildProcess.run(
                ["shopkeeper"] + words + ["--bundle-id", "com.example.zoo"],
                environment: rig.environment, folder: URL(fileURLWithPath: rig.path(".")))
        }
        func delete(_ images: String...) async throws -> ChildProcess.Outcome {
            try await ChildProcess.run(
                ["shopkeeper", "app", "image", "delete"] + images
                    + ["--bundle-id", "com.example.zoo"],
                environment: rig.environment, folder: URL(fileURLWithPath: rig.path(".")))
        }
        _ = try await ask("catalogue", "import", "Zoo.storekit")
        for id in ["B2", "C3"] {
            _ = try await ask("app", "image", "put", id, "Zoo.storekit/Assets/A1B2C3D4.PNG")
        }
        _ = try await ask("product", "set", "zoo.a", "--words", "en_US=A", "--image", "B2")

        let used = try await delete("A1B2C3D4", "B2", "C3")
        _ = try await ask("product", "set", "zoo.a", "--no-images")
        let free = try await delete("B2", "--json")
        let again = try await delete("B2", "--json")

        #expect(used.status == 1 && used.output == "Deleted C3.\n")
        #expect(used.errors.contains("is used by the catalogue file for `zoo.a`"))
        #expect(used.errors.contains("is used by product `zoo.a`"))
        #expect(free.status == 0 && free.output.contains(#""isDeleted" : true"#))
        #expect(again.status == 1 && again.output.contains(#""code" : "imageUnknown""#))
        #expect(try await rig.list("audit", "list").last?["deed"] as? String == "image.delete")
    }

    @Test func `an overlay goes with its file`() async throws {
        let yaml = """
            app: {bundleId: com.example.zoo, name: The Zoo}
            products:
              zoo.a: {state: draft}
              zoo.b: {storefronts: [DEU], prices: {DEU: 1.5}}

            """
        try write([("zoo.a", "0.99"), ("zoo.b", "2")], to: "Zoo.storekit")
        try Data(yaml.utf8).write(to: URL(fileURLWithPath: rig.path("Zoo.storekit.yaml")))
        let store = try await rig.serve("Zoo.storekit")
        defer { store.kill(SIGTERM) }

        let draft = try await rig.run("shopkeeper", "why", "zoo.a", "--json")
        let elsewhere = try await rig.run("shopkeeper", "why", "zoo.b")
        let here = try await rig.object("why", "zoo.b", "--storefront", "DEU")
        let app = try await rig.object("app", "show")
        _ = try await rig.object("catalogue", "export", "-o", "Back.storekit")

        #expect(draft.status == 1 && draft.output.contains("\"draft\""))
        #expect(elsewhere.status == 1 && elsewhere.output.hasPrefix("noPriceHere in USA"))
        #expect(here["price"] as? Int == 1500)
        #expect(app["name"] as? String == "The Zoo")
        #expect(app["bundleId"] as? String == "com.example.zoo")
        #expect(bytes("Back.storekit.yaml") == Data(yaml.utf8))
    }

    /// Each door at which a file comes in has the same warnings.
    @Test func `an image that nobody has is a warning at every door`() async throws {
        let yaml = """
            app: {bundleId: com.example.zoo}
            products:
              zoo.a: {images: [GONE]}

            """
        try write([("zoo.a", "0.99")], to: "Zoo.storekit")
        try Data(yaml.utf8).write(to: URL(fileURLWithPath: rig.path("Zoo.storekit.yaml")))
        let sentence = "the overlay names the image `GONE`"

        let run = try await rig.run("shopkeeper", "exec", "Zoo.storekit", "--", "true")
        let store = try await rig.serve("Zoo.storekit")
        let imported = try await rig.run("shopkeeper", "catalogue", "import", "Zoo.storekit")
        try Data(yaml.replacing("GONE", with: "LOST").utf8).write(
            to: URL(fileURLWithPath: rig.path("Zoo.storekit.yaml")))
        // The store looks every second.
        await until("a warning of the changed overlay", seen: store.errorsSoFar) {
            store.errorsSoFar.contains("the image `LOST`")
        }
        store.kill(SIGTERM)
        let served = await store.outcome()

        #expect(imported.output.contains(sentence), "\(imported.output)")
        #expect(run.errors.contains("warning: zoo.a: \(sentence)"), "\(run.errors)")
        #expect(served.errors.contains("warning: zoo.a: \(sentence)"), "\(served.errors)")
        #expect(served.errors.contains("the image `LOST`"), "\(served.errors)")
    }

    @Test func `an export writes what the file cannot say, and leaves nothing stale`()
        async throws
    {
        try write([("zoo.a", "0.99")], to: "Zoo.storekit")
        let store = try await rig.serve("Zoo.storekit")
        defer { store.kill(SIGTERM) }
        let stale = URL(fileURLWithPath: rig.path("Back.storekit.yaml"))
        try Data("products: {zoo.a: {state: draft}}\n".utf8).write(to: stale)

        _ = try await rig.object("catalogue", "export", "-o", "New.storekit")
        _ = try await rig.object("catalogue", "export", "-o", "Back.storekit")
        let empty = bytes("Back.storekit.yaml")
        _ = try await rig.object(
            "product", "set", "zoo.a", "--price-in", "DEU=1.5", "--words", "en_US=A|An A")
        _ = try await rig.object("catalogue", "export", "-o", "Back.storekit")

        #expect(bytes("New.storekit.yaml") == nil)
        #expect(empty == Data("products: {}\n".utf8))
        #expect(
            bytes("Back.storekit.yaml")
                == Data("products:\n  zoo.a:\n    prices:\n      DEU:\n        - 1.5\n".utf8))
    }

    @Test func `an app is administered from the command line alone`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let (option, zoo) = ("--bundle-id", "com.example.zoo")

        _ = try await rig.object("app", "create", zoo, "--name", "Zoo")
        _ = try await rig.object(
            "product", "create", "zoo.pro", "--type", "non-consumable", option, zoo)
        let early = try await rig.run("shopkeeper", "product", "approve", "zoo.pro", option, zoo)
        _ = try await rig.object(
            "product", "set", "zoo.pro", "--price", "4.99", "--price-in",
            "DEU=4.49@2020-01-01T00:00:00Z", "--words", "en_US=Pro|All of it", option, zoo)
        let approved = try await rig.object("product", "approve", "zoo.pro", option, zoo)
        let why = try await rig.object("why", "zoo.pro", "--storefront", "DEU", option, zoo)
        let file = try await rig.run("shopkeeper", "catalogue", "export", option, zoo)
        _ = try await rig.object("product", "remove", "zoo.pro", option, zoo)
        let again = try await rig.run(
            "shopkeeper", "product", "create", "zoo.pro", "--json", option, zoo)
        let key = try await rig.object("key", "create", option, zoo)["keyId"] as? String
        _ = try await rig.object("key", "revoke", try #require(key))
        let deeds = try await rig.list("audit", "list").map { $0["deed"] as? String }

        #expect(early.status == 1 && early.errors.contains("not complete"))
        #expect(approved["state"] as? String == "approved")
        #expect(why["price"] as? Int == 4490)
        #expect(file.output.contains("\"displayPrice\" : \"4.99\""))
        #expect(again.status == 1 && again.errors.contains("productIdSpent"))
        #expect(
            deeds.suffix(7) == [
                "app.create", "product.create", "product.change", "product.change",
                "product.remove", "key.create", "key.revoke",
            ])
    }

    @Test func `what serve does by itself is in the audit under its own name`() async throws {
        let store = try await rig.serve("--notify", "http://127.0.0.1:9/")
        defer { store.kill(SIGTERM) }

        let entries = try await rig.list("audit", "list")
        let byServe = entries.filter { $0["who"] as? String == "serve" }
            .compactMap { $0["deed"] as? String }

        #expect(byServe.contains("key.create"))
        #expect(byServe.contains("app.notificationUrl"))
        #expect(!entries.contains { $0["who"] as? String == "operator" })
    }

    @Test func `a served file is read again when it has changed`() async throws {
        try write([("zoo.a", "0.99")], to: "Zoo.storekit")
        let store = try await rig.serve("Zoo.storekit")
        defer { store.kill(SIGTERM) }
        let bought = try await rig.object("buy", "zoo.a")

        try write([("zoo.b", "3")], to: "Zoo.storekit")
        // The store looks every second; each question takes a while itself.
        var isTaken = false
        for _ in 0..<200 where !isTaken {
            isTaken =
                try await rig.run("shopkeeper", "catalogue", "diff", "Zoo.storekit").status == 0
        }

        #expect(isTaken)
        #expect(bought["price"] as? Int == 990)
        #expect(try await rig.object("buy", "zoo.b")["price"] as? Int == 3000)
        #expect(try await rig.run("shopkeeper", "buy", "zoo.a").status == 1)
    }
}
