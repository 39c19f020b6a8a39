// SPDX-License-Identifier: Apache-2.0

import CatalogueFile
import Commerce
import Foundation
import Live
import Logging
import Shop
import ShopServer
import SignedData
import Storage
import StoreWire

/// A store being served by this process: opened, filled, listening, announced.
struct ServedStore {
    let options: ServeOptions
    let app: ServedApp
    let folder: StoreFolder
    let logger: Logger

    /// Takes the data directory; nothing is served yet.
    init(options: ServeOptions, app: ServedApp, data: String) throws {
        self.options = options
        self.app = app
        let level = try options.level()
        logger = Logger(label: "shopkeeper") { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        folder = try StoreFolder(path: URL(fileURLWithPath: data).standardizedFileURL.path)
    }

    /// Serves until it is told to stop. `onReady` hears once what others need
    /// to find the store; the run files lie there from then until the end.
    func run(
        port: Int, stopsOnSignals: Bool, onReady: @escaping @Sendable (RunFile) async -> Void
    ) async throws {
        defer { folder.release() }
        do {
            try await serve(port: port, stopsOnSignals: stopsOnSignals, onReady: onReady)
        } catch let fault as StorageFault where options.database != nil {
            throw ServedDatabase.unusable(fault)
        }
    }

    private func serve(
        port: Int, stopsOnSignals: Bool, onReady: @escaping @Sendable (RunFile) async -> Void
    ) async throws {
        var configuration = try options.configuration(port: port)
        configuration.stopsOnSignals = stopsOnSignals
        let route = try options.realms.route()
        let store = try await Store.open(try folder.ports(options: options, logger: logger))
        let announced = try await announcement(store, configuration.host)
        let server = ShopServer(
            store: store, configuration: configuration, route: route,
            ports: ShopServerPorts(
                sleep: { try await Live.sleep($0) }, monotonic: { Live.monotonic() },
                randomness: Live.randomness),
            logger: logger)
        let logger = logger
        let watching = try await watch(store)
        defer {
            watching?.cancel()
            announced.remove()
        }
        try await server.run { port, realms in
            var run = announced
            if !realms.isEmpty { run.realmUrls = realms.mapValues { "\(announced.url):\($0)" } }
            run.url += ":\(port)"
            do { try run.write() } catch {
                logger.warning("the run file could not be written: other commands need --data")
            }
            await onReady(run)
        }
    }

    /// Reads the served file again whenever it has changed.
    private func watch(_ store: Store) async throws -> Task<Void, Never>? {
        guard let file = app.file, let state = app.state else { return nil }
        let served = ServedCatalogue(
            app: app, realm: try await store.realm(named: Store.defaultRealm))
        let watch = CatalogueWatch(
            path: file.name, sleep: { try await Live.sleep($0) },
            apply: { try await served.take($0, $1) }, tell: { Output.complain($0) })
        return Task { await watch.run(from: state) }
    }

    /// Fills the default realm, and gathers what the run file tells.
    private func announcement(_ store: Store, _ host: String) async throws -> RunFile {
        let realm = try await store.realm(named: Store.defaultRealm)
        try await ServedCatalogue(app: app, realm: realm).start()
        if let url = options.notify {
            try await realm.setNotificationURL(url, bundleID: app.bundleID, .serve)
        }
        let root = folder.file("root.pem")
        let certificate = try await store.rootCertificate(.sandbox)
        try Data(certificate.pem.utf8).write(to: URL(fileURLWithPath: root), options: .atomic)
        let key = try await ServerKeyFile(folder: folder, bundleID: app.bundleID).key(realm)
        let own = Self.ownAddress(host)
        return RunFile(
            url: "http://" + (own.contains(":") ? "[\(own)]" : own),
            publicUrl: try options.proxy.url(), pid: ProcessID.own, data: folder.path,
            operatorKey: try await store.doorKey(.operator),
            controlKey: try await store.doorKey(.control),
            metricsKey: try await store.doorKey(.metrics), root: root, bundleId: app.bundleID,
            appAppleId: app.appID, serverKey: key.path, serverKeyId: key.keyID,
            issuerId: key.issuerID, version: Shopkeeper.version)
    }
}

extension ServedStore {
    /// Under which address this machine's own commands find a server that
    /// listens on `host`.
    static func ownAddress(_ host: String) -> String {
        switch host {
        case "0.0.0.0": "127.0.0.1"
        case "::": "::1"
        default: host
        }
    }
}

enum ProcessID {
    static var own: Int32 { getpid() }
}

/// The server key that a served store hands to the merchant's side: its
/// private half lies beside the store's keys, and is made anew only where the
/// store does not know it.
private struct ServerKeyFile {
    struct Key {
        let path: String
        let keyID: String
        let issuerID: String
    }

    let folder: StoreFolder
    let bundleID: String

    func key(_ realm: Realm) async throws -> Key {
        for known in try await realm.serverKeys()
        where known.bundleId == bundleID && known.revokedDate == nil {
            let path = file(known.keyId)
            if FileManager.default.fileExists(atPath: path) {
                return Key(path: path, keyID: known.keyId, issuerID: known.issuerId)
            }
        }
        let made = try await realm.createServerKey(bundleID: bundleID, .serve)
        try FileManager.default.createDirectory(
            atPath: folder.file("keys/server"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let path = file(made.keyId)
        let isWritten = FileManager.default.createFile(
            atPath: path, contents: Data(made.privateKey.utf8),
            attributes: [.posixPermissions: 0o600])
        guard isWritten else {
            throw Failure(
                .taken, "keysUnusable", "\(path) cannot be written.", field: "--data",
                remedy: "name a data directory that you may write in")
        }
        return Key(path: path, keyID: made.keyId, issuerID: made.issuerId)
    }

    private func file(_ keyID: String) -> String { folder.file("keys/server/\(keyID).p8") }
}
