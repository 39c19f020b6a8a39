// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import StoreWire
import TestSupport
import Testing

@testable import Shop

/// Images are kept, replaced and deleted.
@Suite(.timeLimit(.minutes(5))) struct ImageTests {
    private static let app = TestWorld.bundleID.value
    private static let png = SamplePicture.png(width: 7)

    /// A world whose app has the image `A1`.
    private func world() async throws -> TestWorld {
        let world = try await TestWorld.open()
        try await world.realm.catalogue.putImage(
            "A1", bundleID: Self.app, Self.png, TestWorld.context)
        return world
    }

    private func show(_ images: [String], _ world: TestWorld) async throws {
        var change = ProductChange()
        change.images = images
        _ = try await world.realm.catalogue.changeProduct(
            "pro", bundleID: Self.app, change, TestWorld.context)
    }

    private func delete(_ id: String, _ world: TestWorld) async throws {
        try await world.realm.catalogue.deleteImage(id, bundleID: Self.app, TestWorld.context)
    }

    @Test func `an image is deleted once, and the audit names it`() async throws {
        let world = try await world()

        try await delete("A1", world)
        let again = try await refusal { try await delete("A1", world) }
        let other = try await refusal { try await delete("../a", world) }

        #expect(again.kind == .notFound)
        #expect([again, other].map(\.error.code) == ["imageUnknown", "imageIdInvalid"])
        #expect(try await world.realm.catalogue.storedCatalogue(bundleID: Self.app).imageIDs == [])
        let entries = try await world.realm.auditEntries().entries.suffix(2)
        let size = Self.png.count
        let digest = hexadecimal(SHA256.hash(data: Self.png)).prefix(16)
        #expect(entries.map(\.deed) == ["image.put", "image.delete"])
        #expect(entries.map(\.subject) == Array(repeating: "\(Self.app)/A1", count: 2))
        #expect(
            entries.map(\.shown) == [
                "bytes: - > \(size); sha256: - > \(digest)",
                "bytes: \(size) > -; sha256: \(digest) > -",
            ])
    }

    @Test func `what shows a product stays, until the product is removed`() async throws {
        let world = try await world()
        try await show(["A1"], world)

        let used = try await refusal { try await delete("A1", world) }
        try await world.realm.catalogue.removeProduct("pro", bundleID: Self.app, TestWorld.context)
        try await delete("A1", world)

        #expect(used.kind == .conflict && used.error.code == "imageInUse")
        #expect(used.error.message == "The image `A1` is used by product `pro`.")
    }

    @Test func `of many users of an image ten are named`() async throws {
        let world = try await world()
        let places = (1...12).map { "place \($0)" }

        let used = try await refusal {
            try await world.realm.catalogue.deleteImage(
                "A1", bundleID: Self.app, TestWorld.context, namedBy: { _ in places })
        }

        #expect(used.error.message.contains("place 10 and 2 more."))
    }

    @Test func `a new use is noticed, and a changing catalogue is reported`()
        async throws
    {
        let world = try await world()
        var price = ProductChange()
        price.referenceName = "another"
        let flux = price

        let seen = try await refusal {
            try await world.realm.catalogue.deleteImage("A1", bundleID: Self.app, TestWorld.context)
            { _ in
                let shown = try await world.realm.catalogue.storedCatalogue(bundleID: Self.app)
                    .listings["pro"]?.images
                if shown != ["A1"] { try await show(["A1"], world) }
                return []
            }
        }
        try await show([], world)
        let busy = try await refusal {
            try await world.realm.catalogue.deleteImage("A1", bundleID: Self.app, TestWorld.context)
            { _ in
                _ = try await world.realm.catalogue.changeProduct(
                    "pro", bundleID: Self.app, flux, TestWorld.context)
                return []
            }
        }

        #expect([seen, busy].map(\.error.code) == ["imageInUse", "catalogueBusy"])
        #expect(try await world.realm.catalogue.image("A1", bundleID: Self.app) == Self.png)
    }
}
