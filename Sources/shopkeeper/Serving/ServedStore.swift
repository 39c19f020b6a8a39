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
import StorageSQLite
import StoreWire

/// A store that this process serves: it opens, fills, serves and announces it.
struct ServedStore {
    let options: ServeOptions
    let app: ServedApp
    let folder: StoreFolder
    let logger: Logger
    let events: StoreEvents.Sink
    /// What happens to the notifications of a jump that does not choose.
    var jumpNotifications = JumpNotifications.queued

    /// Locks the data directory. Nothing is served yet. `events` receives what
    /// happens in the store.
    init(
        options: ServeOptions, app: ServedApp, data: String,
        events: @escaping StoreEvents.Sink = StoreEvents.unheard
    ) throws {
        self.options = options
        self.events = events
        self.app = app
        logger = TerminalLog.logger("shopkeeper", try options.level())
        folder = try StoreFolder(path: URL(fileURLWithPath: data).standardizedFileURL.path)
    }

    /// Serves until it is stopped. `onReady` is called once with what others
    /// need to find the store. From then until the end, this is in the run
    /// files.
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
        let tls = ServedTLS(options: options)
        try tls.check()
        // Must come before certificates are made, because they contain the
        // port.
        let reserved = port == 0 ? LastPort(folder).reserve(options.host) : nil
        var configuration = try options.configuration(port: reserved?.port ?? port)
        configuration.stopsOnSignals = stopsOnSignals
        try configuration.fitIntoProcess(telling: logger)
        let route = try options.realms.route()
        var ports = try folder.ports(options: options, logger: logger, events: events)
        ports.sandboxStatusURL = statusURL(configuration)
        ports.jumpNotifications = jumpNotifications
        let store = try await Store.open(ports)
        let announced = try await announcement(store, configuration.host)
        configuration.secure = try await tls.listener(store)
        let server = ShopServer(
            store: store, configuration: configuration, route: route,
            ports: .live, logger: logger)
        let logger = logger
        let watching = try await watch(store)
        defer {
            watching?.cancel()
            announced.remove()
        }
        try await server.serve { ports in
            var run = announced
            if !ports.others.isEmpty {
                run.realmUrls = ports.others.mapValues { "\(announced.url):\($0)" }
            }
            run.tlsUrl = ports.secure.map {
                announced.url.replacingOccurrences(of: "http:", with: "https:") + ":\($0)"
            }
            run.url += ":\(ports.main)"
            do { try run.write() } catch {
                logger.warning("the run file could not be written: other commands need --data")
            }
            reserved?.release()
            LastPort(folder).write(ports.main)
            await onReady(run)
        }
    }

    /// The URL at which programs on this machine can ask for the status of the
    /// sandbox's certificates. Nil for a store that others reach, because its
    /// address is the proxy's, and certificates contain it permanently.
    private func statusURL(_ configuration: ShopServerConfiguration) -> String? {
        guard !options.proxy.isOpen, configuration.port != 0 else { return nil }
        return address(configuration.host) + ":\(configuration.port)/certificates/status"
    }

    /// The URL of this store on its own machine, without the port.
    private func address(_ host: String) -> String {
        let own = Self.ownAddress(host)
        return "http://" + (own.contains(":") ? "[\(own)]" : own)
    }

    /// Imports the served file again whenever it has changed.
    private func watch(_ store: Store) async throws -> Task<Void, Never>? {
        guard let file = app.file, let state = app.state else { return nil }
        let served = ServedCatalogue(
            app: app, realm: try await store.realm(named: Store.defaultRealm))
        let watch = CatalogueWatch(
            path: file.name, sleep: { try await Live.sleep($0) },
            apply: { file, overlay in
                let taken = try await served.take(file, overlay)
                for warning in taken.warnings { Output.complain("warning: \(warning)") }
                return taken.differences
            }, tell: { Output.complain($0) })
        return Task { await watch.run(from: state) }
    }

    /// Fills the default realm, and returns the contents of the run file.
    private func announcement(_ store: Store, _ host: String) async throws -> RunFile {
        let realm = try await store.realm(named: Store.defaultRealm)
        for warning in try await ServedCatalogue(app: app, realm: realm).start() {
            Output.complain("warning: \(warning)")
        }
        if let url = options.notify {
            try await realm.catalogue.setNotificationURL(url, bundleID: app.bundleID, .serve)
        }
        let root = folder.file("root.pem")
        let certificate = try await store.rootCertificate(.sandbox)
        try PrivateFiles.store(Array(certificate.pem.utf8), as: root, mode: 0o644)
        let key = try await ServerKeyFile(folder: folder, bundleID: app.bundleID).key(realm)
        return RunFile(
            url: address(host), publicUrl: try options.proxy.url(), pid: ProcessID.own,
            data: folder.path,
            operatorKey: try await store.doorKey(.operator),
            controlKey: try await store.doorKey(.control),
            metricsKey: try await store.doorKey(.metrics), root: root, bundleId: app.bundleID,
            appAppleId: app.appID, serverKey: key.path, serverKeyId: key.keyID,
            issuerId: key.issuerID, version: Shopkeeper.version)
    }
}

extension ServedStore {
    /// Returns the address at which this machine's own commands reach a server
    /// that listens on `host`.
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

/// The server key that a served store provides for the merchant's side. Its
/// private half is stored beside the store's keys. A new key is made only if
/// the store does not know this one.
private struct ServerKeyFile {
    struct Key {
        let path: String
        let keyID: String
        let issuerID: String
    }

    let folder: StoreFolder
    let bundleID: String

    func key(_ realm: Realm) async throws -> Key {
        for known in try await realm.merchant.serverKeys()
        where known.bundleId == bundleID && known.revokedDate == nil {
            let path = file(known.keyId)
            if FileManager.default.fileExists(atPath: path) {
                return Key(path: path, keyID: known.keyId, issuerID: known.issuerId)
            }
        }
        let made = try await realm.merchant.createServerKey(bundleID: bundleID, .serve)
        let path = file(made.keyId)
        do {
            try PrivateFiles.makeFolder(folder.file("keys/server"))
            try PrivateFiles.store(Array(made.privateKey.utf8), as: path, replaces: false)
        } catch {
            throw Failure(
                .taken, "keysUnusable", "\(error)", field: "--data",
                remedy: "name a data directory that you may write in")
        }
        return Key(path: path, keyID: made.keyId, issuerID: made.issuerId)
    }

    private func file(_ keyID: String) -> String { folder.file("keys/server/\(keyID).p8") }
}
