// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import Shop
import SignedData
import StoreWire

/// What a merchant's server asks, over HTTP from outside: transactions and statuses against
/// a bare answer of the same size, a long history, and receipts.
struct ServerAPIBench {
    private static let bundleID: BundleID = "com.example.app"
    private static let context = RequestContext(requestID: "bench")
    private let connections = 16
    private let requests = Brief.or(2000, brief: 40)
    private let rounds = Brief.or(9, brief: 2)
    private let history = Brief.or(10_000, brief: 100)

    func run() async throws -> (figures: [Pairs], notes: [String]) {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("bench-server-api-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let facts = try await prepare(folder)
        let server = try ServedProcess(folder: folder)
        defer { server.kill() }
        let asker = Asker(port: server.port, token: facts.token)
        var figures: [Pairs] = []
        var notes: [String] = []
        for (name, path) in [
            ("transaction info", "/inApps/v1/transactions/\(facts.transaction)"),
            ("statuses", "/inApps/v1/subscriptions/\(facts.transaction)"),
        ] {
            let told = try beside(name, path, asker)
            figures.append(told.figure)
            notes += told.notes
        }
        figures.append(try pages(of: facts.longest, asker))
        for (count, receipt) in facts.receipts {
            notes.append(try verification(of: receipt, count, asker))
        }
        return (figures, notes)
    }

    /// Requests a second and waits, in turns with a bare server that answers as many bytes.
    private func beside(
        _ name: String, _ path: String, _ asker: Asker
    ) throws -> (figure: Pairs, notes: [String]) {
        progress(name)
        let request = asker.get(path)
        let size = try asker.ask(request).count
        let plain = try ServedProcess(arguments: ["plain", "\(size)"])
        defer { plain.kill() }
        let bare = Asker(port: plain.port, token: "none")
        var figure = Pairs(
            "\(name), requests a second / a bare answer of \(size) bytes", atLeast: 0.5)
        figure.perOperation = connections * requests
        for _ in 0..<rounds {
            figure.add(
                bare: try load(bare, bare.get("/plain")), ours: try load(asker, request))
        }
        return (
            figure,
            [
                "\(name): \(try asker.waits(request, requests))",
                "a bare answer of its size: \(try bare.waits(bare.get("/plain"), requests))",
            ]
        )
    }

    private func load(_ asker: Asker, _ request: [UInt8]) throws -> Double {
        try Client(
            port: asker.port, connections: connections, requestsPerConnection: requests
        ) { _, _ in request }.run()
    }

    /// The last page of a long history against the first.
    private func pages(of transaction: String, _ asker: Asker) throws -> Pairs {
        progress("a history of \(history) transactions")
        let path = "/inApps/v2/history/\(transaction)"
        var (last, count) = (asker.get(path), 0)
        while true {
            let page = try JSONDecoder().decode(
                HistoryPage.self, from: Data(try asker.ask(last)))
            count += page.signedTransactions.count
            guard page.hasMore else { break }
            last = asker.get(path + "?revision=\(page.revision)")
        }
        guard count == history else { throw ClientFailure("the history has \(count)") }
        var figure = Pairs(
            "history of \(history) transactions, the last page / the first", atLeast: 1 / 1.2)
        let times = Brief.or(200, brief: 5)
        figure.perOperation = times
        for _ in 0..<rounds {
            figure.add(
                bare: try asker.seconds(asker.get(path), times),
                ours: try asker.seconds(last, times))
        }
        return figure
    }

    private struct HistoryPage: Decodable {
        let revision: String
        let hasMore: Bool
        let signedTransactions: [String]
    }

    private func verification(
        of receipt: [UInt8], _ count: Int, _ asker: Asker
    ) throws -> String {
        progress("verifyReceipt of \(count) purchases")
        let body = Array(
            #"{"receipt-data":"\#(Data(receipt).base64EncodedString())"}"#.utf8)
        let request = asker.post("/verifyReceipt", body, isOpen: true)
        let answer = String(decoding: try asker.ask(request), as: UTF8.self)
        guard answer.contains(#""status":0"#) else { throw ClientFailure(answer) }
        return "verifyReceipt of \(count) purchases (\(receipt.count) bytes): "
            + (try asker.waits(request, Brief.or(300, brief: 5)))
    }

    // MARK: What is asked about

    private struct Facts {
        let token: String
        /// Of a customer with a subscription.
        let transaction: String
        /// Of a customer with a long history.
        let longest: String
        let receipts: [(count: Int, receipt: [UInt8])]
    }

    private func prepare(_ folder: URL) async throws -> Facts {
        let store = try await BenchStore.open(in: folder)
        let realm = try await store.realm(named: Store.defaultRealm)
        try await realm.catalogue.putCatalogue(
            Self.catalogue, app: AppDescription(bundleID: Self.bundleID))
        let key = try await realm.merchant.createServerKey(bundleID: Self.bundleID.value)
        let token = try BearerTokenSigner(
            privateKeyPEM: key.privateKey, keyID: key.keyId, issuerID: key.issuerId,
            bundleID: Self.bundleID
        ).token(now: Live.wallClock.now, lifetimeSeconds: 3500)
        let subscriber = try await Shopper(realm, "subscriber")
        let transaction = try await Self.subscribe(subscriber)
        progress("a customer with \(history) transactions")
        let loyal = try await Shopper(realm, "loyal")
        try await loyal.buy(history)
        var receipts: [(count: Int, receipt: [UInt8])] = []
        for count in Brief.or([1, 100, 1000], brief: [1, 10]) {
            let shopper = try await Shopper(realm, "receipt-\(count)")
            try await shopper.buy(count, of: BenchStore.season.id.value)
            receipts.append((count, try await shopper.receipt()))
        }
        let sold = try await realm.purchases.listTransactions(
            bundleID: Self.bundleID.value, customer: loyal.session.customer.description, limit: 1)
        await store.close()
        guard let longest = sold.transactions.first?.payload.transactionId else {
            throw ClientFailure("nothing was sold")
        }
        return Facts(
            token: token, transaction: transaction, longest: longest, receipts: receipts)
    }

    private static func subscribe(_ shopper: Shopper) async throws -> String {
        let answer = try await shopper.realm.purchases.purchase(
            UUID().uuidString.lowercased(),
            PurchaseRequest(
                productId: "com.example.monthly", quantity: 1, unitPrice: 4990, currency: "USD"),
            shopper.session, context)
        let list = try await shopper.realm.purchases.listTransactions(
            bundleID: bundleID.value, customer: shopper.session.customer.description)
        guard answer.state == "sold", let id = list.transactions.first?.payload.transactionId
        else { throw ClientFailure("a subscription ended as \(answer.state)") }
        return id
    }

    private static let catalogue = Catalogue(
        products: BenchStore.catalogue.products + [
            Product(
                id: "com.example.monthly", kind: .autoRenewable(groupID: "g", period: "P1M"),
                referenceName: "Monthly", price: Amount(milliunits: 4990),
                localizations: [
                    Localization(locale: "en_US", displayName: "Monthly", details: "A month.")
                ]),
            BenchStore.season,
        ], storefront: "USA", locale: "en_US")
}
