// SPDX-License-Identifier: Apache-2.0

import CatalogueFile
import Commerce
import Foundation
import Shop
import StoreWire

/// Catalogue files read and imported, the largest genuine one and one with
/// 10,000 products, and what asking for products costs through HTTP.
struct CatalogueBench {
    private static let products = 10_000
    private static let bundleID: BundleID = "com.example.many"
    private static let pairs = 9

    func run() async throws -> (figures: [Pairs], notes: [String]) {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("bench-catalogue-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (name, genuine) = try Self.largest()
        let many = try Self.many()
        var notes = ["\(name): \(genuine.count) bytes"]
        var figures = [
            try reading("the largest file", genuine, times: 20),
            try reading("\(Self.products) products", many, times: 1),
        ]
        notes += try Self.memory(of: many, in: folder)
        notes.append(try await importing(many, in: folder))
        figures += try asking(folder)
        return (figures, notes)
    }

    // MARK: Files

    /// Reading is to be measured against a parser that knows nothing of catalogues.
    private func reading(_ name: String, _ bytes: [UInt8], times: Int) throws -> Pairs {
        progress("reading \(name)")
        let data = Data(bytes)
        var figure = Pairs("catalogue file read, \(name) / Foundation's JSON alone", atLeast: nil)
        for _ in 0..<Self.pairs {
            let bare = try seconds {
                for _ in 0..<times { _ = try JSONSerialization.jsonObject(with: data) }
            }
            figure.add(
                bare: bare,
                ours: try seconds {
                    for _ in 0..<times {
                        _ = try CatalogueFile(json: bytes, name: "bench.storekit")
                    }
                })
        }
        figure.perOperation = times
        return figure
    }

    /// Of the corpus where there is one, else the sample's.
    private static func largest() throws -> (name: String, bytes: [UInt8]) {
        var files: [URL] = []
        if let corpus = ProcessInfo.processInfo.environment["SHOPKEEPER_CORPUS"] {
            let folder = URL(fileURLWithPath: corpus).appendingPathComponent("storekit")
            files =
                (try? FileManager.default.contentsOfDirectory(
                    at: folder, includingPropertiesForKeys: nil)) ?? []
            files = files.filter { $0.pathExtension == "storekit" }
        }
        if files.isEmpty {
            files = [URL(fileURLWithPath: "Samples/MonkeyCredits/MonkeyCredits.storekit")]
        }
        let read = try files.map { ($0.lastPathComponent, [UInt8](try Data(contentsOf: $0))) }
        guard let largest = read.max(by: { $0.1.count < $1.1.count }) else {
            throw ClientFailure("no catalogue file was found")
        }
        return (largest.0, largest.1)
    }

    private static func many() throws -> [UInt8] {
        let catalogue = Catalogue(
            products: (0..<products).map { number in
                Product(
                    id: ProductID("com.example.many.\(number)"), kind: .consumable,
                    referenceName: "Number \(number)",
                    price: Amount(milliunits: Int64(990 + number % 100 * 1000)),
                    localizations: [
                        Localization(
                            locale: "en_US", displayName: "Thing \(number)",
                            details: "The thing that has the number \(number).")
                    ])
            }, storefront: "USA", locale: "en_US")
        return try CatalogueFile.new(selling: catalogue, name: "many.storekit").bytes
    }

    /// What a catalogue adds to a process that reads its file and nothing
    /// else, beyond one that reads a file without products.
    private static func memory(of bytes: [UInt8], in folder: URL) throws -> [String] {
        progress("holding \(products) products")
        let full = folder.appendingPathComponent("many.storekit")
        let empty = folder.appendingPathComponent("empty.storekit")
        try Data(bytes).write(to: full)
        try Data(#"{"products": []}"#.utf8).write(to: empty)
        var held: [Int] = []
        var peaks: [Int] = []
        for _ in 0..<Pairs.pairsMin {
            let bare = try ReadingProcess(reading: empty.path, products: 0)
            let ours = try ReadingProcess(reading: full.path, products: products)
            held.append(ours.held - bare.held)
            peaks.append(ours.peak - bare.peak)
        }
        return [
            "\(products) products, \(bytes.count) bytes: \(median(held)) held, "
                + "\(median(peaks)) at most while read, beyond an empty file (median of "
                + "\(held.count))"
        ]
    }

    private static func median(_ bytes: [Int]) -> String {
        mebibytes(bytes.sorted()[bytes.count / 2])
    }

    private static func mebibytes(_ bytes: Int) -> String {
        String(format: "%.1f MiB", Double(bytes) / 1_048_576)
    }

    // MARK: The store

    private func importing(_ bytes: [UInt8], in folder: URL) async throws -> String {
        progress("importing \(Self.products) products")
        let store = try await BenchStore.open(in: folder)
        let realm = try await store.realm(named: Store.defaultRealm)
        var times: [Double] = []
        for _ in 0..<Pairs.pairsMin {
            times.append(
                try await secondsAwaited {
                    let file = try CatalogueFile(json: bytes, name: "many.storekit")
                    try await realm.catalogue.importCatalogue(
                        CatalogueImport(
                            file.catalogue, settings: file.contents.settings,
                            original: CatalogueOriginal(name: file.name, file: file.bytes)),
                        app: AppDescription(bundleID: Self.bundleID),
                        RequestContext(requestID: "bench"))
                })
        }
        await store.close()
        times.sort()
        return String(
            format: "%d products read and imported: %.2f s (median of %d, worst %.2f s)",
            Self.products, times[times.count / 2], times.count, times.last ?? 0)
    }

    /// Against a request for nothing on the same connection.
    private func asking(_ folder: URL) throws -> [Pairs] {
        let server = try ServedProcess(folder: folder)
        defer { server.kill() }
        let connection = try Connection(port: server.port)
        let token = try connection.signIn(bundleID: Self.bundleID.value)
        return try [1, 100, 1000].map { count in
            progress("asking for \(count) products")
            let ids = (0..<count).map { "com.example.many.\($0 * (Self.products / count))" }
            let body = String(decoding: try JSONEncoder().encode(["ids": ids]), as: UTF8.self)
            let times = max(20, 2000 / count)
            var figure = Pairs("\(count) product(s) through HTTP / GET /health", atLeast: nil)
            for _ in 0..<Self.pairs {
                let bare = try seconds {
                    for _ in 0..<times { _ = try connection.ask("GET", "/health", token: nil) }
                }
                figure.add(
                    bare: bare,
                    ours: try seconds {
                        for _ in 0..<times {
                            _ = try connection.ask(
                                "POST", "/device/v1/products", token: token, body: body)
                        }
                    })
            }
            figure.perOperation = times
            return figure
        }
    }
}
