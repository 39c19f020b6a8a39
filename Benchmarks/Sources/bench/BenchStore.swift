// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import Logging
import Shop
import ShopServer
import StorageSQLite
import StoreWire

/// A store on files in a folder, as the command opens one.
enum BenchStore {
    static func open(
        in folder: URL, places: StoragePlaces? = nil, courier: (any Courier)? = nil
    ) async throws -> Store {
        var ports = StorePorts(
            places: places ?? files(in: folder),
            keys: FileKeyStore(
                directory: folder.appendingPathComponent("keys").path, randomness: Live.randomness),
            wall: Live.wallClock, randomness: Live.randomness, courier: courier,
            sleep: { try await Live.sleep($0) })
        ports.content = FolderContentFiles(path: folder.appendingPathComponent("content").path)
        return try await Store.open(ports)
    }

    static func files(in folder: URL) -> StoragePlaces {
        StoragePlaces(
            registry: { migrations in
                try await SQLiteStorage.open(
                    file: folder.appendingPathComponent("store.sqlite").path,
                    migrations: migrations)
            },
            realm: { id, migrations in
                try await FinishingPlaces.prepared(
                    try await SQLiteStorage.open(
                        file: folder.appendingPathComponent("\(id).sqlite").path,
                        migrations: migrations), onPostgres: false)
            },
            deleteRealm: { _ in })
    }

    /// The default realm, selling coins.
    static func realm(of store: Store) async throws -> Realm {
        let realm = try await store.realm(named: Store.defaultRealm)
        try await realm.catalogue.putCatalogue(
            catalogue, app: AppDescription(bundleID: "com.example.app"))
        return realm
    }

    /// A receipt keeps it when it is finished.
    static let season = Product(
        id: "com.example.season", kind: .nonRenewing, referenceName: "Season",
        price: Amount(milliunits: 990),
        localizations: [
            Localization(locale: "en_US", displayName: "Season", details: "A season.")
        ])

    static let catalogue = Catalogue(
        products: [
            Product(
                id: "com.example.coins", kind: .consumable, referenceName: "Coins",
                price: Amount(milliunits: 990),
                localizations: [
                    Localization(locale: "en_US", displayName: "Coins", details: "A coin.")
                ])
        ], storefront: "USA", locale: "en_US")

    /// Makes the store and so many customers, who are called by their number:
    /// one customer's purchases stand in one line.
    static func make(customers: Int, in folder: URL, _ engine: BenchEngine) async throws {
        let store = try await open(in: folder, places: engine.places)
        let realm = try await realm(of: store)
        for number in 0..<customers {
            _ = try await realm.customers.createCustomer(
                CreateCustomerRequest(name: "customer-\(number)"))
        }
        await store.close()
    }

    /// Serves a folder's store, or one on PostgreSQL whose keys are in the
    /// folder, until it is killed; prints the port when it listens.
    static func serve(_ folder: String, _ conninfo: String?) async throws {
        let store = try await open(
            in: URL(fileURLWithPath: folder), places: conninfo.map(BenchPostgres.places),
            courier: BenchCourier())
        _ = try await realm(of: store)
        try await serve(store)
    }

    /// Serves a folder's store with the catalogue that it has, until it is killed; prints
    /// the port when it listens.
    static func serveAsIs(_ folder: String) async throws {
        try await serve(try await open(in: URL(fileURLWithPath: folder)))
    }

    private static func serve(_ store: Store) async throws {
        var logger = Logger(label: "bench")
        logger.logLevel = .error
        let server = ShopServer(
            store: store, configuration: try configuration(),
            ports: ShopServerPorts(
                sleep: { try await Live.sleep($0) }, monotonic: { Live.monotonic() },
                randomness: Live.randomness), logger: logger)
        try await server.run { port in
            FileHandle.standardOutput.write(Data("\(port)\n".utf8))
        }
    }

    /// One customer's devices may have all places: they are what is measured.
    private static func configuration() throws -> ShopServerConfiguration {
        var configuration = try ShopServerConfiguration(port: 0)
        configuration.waitingPerCustomerMax = configuration.waitingMax
        return configuration
    }
}

/// A store served by a process of its own, to be measured from outside and killed.
final class ServedProcess {
    let port: UInt16
    private let process: Process

    /// Returns when it listens.
    convenience init(folder: URL, conninfo: String? = nil) throws {
        try self.init(arguments: ["serve", folder.path] + (conninfo.map { [$0] } ?? []))
    }

    /// Runs this program with other arguments, and returns when it listens.
    init(arguments: [String]) throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let line = output.fileHandleForReading.availableData
        let text = String(decoding: line, as: UTF8.self)
        guard let port = UInt16(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw ClientFailure("the served store did not tell its port")
        }
        self.port = port
    }

    /// Bytes that the process holds in memory.
    var residentBytes: Int { (try? memory.resident) ?? 0 }

    var memory: ProcessMemory { get throws { try ProcessMemory("\(process.processIdentifier)") } }

    /// What the process has used of the processors so far.
    var processorSeconds: Double {
        get throws {
            let text = try String(
                contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)
            // The name in brackets may contain spaces. User and system time are the 12th and
            // 13th fields after it.
            let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
            guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12])
            else { throw ClientFailure("the process tells no times") }
            return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        }
    }

    func kill() { end(SIGKILL) }

    func end(_ signal: Int32) {
        Glibc.kill(process.processIdentifier, signal)
        process.waitUntilExit()
    }

    deinit { kill() }
}

/// Where a served store keeps its databases.
enum BenchEngine {
    case files
    case server(BenchPostgres)

    static func postgres() throws -> BenchEngine { .server(try BenchPostgres()) }

    /// An empty place of the same kind.
    func another() throws -> BenchEngine {
        switch self {
        case .files: .files
        case .server: try .postgres()
        }
    }

    var name: String {
        switch self {
        case .files: "SQLite"
        case .server: "PostgreSQL"
        }
    }

    var conninfo: String? {
        switch self {
        case .files: nil
        case .server(let postgres): postgres.conninfo
        }
    }

    var places: StoragePlaces? { conninfo.map(BenchPostgres.places) }
}
