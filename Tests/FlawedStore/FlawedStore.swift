// SPDX-License-Identifier: Apache-2.0

import CForgetfulDisk
import CatalogueFile
import Commerce
import Foundation
import Live
import Logging
import Shop
import ShopServer
import Storage
import StoragePostgres
import StorageSQLite

/// A store only for the proof: like `shopkeeper serve`, but with the flaw that
/// `--flaw` names.
@main
struct FlawedStore {
    private let arguments: [String]
    private let flaw: Flaw?
    private let data: String

    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        try await FlawedStore(arguments).serve()
    }

    init(_ arguments: [String]) throws {
        self.arguments = arguments
        flaw = try Self.value("--flaw", arguments).map { name in
            guard let flaw = Flaw(rawValue: name) else { throw Usage("--flaw \(name)") }
            return flaw
        }
        guard let data = Self.value("--data", arguments) else { throw Usage("--data") }
        self.data = data
    }

    private struct Usage: Error {
        let missing: String

        init(_ missing: String) {
            self.missing = missing
        }
    }

    private static func value(_ name: String, _ arguments: [String]) -> String? {
        guard let place = arguments.firstIndex(of: name), place + 1 < arguments.count else {
            return nil
        }
        return arguments[place + 1]
    }

    private func serve() async throws {
        if flaw == .unsettled { LeftUnsettled.begin() }
        let store = try await Store.open(
            StorePorts(
                places: places,
                keys: FileKeyStore(directory: data + "/keys", randomness: Live.randomness),
                wall: Live.wallClock, randomness: Live.randomness,
                passwordCost: PasswordCost(rounds: 2), sleep: { try await Live.sleep($0) }))
        let realm = try await store.realm(named: Store.defaultRealm)
        guard let catalogue = arguments.first(where: { $0.hasSuffix(".storekit") }),
            let bundleID = Self.value("--bundle-id", arguments)
        else { throw Usage("CATALOGUE --bundle-id ID") }
        try await realm.catalogue.putCatalogue(
            try CatalogueFile(contentsOf: catalogue).catalogue,
            app: AppDescription(bundleID: BundleID(bundleID)))
        let operatorKey = try await store.doorKey(.operator)
        let run = try JSONEncoder().encode(["operatorKey": operatorKey])
        try run.write(to: URL(fileURLWithPath: data + "/run.json"))
        let server = ShopServer(
            store: store, configuration: try ShopServerConfiguration(port: 0),
            ports: ShopServerPorts(
                sleep: { try await Live.sleep($0) }, monotonic: { Live.monotonic() },
                randomness: Live.randomness),
            logger: Logger(label: "flawed") { _ in SwiftLogNoOpLogHandler() })
        try await server.run { port in
            Serving.begin()
            LeftUnsettled.end()
            let line = Data("{\"url\":\"http://127.0.0.1:\(port)\"}\n".utf8)
            FileHandle.standardOutput.write(line)
        }
    }

    private var places: StoragePlaces {
        if let conninfo = Self.value("--database", arguments) { return shared(conninfo) }
        let (data, flaw) = (data, flaw)
        @Sendable func open(_ name: String, _ migrations: [Migration]) async throws -> any Storage {
            let file = "\(data)/\(name).sqlite"
            let options = SQLiteOptions(
                vfs: flaw == .unsettled ? String(cString: forgetful_disk_name) : nil)
            return FlawedStorage(
                base: try await SQLiteStorage.open(
                    file: file, migrations: Flaw.spoil(migrations, flaw), options: options),
                flaw: flaw)
        }
        return StoragePlaces(
            registry: { try await open("store", $0) },
            realm: { try await open("realms/\($0)", $1) }, deleteRealm: { _ in },
            isOneProcess: true)
    }

    private func shared(_ conninfo: String) -> StoragePlaces {
        let database = PostgresDatabase(conninfo)
        return StoragePlaces(
            registry: { migrations in
                try await database.schema("shopkeeper", migrations: migrations)
            },
            realm: { try await realm($0, $1, database) },
            deleteRealm: { _ in }, leasesInDatabaseTime: true)
    }

    private func realm(
        _ id: String, _ migrations: [Migration], _ database: PostgresDatabase
    ) async throws -> any Storage {
        let name = "realm_" + id.lowercased().filter { $0.isLetter || $0.isNumber }
        let base = try await database.schema(name, migrations: Flaw.spoil(migrations, flaw))
        guard flaw == .errorsLost || flaw == .tagUnread else {
            return FlawedStorage(base: base, flaw: flaw)
        }
        let lossy = LossyStorage(
            base: base, database: database, schema: name, checksCommitTag: flaw == .errorsLost)
        return FlawedStorage(base: lossy, flaw: flaw, didBegin: { lossy.didBegin() })
    }
}

/// A start that does not make durable what an earlier process left in the log.
enum LeftUnsettled {
    static func begin() {
        precondition(forgetful_disk_register() == 0, "no forgetful disk")
        forgetful_disk_leave_unsettled(1)
    }

    static func end() { forgetful_disk_leave_unsettled(0) }
}
