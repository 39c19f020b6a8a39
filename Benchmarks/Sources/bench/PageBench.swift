// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Shop
import StoreWire

/// The store's pages, requests a second in turns with a bare server that answers as many
/// bytes.
struct PageBench {
    private static let app: BundleID = "com.example.app"
    private static let context = RequestContext(requestID: "bench")
    private let connections = 16
    private let requests = Brief.or(60, brief: 5)
    private let rounds = Brief.or(9, brief: 2)
    private let apps = 10
    private let products = 12
    private let reviews = 20

    func run() async throws -> [Pairs] {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("bench-pages-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await prepare(folder)
        let store = try ServedProcess(arguments: ["serve-as-is", folder.path])
        defer { store.kill() }
        return try [
            ("the Today page", "/"), ("an app's page", "/store/apps/\(Self.app.value)"),
            ("a search", "/store/search?q=level"), ("the style sheet", "/store/style.css"),
        ].map { try beside($0, $1, store) }
    }

    private func beside(_ name: String, _ path: String, _ store: ServedProcess) throws -> Pairs {
        progress(name)
        let size = try Connection(port: store.port).ask("GET", path, token: nil).count
        let plain = try ServedProcess(arguments: ["plain", "\(size)"])
        defer { plain.kill() }
        var figure = Pairs(
            "\(name), requests a second / a bare answer of \(size) bytes", atLeast: nil)
        figure.perOperation = connections * requests
        for _ in 0..<rounds {
            figure.add(bare: try load(plain, "/plain"), ours: try load(store, path))
        }
        return figure
    }

    private func load(_ server: ServedProcess, _ path: String) throws -> Double {
        let request = Array("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)
        return try Client(
            port: server.port, connections: connections, requestsPerConnection: requests
        ) { _, _ in request }.run()
    }

    /// Apps with products; the first has promoted products and reviews.
    private func prepare(_ folder: URL) async throws {
        let store = try await BenchStore.open(in: folder)
        let realm = try await store.realm(named: Store.defaultRealm)
        for number in 0..<apps {
            let app: BundleID = number == 0 ? Self.app : BundleID("com.example.app\(number)")
            try await realm.catalogue.putCatalogue(
                catalogue(of: app), app: AppDescription(bundleID: app))
            _ = try await realm.catalogue.changeAppPage(
                app.value, AppPageChange(description: "A game of \(products) levels."),
                Self.context)
        }
        let image = URL(fileURLWithPath: "Samples/HiddenBeaches/beach.png")
        let bytes = [UInt8](try Data(contentsOf: image))
        for number in 0..<5 {
            _ = try await realm.promotions.set(
                "\(Self.app.value).level\(number)", bundleID: Self.app.value, image: bytes,
                visibility: nil, Self.context)
        }
        for number in 0..<reviews {
            let shopper = try await Shopper(realm, "reviewer-\(number)")
            _ = try await realm.reviews.write(
                ReviewRequest(stars: number % 5 + 1, text: "Level \(number) is long & good."),
                shopper.session, Self.context)
        }
        await store.close()
    }

    private func catalogue(of app: BundleID) -> Catalogue {
        Catalogue(
            products: (0..<products).map { number in
                Product(
                    id: ProductID("\(app.value).level\(number)"), kind: .nonConsumable,
                    referenceName: "Level \(number)", price: Amount(milliunits: 990),
                    localizations: [
                        Localization(
                            locale: "en_US", displayName: "Level \(number)",
                            details: "A level with a map & caves.")
                    ])
            }, storefront: "USA", locale: "en_US")
    }
}
