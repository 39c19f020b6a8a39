// SPDX-License-Identifier: Apache-2.0

import CatalogueFile
import Commerce
import Foundation
import Shop
import StoreWire
import Testing

/// An import is no way round the rules that an operator's verbs keep.
@Suite(.timeLimit(.minutes(5))) struct CompletenessTests {
    private static let app = "com.example.zoo"
    private static let named = #"[{"locale":"en_US","displayName":"Zebra","description":""}]"#
    private static let unnamed = #"[{"locale":"en_US","displayName":"","description":""}]"#

    private static func file(price: String, words: String) -> String {
        #"{"products":[{"displayPrice":"\#(price)","localizations":\#(words),"#
            + #""productID":"zebra","referenceName":"Zebra","type":"Consumable"}]}"#
    }

    /// A door of a realm: the sandbox's, or `live`'s.
    private struct Door {
        let server: TestServer
        let isLive: Bool

        var prefix: String { isLive ? "/realms/live" : "" }
        var realm: Realm {
            get async throws {
                try await server.store.realm(named: isLive ? "live" : Store.defaultRealm)
            }
        }

        func put(_ file: String, overlay: String? = nil) async throws -> CatalogueImported {
            let body = try JSONEncoder().encode(
                CatalogueDocument(name: "Zoo.storekit", file: file, overlay: overlay))
            return try await send("PUT", "/catalogue", [UInt8](body))
                .decoded(CatalogueImported.self)
        }

        func send(_ method: String, _ path: String, _ body: [UInt8]? = nil) async throws -> Reply {
            try await server.send(
                method, "\(prefix)/operator/v1/apps/\(app)\(path)", body,
                bearer: try await server.store.doorKey(.operator))
        }

        func change(_ json: String) async throws -> Reply {
            try await send("PATCH", "/products/zebra", Array(json.utf8))
        }

        func state() async throws -> String {
            try await realm.catalogue.productRecord("zebra", bundleID: app).state
        }

        func price() async throws -> Int64? {
            try await realm.catalogue.productRecord("zebra", bundleID: app).price
        }

        func why() async throws -> String {
            try await realm.catalogue.why("zebra", bundleID: app, storefront: nil).answer
        }

        func document() async throws -> CatalogueDocument {
            try await send("GET", "/catalogue").decoded(CatalogueDocument.self)
        }
    }

    private func with(isLive: Bool, _ body: (Door) async throws -> Void) async throws {
        try await TestServer.with { try await body(Door(server: $0, isLive: isLive)) }
    }

    @Test(arguments: [false, true])
    func `an empty price is no price, and never 0`(isLive: Bool) async throws {
        try await with(isLive: isLive) { door in
            let done = try await door.put(Self.file(price: "", words: Self.named))

            #expect(done.warnings.contains { $0.contains("displayPrice: a product has a price") })
            #expect(try await door.price() == nil)
            #expect(try await door.why() == (isLive ? "draft" : "noPriceHere"))
        }
    }

    @Test func `a sandbox sells what has no words, and lets it be changed`() async throws {
        try await with(isLive: false) { door in
            _ = try await door.put(Self.file(price: "0.99", words: Self.unnamed))

            let changed = try await door.change(#"{"referenceName":"Striped horse"}"#)
            let ready = try await door.change(#"{"state":"ready","price":1990}"#)
            let draft = try await door.change(#"{"state":"draft"}"#)
            let again = try await door.change(#"{"state":"approved"}"#)

            #expect([changed, ready, draft].map(\.status) == [200, 200, 200])
            #expect(again.error?.code == "productIncomplete")
            #expect(again.error?.remedy?.contains("--words en_US=") == true)
            #expect(try await door.state() == "draft")
        }
    }

    @Test func `production imports an incomplete product as a draft, and reports it`() async throws
    {
        try await with(isLive: true) { door in
            let unnamed = Self.file(price: "0.99", words: Self.unnamed)
            let first = try await door.put(unnamed)
            let told = try await door.put(unnamed, overlay: "products: {zebra: {state: approved}}")
            let state = try await door.state()
            let refused = try await door.change(#"{"state":"approved"}"#)
            let approved = try await door.change(
                #"{"state":"approved","localizations":\#(Self.named)}"#)
            let complete = try await door.state()
            _ = try await door.put(unnamed)

            #expect(
                first.warnings.contains {
                    $0.hasPrefix("kept as drafts, for they lack a price or a name: zebra;")
                })
            #expect(told.warnings.contains { $0.hasPrefix("kept as drafts") })
            #expect(first.warnings.allSatisfy { !$0.hasPrefix("approved, because") })
            #expect(state == "draft")
            #expect(refused.error?.code == "productIncomplete")
            #expect(approved.status == 200)
            #expect(complete == "approved")
            #expect(try await door.state() == "draft")
        }
    }

    @Test func `a price of storefronts is a price`() async throws {
        try await with(isLive: true) { door in
            _ = try await door.put(
                Self.file(price: "", words: Self.named),
                overlay: "products: {zebra: {prices: {DEU: 1.09}}}")

            #expect(try await door.state() == "approved")
            #expect(try await door.price() == nil)
        }
    }

    @Test func `what was never priced comes back as it came, until it is`() async throws {
        try await with(isLive: false) { door in
            let file = Self.file(price: "", words: Self.named)
            _ = try await door.put(file)
            let (first, _) = (try await door.document(), try await door.put(file))
            _ = try await door.change(#"{"price":0}"#)
            let free = try await door.document()
            let freely = try await door.why()
            _ = try await door.put(Self.file(price: "2.99", words: Self.named))

            #expect(first.file == file)
            #expect(first.overlay == nil)
            #expect(
                free.file
                    == file.replacing(#""displayPrice":"""#, with: #""displayPrice":"0""#))
            #expect(freely == "sold")
            #expect(try await door.price() == 2990)
        }
    }

    @Test func `a file that brings a price gives it to what had none`() async throws {
        try await with(isLive: false) { door in
            _ = try await door.put(Self.file(price: "", words: Self.named))
            let before = try await door.why()
            let done = try await door.put(Self.file(price: "0.00", words: Self.named))

            #expect(before == "noPriceHere")
            #expect(done.differences.map(\.line) == ["~ zebra price: nothing -> 0"])
            #expect(try await door.price() == 0)
            #expect(try await door.why() == "sold")
        }
    }

    @Test func `groups that share an id come back as they came`() async throws {
        let file = """
            {"products":[{"displayPrice":"1","productID":"a","type":"Consumable"}],\
            "subscriptionGroups":[
              {"id":"G","name":"One","localizations":[],"subscriptions":[\
            {"displayPrice":"1","groupNumber":1,"productID":"b","recurringSubscriptionPeriod":"P1M",\
            "type":"RecurringSubscription"}]},
              {"id":"G","name":"Two","localizations":[],"subscriptions":[\
            {"displayPrice":"2","groupNumber":2,"productID":"c","recurringSubscriptionPeriod":"P1M",\
            "type":"RecurringSubscription"}]}]}
            """
        try await with(isLive: false) { door in
            let done = try await door.put(file)
            let groups = try await door.realm.catalogue.groups(Self.app).groups

            #expect(done.warnings.contains { $0.contains("a group's id stands once in a file") })
            #expect(try await door.document().file == file)
            #expect(groups.map(\.name) == ["One"])
            #expect(groups.first?.products.map(\.productId) == ["b", "c"])
        }
    }
}
