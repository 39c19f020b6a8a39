// SPDX-License-Identifier: Apache-2.0

import Commerce
import ContentPackage
import Crypto
import Foundation
import Shop
import StoreWire

/// A store in a folder that hosts content: a product for each length.
struct BenchContent {
    /// A package that was uploaded.
    struct Package {
        let productID: String
        let length: Int64
        let sha256: String
    }

    private static let app = "com.example.app"
    private static let context = RequestContext(requestID: "bench")
    private static let noiseBytes = 1 << 20

    let folder: URL
    private(set) var packages: [Package] = []

    /// Makes a store with a package of about each length, whose bytes do not compress,
    /// and with so many customers, who are called by their number.
    init(lengths: [Int], customers: Int, in folder: URL) async throws {
        self.folder = folder
        let store = try await BenchStore.open(in: folder)
        let realm = try await store.realm(named: Store.defaultRealm)
        try await realm.catalogue.putCatalogue(
            Self.catalogue(lengths.map(Self.product)),
            app: AppDescription(bundleID: BundleID(Self.app)))
        for number in 0..<customers {
            _ = try await realm.customers.createCustomer(
                CreateCustomerRequest(name: "customer-\(number)"))
        }
        for length in lengths {
            progress("a package of \(length) bytes")
            packages.append(try await upload(length, realm))
        }
        await store.close()
    }

    /// The file of a package, for other servers.
    func path(_ package: Package) -> String {
        "packages/\(package.sha256.prefix(2))/\(package.sha256)"
    }

    static func product(_ length: Int) -> String { "com.example.level.\(length)" }

    private func upload(_ length: Int, _ realm: Realm) async throws -> Package {
        let product = Self.product(length)
        let source = folder.appendingPathComponent("source-\(length)")
        defer { try? FileManager.default.removeItem(at: source) }
        try Self.write(length, product, to: source)
        let zip = source.appendingPathComponent("package.zip").path
        _ = try ContentPackage.pack(
            folder: source.appendingPathComponent("package").path, to: zip)
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: zip))
        let (size, digest) = try Self.digest(file)
        _ = try await realm.content.begin(
            BeginContentRequest(version: "1", length: size, sha256: digest),
            product: product, bundleID: Self.app, Self.context)
        try file.seek(toOffset: 0)
        var offset: Int64 = 0
        while let piece = try file.read(upToCount: ContentRoom.pieceBytesMax), !piece.isEmpty {
            _ = try await realm.content.append(
                Array(piece), at: offset, to: "1", product: product, bundleID: Self.app)
            offset += Int64(piece.count)
        }
        while true {
            let record = try await realm.content.complete(
                "1", product: product, bundleID: Self.app, Self.context)
            if record.state == "ready" { break }
        }
        return Package(productID: product, length: size, sha256: digest)
    }

    private static func write(_ length: Int, _ product: String, to source: URL) throws {
        let contents = source.appendingPathComponent("package/Contents")
        try FileManager.default.createDirectory(at: contents, withIntermediateDirectories: true)
        let info = """
            <plist version="1.0"><dict><key>ContentVersion</key><string>1</string>
            <key>IAPProductIdentifier</key><string>\(product)</string></dict></plist>
            """
        try Data(info.utf8).write(
            to: source.appendingPathComponent("package/ContentInfo.plist"))
        let noise = contents.appendingPathComponent("noise")
        guard FileManager.default.createFile(atPath: noise.path, contents: nil) else {
            throw ClientFailure("cannot write \(noise.path)")
        }
        let file = try FileHandle(forWritingTo: noise)
        var generator = SystemRandomNumberGenerator()
        var left = length
        while left > 0 {
            let words = (0..<(noiseBytes / 8)).map { _ in generator.next() as UInt64 }
            let bytes = words.withUnsafeBytes { Data($0.prefix(min(left, noiseBytes))) }
            try file.write(contentsOf: bytes)
            left -= bytes.count
        }
        try file.close()
    }

    private static func digest(_ file: FileHandle) throws -> (Int64, String) {
        var (hash, size) = (SHA256(), Int64(0))
        while let piece = try file.read(upToCount: noiseBytes), !piece.isEmpty {
            hash.update(data: piece)
            size += Int64(piece.count)
        }
        let digits = hash.finalize().map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
        return (size, digits.joined())
    }

    private static func catalogue(_ products: [String]) -> Catalogue {
        Catalogue(
            products: products.map { id in
                Product(
                    id: ProductID(id), kind: .nonConsumable, referenceName: id,
                    price: Amount(milliunits: 990),
                    localizations: [
                        Localization(locale: "en_US", displayName: "Level", details: "A level.")
                    ])
            }, storefront: "USA", locale: "en_US")
    }
}
