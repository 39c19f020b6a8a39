// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import Ledger
import LedgerFile
import LedgerServer
import Live
import Logging
import Shop
import Storage
import StorageSQLite
import StoreWire

struct LedgerServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve a ledger until it is stopped.",
        discussion: """
            Without --trust and --trust-store the ledger trusts the sandbox of the only store \
            that runs on this machine. A root is fetched over HTTPS or from this machine. Over \
            plain HTTP from another machine it needs --root-fingerprint.
            """)

    @OptionGroup var config: LedgerConfigOption
    @OptionGroup var trust: TrustOptions
    @OptionGroup var stores: LedgerStoreOptions
    @Option(
        name: .long,
        help: "The address to listen at: loopback, unless behind a proxy; default: 127.0.0.1.")
    var host: String?
    @OptionGroup var proxy: ProxyOptions
    @Option(name: .long, help: "The port; 0 for any free one; default: 4790.") var port: Int?
    @Option(name: .long, help: "The data directory; default: ./.shopkeeper-ledger.")
    var data: String?
    @Option(name: .long, help: "A file with the key to /metrics; or SHOPKEEPER_METRICS_KEY.")
    var metricsKey: String?
    @Option(
        name: .long,
        help: """
            Use PostgreSQL: a URL or another connection string of libpq; '' for libpq's \
            environment variables; @FILE or @- to read it from a file or standard input.
            """)
    var database: String?
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Whether to ask at the certificates' status address if they were revoked. hard: "
                + "book nothing without an answer, as Apple's libraries; soft: book without "
                + "an answer; off: do not ask. Default: hard.", valueName: "hard|soft|off"))
    var onlineChecks: OnlineChecks?
    @Option(
        name: .long,
        help: "The log on standard error: debug, info, notice (default), warning or error.")
    var logLevel: String?
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let printing = printing
        try await serve(stopsOnSignals: true) { try? Self.announce($0, printing) }
    }

    /// Serves until the calling task is cancelled, or a signal arrives if signals stop
    /// it. `onReady` is called once it listens.
    func serve(
        stopsOnSignals: Bool, onReady: @escaping @Sendable (ServedLedger) -> Void
    ) async throws {
        let (file, settings) = try config.file()
        if let file, let name = config.config {
            try LedgerFileCheck.refuse(
                file, name: name, settings: inForce(settings),
                trust: trust.filled(from: settings), proxy: proxy.filled(from: settings))
        }
        let logger = try logger(settings)
        let proxy = proxy.filled(from: settings)
        let host = host ?? settings.host ?? "127.0.0.1"
        var configuration = try proxy.configuration(
            host: host, port: port ?? settings.port ?? 4790)
        configuration.stopsOnSignals = stopsOnSignals
        Live.raiseDescriptorLimit()
        try configuration.fitIntoProcess(telling: logger)
        var book = try await trust.filled(from: settings)
            .configuration(grants: file?.grants ?? .none)
        try stores.add(to: &book)
        try config.add(file, to: &book)
        let path = URL(fileURLWithPath: data ?? settings.data ?? "./.shopkeeper-ledger")
            .standardizedFileURL.path
        let lock = try DirectoryLock(folder: path)
        defer { lock.release() }
        try RestoredFolder.check(path)
        let database = try (database ?? settings.database).map {
            try SecretFile.value($0, field: "--database")
        }
        let ledger = try await open(book, path, database, settings, logger)
        let applying = Self.apply(ledger, logger)
        defer { applying?.cancel() }
        let own = ServedStore.ownAddress(host)
        let announced = LedgerRunFile(
            url: "http://" + (own.contains(":") ? "[\(own)]" : own),
            publicUrl: try proxy.url(), pid: ProcessID.own,
            data: path, key: ledger.accessKey, metricsKey: ledger.metricsKey,
            version: Shopkeeper.version)
        defer { announced.remove() }
        let server = LedgerServer(
            ledger: ledger, configuration: configuration,
            ports: .live, logger: logger)
        let chores = Task { await ledger.work() }
        defer { chores.cancel() }
        let apps = book.apps.map(\.bundleID.value)
        try await server.run { port in
            var run = announced
            run.url += ":\(port)"
            do { try run.write() } catch {
                logger.warning("the run file could not be written: other commands need --data")
            }
            onReady(ServedLedger(ledger: ledger, run: run, apps: apps))
        }
    }

    /// Returns a file's settings without those in whose place an option is given.
    private func inForce(_ settings: LedgerSettings) -> LedgerSettings {
        var settings = settings
        if !trust.trust.isEmpty || !trust.trustStore.isEmpty {
            (settings.trust, settings.trustStore) = ([], [])
        }
        if !trust.trustReceipts.isEmpty { settings.trustReceipts = [] }
        if !trust.rootFingerprint.isEmpty { settings.rootFingerprint = [] }
        if !proxy.behindProxy.isEmpty { settings.behindProxy = [] }
        if proxy.publicUrl != nil { settings.publicURL = nil }
        if metricsKey != nil { settings.metricsKey = nil }
        if database != nil { settings.database = nil }
        if host != nil { settings.host = nil }
        return settings
    }

    private func logger(_ settings: LedgerSettings) throws -> Logger {
        let word = logLevel ?? settings.logLevel ?? "notice"
        guard let level = Logger.Level(rawValue: word) else {
            throw Failure(
                .usage, "logLevelUnknown", "There is no log level `\(word)`.",
                field: "--log-level", rule: "debug, info, notice, warning or error")
        }
        return TerminalLog.logger("shopkeeper.ledger", level)
    }

    /// Grants beside the server what was booked before its product was configured.
    private static func apply(_ ledger: Ledger, _ logger: Logger) -> Task<Void, Never>? {
        guard !ledger.grantsNothing else { return nil }
        return Task {
            do { try await ledger.applyGrants() } catch {
                guard !Task.isCancelled else { return }
                logger.warning(
                    "grants of earlier purchases are missing: repeat with `ledger apply`")
            }
        }
    }

    private func open(
        _ book: LedgerConfiguration, _ path: String, _ database: String?,
        _ settings: LedgerSettings, _ logger: Logger
    ) async throws -> Ledger {
        let onlineChecks =
            onlineChecks ?? settings.onlineChecks.flatMap(OnlineChecks.init) ?? .hard
        let commits = CommitCounter()
        var ports = LedgerPorts(wall: Live.wallClock, randomness: Live.randomness) {
            message, facts in
            logger.info("\(message)", metadata: facts.mapValues { .string($0) })
        }
        ports.commits = { commits.count }
        // Also a ledger that calls no one completes erasures and deletes what is too old.
        ports.sleep = { try await Live.sleep($0) }
        if stores.areGiven || book.accounts.needsCalls || !book.webhooks.isEmpty {
            ports.stores = LiveStoreDoor.door(
                isProduction: book.environments.contains(.production))
        }
        if onlineChecks != .off {
            ports.status = LedgerStatusCheck(LiveStatus.check(), isHard: onlineChecks == .hard)
        }
        ports.metricsKey = try DoorKeyOptions.key(
            .metrics, file: metricsKey ?? settings.metricsKey)
        do {
            return try await Ledger.open(
                storage: try await storage(of: book, path, database, commits), configuration: book,
                ports: ports)
        } catch let fault as StorageFault where database != nil {
            throw ServedDatabase.unusable(fault)
        }
    }

    /// Opens the ledger's database: a file that only this process uses, or one
    /// that several ledgers share. Production's purchases are booked only in a
    /// durable database.
    private func storage(
        of book: LedgerConfiguration, _ path: String, _ database: String?,
        _ commits: CommitCounter
    ) async throws -> any Storage {
        guard let database else {
            return try await SQLiteStorage.open(
                file: "\(path)/ledger.sqlite", migrations: Ledger.migrations,
                options: SQLiteOptions(observer: commits))
        }
        let shared = ServedDatabase(conninfo: database, observer: commits)
        if book.environments.contains(.production) { try await shared.proveDurable() }
        return try await shared.ledger(migrations: Ledger.migrations)
    }

    private static func announce(_ served: ServedLedger, _ printing: PrintOptions) throws {
        struct Announcement: Encodable {
            let url: String
            let data: String
            let pid: Int32
            let notifications: String
        }
        let run = served.run
        try printing.show(
            Announcement(
                url: run.url, data: run.data, pid: run.pid, notifications: run.notifications),
            lines: [
                "Serving the ledger of \(served.apps.joined(separator: ", ")) at \(run.url)",
                "Notifications go to: \(run.notifications)",
            ])
    }
}

/// A ledger that listens.
struct ServedLedger: Sendable {
    let ledger: Ledger
    let run: LedgerRunFile
    /// The bundle ids of the apps that it books.
    let apps: [String]
}
