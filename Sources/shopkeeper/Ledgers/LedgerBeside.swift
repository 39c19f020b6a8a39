// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CatalogueFile
import Commerce
import Foundation
import Ledger
import LedgerFile
import StorageSQLite
import StoreWire

/// A ledger for a first try: it runs in the process of the store whose sales it books,
/// and both end together. It is a `ledger serve` whose options come from the store.
struct LedgerBeside: Sendable {
    /// The ledger's data directory, beside the store's.
    let folder: String
    /// What products grant.
    let config: String
    private let options: ServeOptions
    private let port: Int?

    /// Makes the folder, and a first ledger.yaml if there is none. Throws if the file
    /// has mistakes.
    init(data: String, app: ServedApp, options: ServeOptions, port: Int?) throws {
        folder = URL(fileURLWithPath: data).standardizedFileURL.path + "-ledger"
        config = folder + "/ledger.yaml"
        (self.options, self.port) = (options, port)
        try PrivateFiles.makeFolder(folder)
        if !FileManager.default.fileExists(atPath: config) {
            let draft =
                app.file.map { LedgerFile.draft(of: $0.contents) }
                ?? LedgerFile.draft(of: app.catalogue, groups: [])
            try PrivateFiles.store(Array(draft.utf8), as: config)
        }
        _ = try LedgerConfigOption.read(config)
    }

    /// Serves both until a signal stops the store. If one of them cannot start, the
    /// other ends too. `onReady` is called once both listen.
    func serve(
        beside store: ServedStore, port: Int,
        onReady: @escaping @Sendable (RunFile, LedgerBesideFacts) -> Void
    ) async throws {
        let (stores, storeListens) = AsyncStream<RunFile>.makeStream()
        let (ledgers, ledgerListens) = AsyncStream<(RunFile, ServedLedger)>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { storeListens.finish() }
                try await store.run(port: port, stopsOnSignals: true) { storeListens.yield($0) }
            }
            group.addTask {
                defer { ledgerListens.finish() }
                for await run in stores {
                    try await serve(run) { ledgerListens.yield((run, $0)) }
                    return
                }
            }
            group.addTask {
                for await (run, ledger) in ledgers {
                    let facts = try await LedgerBesideFacts(ledger, config: config)
                    try await Self.direct(run, to: facts.notifications)
                    onReady(run, facts)
                }
            }
            // The end of one is the end of all.
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private func serve(
        _ run: RunFile, _ onReady: @escaping @Sendable (ServedLedger) -> Void
    ) async throws {
        do {
            let words = try words(run, try await environment(run))
            try await LedgerServeCommand.parse(words).serve(
                stopsOnSignals: false, onReady: onReady)
        } catch {
            // A start that the store's end cut off is not a failure.
            guard Task.isCancelled else { throw error }
        }
    }

    private func environment(_ run: RunFile) async throws -> Environment {
        let door = DoorClient(base: run.url + "/operator/v1", key: run.operatorKey)
        let realms = try await door.get("/realms", as: RealmList.self).realms
        return realms.first { $0.name == "default" }?.environment ?? .sandbox
    }

    /// The options of `ledger serve`. What the file may say itself is left to it.
    private func words(_ run: RunFile, _ environment: Environment) throws -> [String] {
        var words = [
            "--config", config, "--data", folder, "--host", options.host, "--trust", run.root,
            "--bundle-id", run.bundleId, "--environment", environment.rawValue,
        ]
        let settings = try LedgerConfigOption.read(config).settings
        if let port { words += ["--port", "\(port)"] }
        if settings.logLevel == nil { words += ["--log-level", options.logLevel] }
        // Certificates name the port that the store had when they were made.
        if settings.onlineChecks == nil { words += ["--online-checks", "soft"] }
        guard environment == .sandbox else { return words }
        return words + [
            "--api-key", run.serverKey, "--api-key-id", run.serverKeyId, "--api-issuer",
            run.issuerId, "--sandbox-api-url", run.url, "--calls-per-second", "100",
        ]
    }

    /// Lets the store send the app's notifications to the ledger.
    private static func direct(_ run: RunFile, to url: String) async throws {
        let door = DoorClient(base: run.url + "/operator/v1", key: run.operatorKey)
        _ = try await door.put(
            "/apps/\(DoorClient.part(run.bundleId))/notification-url",
            SetNotificationURLRequest(notificationUrl: url), as: AppSummary.self)
    }
}

/// What is printed about the ledger of a first try.
struct LedgerBesideFacts: Encodable, Sendable {
    let url: String
    let data: String
    let config: String
    let notifications: String
    /// Only at the first start: the ledger keeps digests alone.
    var appKey: String?
    var serverKey: String?

    init(_ served: ServedLedger, config: String) async throws {
        let (ledger, run) = (served.ledger, served.run)
        (url, data, self.config) = (run.url, run.data, config)
        notifications = run.notifications
        guard try await ledger.keys().keys.isEmpty else { return }
        (appKey, serverKey) = try await LedgerActor.$current.withValue(LedgerActor("command")) {
            let app = CreateLedgerKeyRequest(name: "first app", scope: "app")
            let server = CreateLedgerKeyRequest(name: "first server", scope: "server")
            return (
                try await ledger.createKey(app).key, try await ledger.createKey(server).key
            )
        }
    }

    /// The lines for a person, with what to try on a product of the store.
    func lines(product: String, store: RunFile) -> [String] {
        let (own, quoted) = (OwnCommand.words(), { ShellWord.quoted($0, always: true) })
        let account = "00000000-0000-4000-8000-000000000001"
        return [
            "", "Ledger of this store: \(url)",
            "What products grant: \(config)",
            "The store's notifications go to: \(notifications)",
        ] + keys + [
            "", "Try:",
            "    \(own) buy \(product) --username \(account) --data \(quoted(store.data))",
            "    \(own) ledger history \(account) --data \(quoted(data))",
        ]
    }

    private var keys: [String] {
        guard let appKey, let serverKey else {
            return ["Its keys were printed at the first start; `ledger key create` makes others."]
        }
        return [
            "Key for apps, not shown again: \(appKey)",
            "Key for servers, not shown again: \(serverKey)",
        ]
    }
}
