// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import Logging
import Shop
import ShopServer
import SignedData
import Storage
import StorageSQLite
import StoreWire
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A real server on a free port, over a store in memory of its own.
struct TestServer: Sendable {
    static let bundleID: BundleID = "com.example.monkeys"
    static let password = "correct horse battery staple"
    static let customer = "blob@example.com"

    let store: Store
    let port: Int
    let lines: Recorder<LogLine>
    let time: TestTime
    let running: Task<Void, any Error>
    let session: URLSession
    /// Ports of realms that have one of their own.
    let realmPorts: [String: Int]
    let storages: Storages

    /// Runs `body` against a server, then stops it.
    static func with<Answer>(
        time: TestTime = TestTime(), wall: WallClock = Live.wallClock,
        route: RealmRoute = RealmRoute(), content: (any ContentFiles)? = nil,
        configure: (inout ShopServerConfiguration) throws -> Void = { _ in },
        _ body: (TestServer) async throws -> Answer
    ) async throws -> Answer {
        let server = try await start(
            time: time, wall: wall, route: route, content: content, configure: configure)
        do {
            let answer = try await body(server)
            try await server.stop()
            return answer
        } catch {
            try? await server.stop()
            throw error
        }
    }

    static func start(
        time: TestTime = TestTime(), wall: WallClock = Live.wallClock,
        route: RealmRoute = RealmRoute(), content: (any ContentFiles)? = nil,
        configure: (inout ShopServerConfiguration) throws -> Void = { _ in }
    ) async throws -> TestServer {
        let lines = Recorder<LogLine>()
        let storages = Storages(content: content)
        let store = try await openStore(lines: lines, wall, storages)
        var configuration = try ShopServerConfiguration(port: 0)
        configuration.stopsOnSignals = false
        // The only wait that a test's own time does not rule.
        configuration.idleTimeout = Patience.long
        try configure(&configuration)
        let logger = Logger(label: "test") { _ in RecordingLogHandler(lines) }
        let server = ShopServer(
            store: store, configuration: configuration, route: route,
            ports: ShopServerPorts(
                sleep: { try await time.sleep($0) }, monotonic: Live.monotonic,
                randomness: .seeded(7)),
            logger: logger)
        let (ready, told) = AsyncStream.makeStream(of: (Int, [String: Int]).self)
        let running = Task {
            defer { told.finish() }
            try await server.run { port, realms in told.yield((port, realms)) }
        }
        for await (port, realms) in ready {
            return TestServer(
                store: store, port: port, lines: lines, time: time, running: running,
                session: urlSession(), realmPorts: realms, storages: storages)
        }
        try await running.value
        throw CancellationError()
    }

    func stop() async throws {
        session.invalidateAndCancel()
        running.cancel()
        try await running.value
    }

    private static func urlSession() -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpMaximumConnectionsPerHost = 100
        configuration.timeoutIntervalForRequest = Double(Patience.seconds)
        return URLSession(configuration: configuration)
    }

    /// All stores of this process share their authorities: RSA keys take
    /// long to make.
    private static let keys = Task {
        let keys = MemoryKeyStore()
        let store = try await Store.open(
            ports(keys: keys, wall: Live.wallClock, log: .silent, Storages()))
        _ = try await store.createRealm(
            CreateRealmRequest(name: "live", environment: .production))
        await store.close()
        return keys
    }

    private static func ports(
        keys: MemoryKeyStore, wall: WallClock, log: ShopLog, _ storages: Storages
    ) -> StorePorts {
        var ports = StorePorts(
            places: StoragePlaces(
                registry: { try await storages.open($0) },
                realm: { try await storages.open($1) }, deleteRealm: { _ in }),
            keys: keys, wall: wall, randomness: Live.randomness,
            passwordCost: PasswordCost(rounds: 2), log: log)
        ports.content = storages.content ?? FolderContentFiles(path: storages.folder)
        return ports
    }

    /// The default realm with a catalogue and a customer with a password, a
    /// sandbox `test-1` likewise, and a production realm `live`.
    private static func openStore(
        lines: Recorder<LogLine>, _ wall: WallClock, _ storages: Storages
    ) async throws -> Store {
        let log = ShopLog { _, message, facts in
            lines.append(LogLine(level: .info, message: message, metadata: facts))
        }
        let store = try await Store.open(
            ports(keys: try await keys.value, wall: wall, log: log, storages))
        _ = try await store.createRealm(CreateRealmRequest(name: "test-1"))
        _ = try await store.createRealm(
            CreateRealmRequest(name: "live", environment: .production))
        for name in [Store.defaultRealm, "test-1", "live"] {
            let realm = try await store.realm(named: name)
            try await realm.catalogue.putCatalogue(
                catalogue, app: AppDescription(bundleID: bundleID))
            _ = try await realm.customers.createCustomer(
                CreateCustomerRequest(name: customer, password: password))
        }
        return store
    }

    private static var catalogue: Catalogue {
        func product(_ id: String, _ type: ProductType, _ price: Int64) -> Product {
            Product(
                id: ProductID(id), kind: ProductKind(type), referenceName: id,
                price: Amount(milliunits: price),
                localizations: [
                    Localization(
                        locale: "en_US", displayName: "The \(id)", details: "About \(id)")
                ])
        }
        return Catalogue(
            products: [
                product("credits.5", .consumable, 990), product("pro", .nonConsumable, 4990),
                product("monthly", .autoRenewable, 2990),
            ], storefront: "USA", locale: "en_US", appID: 1234)
    }
}

/// The databases of one store in memory, so that a test can break them.
final class Storages: Sendable {
    private let opened = Mutex<[any Storage]>([])
    /// Nil for a folder of the store's own.
    let content: (any ContentFiles)?
    /// The folder of hosted content, removed with the store.
    let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("content-\(UUID().uuidString)").path

    init(content: (any ContentFiles)? = nil) { self.content = content }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func open(_ migrations: [Migration]) async throws -> any Storage {
        let storage = try await SQLiteStorage.open(file: nil, migrations: migrations)
        opened.withLock { $0.append(storage) }
        return storage
    }

    /// Changes the rows of each that has the table.
    func change(_ sql: String) async {
        for storage in opened.withLock({ $0 }) {
            _ = try? await storage.write { try $0.execute(Statement("test.change", sql), []) }
        }
    }

    /// Runs a pragma, which answers rows and writes nothing, in each.
    func pragma(_ text: String) async throws {
        for storage in opened.withLock({ $0 }) {
            _ = try await storage.read {
                try $0.query(Statement("test.pragma", "PRAGMA \(text)"), [])
            }
        }
    }
}

/// What a server answered.
struct Reply: Sendable {
    let status: Int
    let headers: [String: String]
    let body: [UInt8]

    func header(_ name: String) -> String? {
        headers.first { $0.key.lowercased() == name.lowercased() }?.value
    }

    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(body))
    }

    var error: WireError? { try? decoded(WireError.self) }
    var text: String { String(decoding: body, as: UTF8.self) }
}

extension TestServer {
    func send(
        _ method: String, _ path: String, _ body: [UInt8]? = nil, bearer: String? = nil,
        headers: [String: String] = [:], port: Int? = nil
    ) async throws -> Reply {
        let url = try #require(URL(string: "http://127.0.0.1:\(port ?? self.port)\(path)"))
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = body.map { Data($0) }
        if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
        if let bearer { request.setValue("Bearer \(bearer)", forHTTPHeaderField: "Authorization") }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await session.data(for: request)
        let http = try #require(response as? HTTPURLResponse)
        var fields: [String: String] = [:]
        for (name, value) in http.allHeaderFields { fields["\(name)"] = "\(value)" }
        return Reply(status: http.statusCode, headers: fields, body: [UInt8](data))
    }

    func send(
        _ route: DeviceRoute, _ body: (some Encodable)?, bearer: String?, realm: String = ""
    ) async throws -> Reply {
        let bytes = try body.map { [UInt8](try JSONEncoder().encode($0)) }
        return try await send(route.method, realm + route.path, bytes, bearer: bearer)
    }

    /// A session's token, of the customer everybody is.
    func token(
        realm: String = "", device: String = "0f0f0f0f-1111-4222-8333-444444444444",
        customer: String? = nil, password: String? = nil
    ) async throws -> String {
        let request = SignInRequest(
            deviceUUID: device, customer: customer, password: password)
        let reply = try await send(.signIn, request, bearer: nil, realm: realm)
        return try reply.decoded(SignInResponse.self).token
    }

    func buy(
        _ id: String, _ product: String = "credits.5", quantity: Int = 1, bearer: String,
        realm: String = ""
    ) async throws -> Reply {
        let prices: [String: Int64] = ["credits.5": 990, "pro": 4990, "monthly": 2990]
        return try await send(
            .purchase(id: id),
            PurchaseRequest(
                productId: product, quantity: quantity, unitPrice: prices[product] ?? 990,
                currency: "USD"), bearer: bearer, realm: realm)
    }

    /// Finishes all that the default realm has sold, so that it is sold again.
    func finishAll(bearer: String) async throws {
        let sold = try await store.realm(named: Store.defaultRealm).purchases.listTransactions()
        for record in sold.transactions where !record.isFinished {
            let id = try #require(record.payload.transactionId)
            let reply = try await send(.finish(transactionID: id), nothing, bearer: bearer)
            #expect(reply.status == 200)
        }
    }

    func transactions(
        since: Int64 = 0, wait: Int = 0, bearer: String
    ) async throws -> TransactionsResponse {
        let path = DeviceRoute.transactions(since: since, waitSeconds: wait).path
        return try await send("GET", path, bearer: bearer).decoded(TransactionsResponse.self)
    }

    /// That the server still sells.
    func expectItSells(_ location: SourceLocation = #_sourceLocation) async throws {
        let token = try await token(device: UUID().uuidString.lowercased())
        let reply = try await buy(UUID().uuidString.lowercased(), bearer: token)
        #expect(reply.status == 200, sourceLocation: location)
        #expect(
            try reply.decoded(PurchaseResponse.self).state == "sold", sourceLocation: location)
    }
}

/// No body.
let nothing: String? = nil

/// The purchase id number `n` of a test.
func purchaseID(_ n: Int) -> String {
    "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - "\(n)".count) + "\(n)"
}
