// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Ledger
import LedgerServer
import Live
import Logging
import Outbound
import Storage
import StoragePostgres
import StorageSQLite

/// A ledger on files in a folder or on PostgreSQL, as the command opens one.
enum BenchLedger {
    static let bundleID: BundleID = "com.example.app"
    /// Its name on PostgreSQL.
    static let schema = "ledger"

    /// What a ledger trusts and whom it asks, in a file of its folder, so that a process of
    /// its own can serve it.
    struct Setup: Codable {
        struct Store: Codable {
            let api: String
            let issuerID: String
            let keyID: String
            let privateKeyPEM: String
        }

        /// In DER.
        let root: Data
        var store: Store?
        private static let name = "ledger.json"

        func write(in folder: URL) throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try JSONEncoder().encode(self).write(to: folder.appendingPathComponent(Self.name))
        }

        static func read(in folder: URL) throws -> Setup {
            try JSONDecoder().decode(
                Setup.self, from: Data(contentsOf: folder.appendingPathComponent(name)))
        }

        func configuration() throws -> LedgerConfiguration {
            var configuration = try LedgerConfiguration(
                roots: [TrustedRoot(certificate: [UInt8](root), environments: [.sandbox])],
                apps: [LedgerApp(bundleID: bundleID, environments: [.sandbox])],
                grants: BenchLedger.grants())
            // One key makes all calls: its limit is not what is measured.
            configuration.limits = CallLimits(perKey: 1_000_000, perAccount: 1_000_000)
            if let store {
                configuration.stores = [try access(store)]
            }
            return configuration
        }

        private func access(_ store: Store) throws -> StoreAccess {
            try StoreAccess(
                addresses: [
                    StoreAccess.Address(
                        environment: .sandbox, root: [UInt8](root), api: store.api,
                        callsPerSecond: 1_000_000)
                ],
                key: StoreAccess.Key(
                    issuerID: store.issuerID, keyID: store.keyID,
                    privateKeyPEM: store.privateKeyPEM))
        }
    }

    private static func grants() throws -> GrantRules {
        try GrantRules([
            "com.example.monthly": [
                Grant(name: "premium", kind: .entitlement(.subscription(grace: true)))
            ],
            "com.example.pro": [Grant(name: "pro", kind: .entitlement(.forever))],
        ])
    }

    static func storage(in folder: URL, _ conninfo: String?) async throws -> any Storage {
        if let conninfo {
            return try await PostgresDatabase(conninfo).schema(
                schema, migrations: Ledger.migrations)
        }
        return try await SQLiteStorage.open(
            file: folder.appendingPathComponent("ledger.sqlite").path,
            migrations: Ledger.migrations)
    }

    /// Opens the ledger whose setup lies in a folder.
    static func open(in folder: URL, _ conninfo: String?) async throws -> Ledger {
        try await open(over: try await storage(in: folder, conninfo), in: folder)
    }

    static func open(over storage: any Storage, in folder: URL) async throws -> Ledger {
        var ports = LedgerPorts(wall: Live.wallClock, randomness: Live.randomness) { _, _ in }
        ports.stores = door
        return try await Ledger.open(
            storage: storage, configuration: try Setup.read(in: folder).configuration(),
            ports: ports)
    }

    /// Serves until it is killed; prints the port when it listens.
    static func serve(_ path: String, _ conninfo: String?) async throws {
        let ledger = try await open(in: URL(fileURLWithPath: path), conninfo)
        var logger = Logger(label: "bench")
        logger.logLevel = .error
        let server = LedgerServer(
            ledger: ledger, configuration: try LedgerServerConfiguration(port: 0),
            ports: LedgerServerPorts(
                sleep: { try await Live.sleep($0) }, monotonic: { Live.monotonic() },
                randomness: Live.randomness), logger: logger)
        let chores = Task { await ledger.work() }
        defer { chores.cancel() }
        try await server.run { port in
            FileHandle.standardOutput.write(Data("\(port)\n".utf8))
        }
    }

    private static var door: StoreDoor {
        let client = OutboundClient(policy: .open)
        return StoreDoor(sleep: { try await Live.sleep($0) }) {
            call throws(StoreUnreached) in
            do {
                let answer = try await client.send(
                    OutboundRequest(
                        call.method, call.url,
                        headers: call.headers.map { .init($0.key, $0.value) }, body: call.body))
                return StoreAnswer(status: answer.status, body: answer.body)
            } catch { throw StoreUnreached("\(error)") }
        }
    }
}

/// A ledger served by a process of its own, over a folder that is removed at the end.
struct ServedLedger {
    let folder: URL
    let asker: Asker
    let process: ServedProcess

    /// Prepares its books in this process, then serves them.
    init(
        _ setup: BenchLedger.Setup, _ conninfo: String? = nil,
        prepare: (Ledger) async throws -> Void = { _ in }
    ) async throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("bench-ledger-\(UUID().uuidString)")
        try setup.write(in: folder)
        let ledger = try await BenchLedger.open(in: folder, conninfo)
        let key = try await ledger.createKey(.init(name: "bench", scope: "server"))
        try await prepare(ledger)
        await ledger.close()
        process = try ServedProcess(
            arguments: ["serve-ledger", folder.path] + (conninfo.map { [$0] } ?? []))
        asker = Asker(port: process.port, token: key.key)
    }

    func end() {
        process.kill()
        try? FileManager.default.removeItem(at: folder)
    }
}
