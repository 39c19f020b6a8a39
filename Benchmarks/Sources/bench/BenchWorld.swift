// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Hummingbird
import Live
import Logging
import Shop
import ShopServer
import SignedData
import Storage
import StorageSQLite
import StoreWire

/// A served store and, beside it in the same process, a bare handler.
struct BenchWorld {
    struct End {
        let port: Int
        let path: String
        let token: String
    }

    let store: End
    let bare: End
    private let servers: [Task<Void, any Error>]

    func stop() async {
        for server in servers {
            server.cancel()
            _ = try? await server.value
        }
    }

    static func start(in folder: URL) async throws -> BenchWorld {
        let recorder = Recorder()
        let store = try await BenchStore.open(
            in: folder, places: recording(BenchStore.files(in: folder), recorder))
        let realm = try await BenchStore.realm(of: store)
        let session = try await realm.customers.signIn(
            SignInRequest(
                bundleId: "com.example.app", deviceUUID: UUID().uuidString.lowercased()),
            RequestContext(requestID: "bench"))
        let (storePort, storeTask) = try await serve(store)
        let handler = try await BareHandler.recorded(realm, session.token, recorder)
        let (barePort, bareTask) = try await serve(handler)
        return BenchWorld(
            store: End(port: storePort, path: "/device/v1/purchases/", token: session.token),
            bare: End(port: barePort, path: "/bare/", token: session.token),
            servers: [storeTask, bareTask])
    }

    /// Serves a bare handler by itself, over a store of its own, until it is
    /// killed; prints the port when it listens.
    static func serveBare(_ path: String, _ conninfo: String?) async throws {
        let folder = URL(fileURLWithPath: path)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let recorder = Recorder()
        let places = recording(
            conninfo.map(BenchPostgres.places) ?? BenchStore.files(in: folder), recorder)
        let store = try await BenchStore.open(in: folder, places: places)
        let realm = try await BenchStore.realm(of: store)
        var customers: [Int64] = []
        for number in 0..<64 {
            let made = try await realm.customers.createCustomer(
                CreateCustomerRequest(name: "customer-\(number)"))
            customers.append(Int64(made.customerId) ?? 0)
        }
        let session = try await realm.customers.signIn(
            SignInRequest(
                bundleId: "com.example.app", deviceUUID: UUID().uuidString.lowercased(),
                customer: "customer-0"), RequestContext(requestID: "bench"))
        var handler = try await BareHandler.recorded(realm, session.token, recorder)
        handler.customers = customers
        let (port, task) = try await serve(handler)
        FileHandle.standardOutput.write(Data("\(port)\n".utf8))
        try await task.value
    }

    /// The same places, with the realm's storage recorded.
    private static func recording(_ base: StoragePlaces, _ recorder: Recorder) -> StoragePlaces {
        var places = base
        places.realm = { id, migrations in
            let storage = RecordingStorage(try await base.realm(id, migrations))
            recorder.storage = storage
            return storage
        }
        return places
    }

    private static func serve(_ store: Store) async throws -> (Int, Task<Void, any Error>) {
        var logger = Logger(label: "bench")
        logger.logLevel = .error
        let server = ShopServer(
            store: store, configuration: try ShopServerConfiguration(port: 0),
            ports: ShopServerPorts(
                sleep: { try await Live.sleep($0) }, monotonic: { .zero },
                randomness: Live.randomness), logger: logger)
        return try await started { ready in
            try await server.run { port in ready(port) }
        }
    }

    private static func serve(_ handler: BareHandler) async throws -> (Int, Task<Void, any Error>) {
        var logger = Logger(label: "bare")
        logger.logLevel = .error
        let quiet = logger
        return try await started { ready in
            let router = Router()
            router.put("/bare/:id") { request, context in
                try await handler.answer(request, context.parameters.require("id"))
            }
            let application = Application(
                router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                onServerRunning: { channel in ready(channel.localAddress?.port ?? 0) },
                logger: quiet)
            try await application.run()
        }
    }

    /// Runs a server in a task and gives the port it listens on.
    private static func started(
        _ run: @escaping @Sendable (@escaping @Sendable (Int) -> Void) async throws -> Void
    ) async throws -> (Int, Task<Void, any Error>) {
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let task = Task {
            do { try await run { continuation.yield($0) } } catch {
                progress("a server ended: \(error)")
                continuation.finish()
                throw error
            }
        }
        for await port in ports { return (port, task) }
        throw ClientFailure("a server did not start")
    }
}

/// Where the realm's storage is found once it is open.
final class Recorder: @unchecked Sendable {
    private let lock = NSLock()
    private var opened: RecordingStorage?
    var storage: RecordingStorage? {
        get { lock.withLock { opened } }
        set { lock.withLock { opened = newValue } }
    }
}

/// The same SQL as a purchase and one signature, without rules: the session
/// looked up, the commit's statements replayed under fresh keys, a payload of
/// the same size signed.
struct BareHandler: Sendable {
    let storage: RecordingStorage
    let steps: [RecordingStorage.Step]
    let lookups: [RecordingStorage.Step]
    let purchaseID: String
    let transactionID: Int64
    let payload: [UInt8]
    let signer: JWSSigner
    /// Whose purchase was recorded.
    let customer: Int64
    /// Those who buy by turns. With none it is always the one.
    var customers: [Int64] = []
    private let numbers = Numbers()

    /// Buys once and writes down what that does.
    static func recorded(
        _ realm: Realm, _ token: String, _ recorder: Recorder
    ) async throws -> BareHandler {
        guard let storage = recorder.storage else { throw ClientFailure("no realm is open") }
        let id = UUID().uuidString.lowercased()
        // Known from a moment ago, as it is to whoever buys again.
        _ = try await realm.customers.session(token: token)
        storage.record()
        let session = try await realm.customers.recentSession(token: token)
        let lookups = storage.recorded()
        storage.record()
        let answer = try await realm.purchases.purchase(
            id,
            PurchaseRequest(
                productId: "com.example.coins", quantity: 1, unitPrice: 990, currency: "USD"),
            session, RequestContext(requestID: "bench"))
        let steps = storage.recorded()
        let parts = (answer.signedTransaction ?? "").split(separator: ".")
        guard parts.count == 3, let payload = payloadBytes(parts[1]) else {
            throw ClientFailure("the purchase to be recorded was not sold")
        }
        let decoded = try JSONDecoder().decode(JWSTransactionDecodedPayload.self, from: payload)
        return BareHandler(
            storage: storage, steps: steps, lookups: lookups, purchaseID: id,
            transactionID: Int64(decoded.transactionId ?? "") ?? 0, payload: Array(payload),
            signer: try CertificateAuthority.make(.sandbox).transactions,
            customer: session.customer.value)
    }

    func answer(_ request: Request, _ id: String) async throws -> Response {
        _ = try await request.body.collect(upTo: 65_536)
        if !lookups.isEmpty { try await storage.replayReads(lookups) }
        let number = numbers.next()
        var fresh: [SQLValue: SQLValue] = [:]
        fresh[.text(purchaseID)] = .text(id)
        fresh[.integer(transactionID)] = .integer(number)
        if !customers.isEmpty {
            fresh[.integer(customer)] = .integer(customers[Int(number) % customers.count])
        }
        for step in steps {
            for case .text(let text) in step.values where text.contains("\(transactionID)") {
                fresh[.text(text)] = .text(
                    text.replacingOccurrences(of: "\(transactionID)", with: "\(number)"))
            }
        }
        try await storage.replay(steps, fresh: fresh)
        let body = #"{"signedTransaction":"\#(try signer.sign(payload: payload))","state":"sold"}"#
        return Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(string: body)))
    }

    private static func payloadBytes(_ text: Substring) -> Data? {
        var standard = text.replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        while standard.count % 4 != 0 { standard += "=" }
        return Data(base64Encoded: standard)
    }
}

/// Transaction numbers that the store itself never gives.
private final class Numbers: @unchecked Sendable {
    private let lock = NSLock()
    private var last: Int64 = 8_000_000_000_000_000
    func next() -> Int64 {
        lock.withLock {
            last += 1
            return last
        }
    }
}
