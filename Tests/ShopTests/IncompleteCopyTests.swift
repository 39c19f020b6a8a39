// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Testing

@testable import Shop

/// Products that lack a name or a price, whichever way they came into a realm.
@Suite(.timeLimit(.minutes(5))) struct IncompleteCopyTests {
    /// A way in for a catalogue whose products lack something.
    enum Way: String, Sendable, CaseIterable {
        /// A copy of a store whose database somebody changed.
        case restore
        /// The file that `serve` is given.
        case serve
        case operators
    }

    enum Gap: String, Sendable, CaseIterable {
        case name, price

        var sql: String {
            switch self {
            case .name: "UPDATE products SET localizations = '[]', state = 'approved'"
            case .price:
                "UPDATE products SET price = 0, state = 'approved', "
                    + "listing = '{\"hasNoBasePrice\":true}'"
            }
        }
    }

    private static let bundleID = TestWorld.bundleID

    private func catalogue(without gap: Gap) -> Catalogue {
        var catalogue = TestWorld.catalogue()
        if gap == .price { catalogue.unpriced = Set(catalogue.products.map(\.id)) }
        guard gap == .name else { return catalogue }
        catalogue.products = catalogue.products.map {
            Product(
                id: $0.id, kind: $0.kind, referenceName: $0.referenceName, price: $0.price,
                localizations: [])
        }
        return catalogue
    }

    /// The sandbox and a production realm with such a catalogue.
    private func store(_ way: Way, _ gap: Gap) async throws -> Store {
        let place = try await BackupPlace(.sqlite)
        let store = try await place.open(isNew: true)
        _ = try await store.createRealm(
            CreateRealmRequest(name: "live", environment: .production))
        for name in [Store.defaultRealm, "live"] {
            let realm = try await store.realm(named: name)
            let app = AppDescription(bundleID: Self.bundleID)
            switch way {
            case .restore:
                try await realm.catalogue.putCatalogue(TestWorld.catalogue(), app: app)
                try await realm.home.write { writing in
                    try writing.execute(Statement("test.gap", gap.sql), [])
                }
            case .serve, .operators:
                let who = RequestContext(requestID: "test", actor: way.rawValue)
                try await realm.catalogue.importCatalogue(
                    CatalogueImport(catalogue(without: gap)), app: app, who)
            }
        }
        guard way == .restore else { return store }
        let path = try await place.backup("copy")
        await store.close()
        let there = try await BackupPlace(.sqlite)
        _ = try await there.restore(path)
        return try await there.open()
    }

    @Test(arguments: Way.allCases, Gap.allCases)
    func `production takes what is not complete as a draft, and a sandbox as it came`(
        way: Way, gap: Gap
    ) async throws {
        let store = try await store(way, gap)
        let live = try await store.realm(named: "live")
        let sandbox = try await store.realm(named: Store.defaultRealm)
        let bundle = Self.bundleID.value

        let drafted = try await live.catalogue.why("credits.5", bundleID: bundle, storefront: nil)
        let shown = try await sandbox.catalogue.why("credits.5", bundleID: bundle, storefront: nil)
        var change = ProductChange()
        change.referenceName = "Five"
        let changed = try await sandbox.catalogue.changeProduct(
            "credits.5", bundleID: bundle, change, TestWorld.context)
        var approval = ProductChange()
        approval.state = "approved"
        let refused = try await refusal {
            try await live.catalogue.changeProduct(
                "credits.5", bundleID: bundle, approval, TestWorld.context)
        }
        await store.close()

        #expect(drafted.answer == "draft")
        #expect(shown.answer == (gap == .price ? "noPriceHere" : "sold"))
        #expect(changed.referenceName == "Five")
        #expect(changed.state == "approved")
        #expect(refused.error.code == "productIncomplete")
    }
}
