// SPDX-License-Identifier: Apache-2.0

import Commerce
import ContentPackage
import Crypto
import Foundation
import StoreWire
import Testing

@testable import Shop

/// A world with a folder for content, whose product `pro` may get some. A class,
/// because the folder is removed with it.
final class ContentWorld {
    static let app = TestWorld.bundleID.value
    static let product = "pro"

    let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("content-\(UUID().uuidString)").path
    let files: FolderContentFiles
    private(set) var world: TestWorld

    var room: ContentRoom { world.realm.content }
    var realm: Realm { world.realm }
    var wall: TestWall { world.wall }

    init(
        places: TestPlaces = TestPlaces(), environment: Environment = .sandbox,
        realm: String? = nil
    ) async throws {
        files = FolderContentFiles(path: folder)
        world = try await TestWorld.open(
            places: places, realm: realm, environment: environment, content: files)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Another process on the same databases and the same folder.
    func restart() async throws {
        let realm = world.realm.description.name
        await world.store.close()
        world = try await TestWorld.open(
            places: world.places, wall: world.wall, randomness: 99, realm: realm, content: files)
    }

    /// Uploads a package and sells it: its bytes, and what downloads it.
    func sold() async throws -> (
        zip: [UInt8], transaction: String, session: DeviceSession, link: ContentLink
    ) {
        let zip = try await upload()
        let session = try await world.session()
        try await world.buy("pro", purchaseID(1), session: session)
        let number = try #require(
            try await realm.purchases.listTransactions().transactions.first?
                .payload.transactionId)
        return (zip, number, session, try await room.link(number, ContentRequest(), session))
    }

    /// `words` makes packages differ. `filler`: bytes that do not compress.
    static func package(
        _ version: String = "1.0", product: String = product, words: String = "a map",
        filler: Int = 0
    ) throws -> [UInt8] {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("package-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let inner = folder.appendingPathComponent("in")
        let contents = inner.appendingPathComponent("Contents")
        try FileManager.default.createDirectory(at: contents, withIntermediateDirectories: true)
        let info = """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>
            <key>ContentVersion</key><string>\(version)</string>
            <key>IAPProductIdentifier</key><string>\(product)</string>
            </dict></plist>
            """
        try Data(info.utf8).write(to: inner.appendingPathComponent("ContentInfo.plist"))
        try Data(words.utf8).write(to: contents.appendingPathComponent("map.txt"))
        if filler > 0 {
            try Data(Randomness.seeded(3).bytes(filler)).write(
                to: contents.appendingPathComponent("filler"))
        }
        let zip = folder.appendingPathComponent("out.zip")
        _ = try ContentPackage.pack(folder: inner.path, to: zip.path)
        return [UInt8](try Data(contentsOf: zip))
    }

    static func digest(_ bytes: [UInt8]) -> String { hexadecimal(SHA256.hash(data: bytes)) }

    @discardableResult
    func begin(
        _ zip: [UInt8], _ version: String = "1.0", product: String = product,
        sha256: String? = nil
    ) async throws -> ContentRecord {
        try await room.begin(
            BeginContentRequest(
                version: version, length: Int64(zip.count), sha256: sha256 ?? Self.digest(zip)),
            product: product, bundleID: Self.app, TestWorld.context
        ).record
    }

    @discardableResult
    func append(
        _ bytes: [UInt8], at offset: Int, _ version: String = "1.0"
    ) async throws -> ContentRecord {
        try await room.append(
            bytes, at: Int64(offset), to: version, product: Self.product, bundleID: Self.app)
    }

    @discardableResult
    func complete(_ version: String = "1.0") async throws -> ContentRecord {
        try await room.complete(
            version, product: Self.product, bundleID: Self.app, TestWorld.context)
    }

    func remove(_ version: String) async throws {
        try await room.remove(
            version, product: Self.product, bundleID: Self.app, TestWorld.context)
    }

    /// Uploads a package whole. Returns it.
    @discardableResult
    func upload(_ version: String = "1.0", words: String = "a map") async throws -> [UInt8] {
        let zip = try Self.package(version, words: words)
        try await begin(zip, version)
        try await append(zip, at: 0, version)
        try await complete(version)
        return zip
    }

    func states() async throws -> [String] {
        try await room.list(bundleID: Self.app).content.map {
            "\($0.version) \($0.isMissing == true ? "missing" : $0.state)"
        }
    }

    func code(_ body: () async throws -> some Any) async throws -> String {
        try await refusal { _ = try await body() }.error.code
    }

    /// What devices are told about the product.
    func offered(_ session: DeviceSession) async throws -> String? {
        try await realm.catalogue.products(
            ProductsRequest(ids: [Self.product]), session, TestWorld.context
        ).products.first?.content?.version
    }

    /// Opens the package of a link's address.
    func open(_ url: String) async throws -> any ContentReader {
        let parts = try #require(URLComponents(string: url))
        let items = Dictionary(
            uniqueKeysWithValues: (parts.queryItems ?? []).map { ($0.name, $0.value ?? "") })
        let digest = try #require(parts.path.split(separator: "/").last)
        return try await world.store.openContent(String(digest)) { items[$0] }
    }
}
