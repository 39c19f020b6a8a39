// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Hummingbird
import Ledger
import Live
import StorageSQLite

/// Settings from the environment. The store's root certificate is a file, as
/// `shopkeeper env` and `shopkeeper exec` name it.
struct Settings {
    let root: [UInt8]
    let database: String
    let port: Int
    let journals: [String]
    let writers: [String: String]

    /// Nil if a setting is missing.
    init?(_ environment: [String: String]) {
        guard let path = environment["SHOPKEEPER_ROOT"],
            let root = FileManager.default.contents(atPath: path)
        else { return nil }
        self.root = [UInt8](root)
        database = environment["JOURNAL_DATABASE"] ?? "journal.sqlite"
        port = environment["JOURNAL_PORT"].flatMap { Int($0) } ?? 4800
        journals = Self.words(environment["JOURNALS"] ?? "travels,garden")
        // `token=writer`, separated by commas.
        let pairs = Self.words(environment["JOURNAL_WRITERS"] ?? "a-token-for-ann=ann")
            .map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        guard pairs.allSatisfy({ $0.count == 2 }) else { return nil }
        writers = Dictionary(pairs.map { ($0[0], $0[1]) }, uniquingKeysWith: { $1 })
    }

    private static func words(_ list: String) -> [String] {
        list.split(separator: ",").map(String.init)
    }
}

guard let settings = Settings(ProcessInfo.processInfo.environment) else {
    try? FileHandle.standardError.write(
        contentsOf: Data(
            """
            SHOPKEEPER_ROOT must name the file of the store's root certificate, and \
            JOURNAL_WRITERS, if it is set, be a list of token=writer.

            """.utf8))
    exit(64)
}

// One database for the ledger and the journals.
let storage = try await SQLiteStorage.open(
    file: settings.database, migrations: Ledger.migrations)
try await Journals.open(settings.journals, in: storage)
let ledger = try await Ledger.open(
    storage: storage,
    configuration: LedgerConfiguration(
        roots: [TrustedRoot(file: settings.root, environments: [.sandbox])],
        apps: [LedgerApp(bundleID: "com.example.journal", environments: [.sandbox])]),
    ports: LedgerPorts(wall: Live.wallClock, randomness: Live.randomness) { _, _ in })

let routes = Routes(
    writers: settings.writers,
    purchases: Purchases(ledger: ledger, storage: storage, clock: Live.wallClock))
let application = Application(
    router: routes.router(),
    configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: settings.port)),
    onServerRunning: { channel in
        print("Serving journals at http://127.0.0.1:\(channel.localAddress?.port ?? 0)")
        fflush(nil)
    })
try await application.runService()
await ledger.close()
