// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import Ledger
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
            Without --trust and --trust-store it trusts the only store that runs here, in its \
            sandbox.
            """)

    @OptionGroup var trust: TrustOptions
    @Option(name: .long, help: "Where to listen; loopback only, unless behind a proxy.")
    var host = "127.0.0.1"
    @OptionGroup var proxy: ProxyOptions
    @Option(name: .long, help: "Port; 0 is any free one.") var port = 4790
    @Option(name: .long, help: "The data directory.") var data = "./.shopkeeper-ledger"
    @Option(name: .long, help: "File with the key to /metrics; or SHOPKEEPER_METRICS_KEY.")
    var metricsKey: String?
    @Option(
        name: .long,
        help: "PostgreSQL instead: a URL or what libpq takes; '' for what its environment says.")
    var database: String?
    @Option(name: .long, help: "debug, info, notice, warning or error, on standard error.")
    var logLevel = "notice"
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        guard let level = Logger.Level(rawValue: logLevel) else {
            throw Failure(
                .usage, "logLevelUnknown", "There is no log level `\(logLevel)`.",
                field: "--log-level", rule: "debug, info, notice, warning or error")
        }
        let logger = Logger(label: "shopkeeper.ledger") { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        let configuration = try proxy.configuration(host: host, port: port)
        let book = try await trust.configuration()
        let path = URL(fileURLWithPath: data).standardizedFileURL.path
        let lock = try DirectoryLock(folder: path)
        defer { lock.release() }
        let ledger = try await open(book, path, logger)
        let own = ServedStore.ownAddress(host)
        let announced = LedgerRunFile(
            url: "http://" + (own.contains(":") ? "[\(own)]" : own),
            publicUrl: try proxy.url(), pid: ProcessID.own,
            data: path, key: ledger.accessKey, metricsKey: ledger.metricsKey,
            version: Shopkeeper.version)
        defer { announced.remove() }
        let server = LedgerServer(
            ledger: ledger, configuration: configuration,
            ports: LedgerServerPorts(
                sleep: { try await Live.sleep($0) }, monotonic: { Live.monotonic() },
                randomness: Live.randomness),
            logger: logger)
        try await server.run { port in
            var run = announced
            run.url += ":\(port)"
            do { try run.write() } catch {
                logger.warning("the run file could not be written: other commands need --data")
            }
            announce(run, book)
        }
    }

    private func open(
        _ book: LedgerConfiguration, _ path: String, _ logger: Logger
    ) async throws -> Ledger {
        let commits = CommitCounter()
        var ports = LedgerPorts(wall: Live.wallClock, randomness: Live.randomness) {
            message, facts in
            logger.info("\(message)", metadata: facts.mapValues { .string($0) })
        }
        ports.commits = { commits.count }
        ports.metricsKey = try DoorKeyOptions.key(.metrics, file: metricsKey)
        do {
            return try await Ledger.open(
                storage: try await storage(of: book, path, commits), configuration: book,
                ports: ports)
        } catch let fault as StorageFault where database != nil {
            throw ServedDatabase.unusable(fault)
        }
    }

    /// The book's database: a file of this process's own, or one that several
    /// ledgers share. What production's proof is booked in may forget nothing.
    private func storage(
        of book: LedgerConfiguration, _ path: String, _ commits: CommitCounter
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

    private func announce(_ run: LedgerRunFile, _ book: LedgerConfiguration) {
        struct Announcement: Encodable {
            let url: String
            let data: String
            let pid: Int32
            let notifications: String
        }
        let notifications = (run.publicUrl ?? run.url) + "/ledger/v1/notifications"
        let apps = book.apps.map(\.bundleID.value).joined(separator: ", ")
        let words = """
            Serving the ledger of \(apps) at \(run.url)
            Notifications go to: \(notifications)
            """
        let told = Announcement(
            url: run.url, data: run.data, pid: run.pid, notifications: notifications)
        Output.answer(printing.json ? (try? Output.text(told)) ?? "{}" : words)
    }
}

/// Whom a ledger believes, and about which apps.
struct TrustOptions: ParsableArguments {
    @Option(
        name: .long,
        help: "A root certificate to trust in every environment named; DER or PEM. May be repeated."
    )
    var trust: [String] = []

    @Option(
        name: .long,
        help: "A store to fetch the roots from, each for its own environment. May be repeated.")
    var trustStore: [String] = []

    @Option(name: .long, help: "An app to book purchases of. May be repeated.")
    var bundleId: [String] = []

    @Option(name: .long, help: "The app's number, as production's notifications tell it.")
    var appId: Int64?

    @Option(
        name: .long,
        help: "Production, Sandbox, Xcode or LocalTesting. May be repeated; Sandbox when left out.")
    var environment: [String] = []

    func configuration() async throws -> LedgerConfiguration {
        let environments = try self.environments()
        var roots: [TrustedRoot] = []
        var apps = bundleId
        for file in trust { roots.append(try Self.root(file, environments)) }
        for url in trustStore { roots += try await Self.roots(of: url, environments) }
        if roots.isEmpty || apps.isEmpty, let run = Self.onlyStore {
            if apps.isEmpty { apps = [run.bundleId] }
            if roots.isEmpty, environments.contains(.sandbox) {
                roots = [try Self.root(run.root, [.sandbox])]
            }
        }
        guard appId == nil || apps.count == 1 else {
            throw Failure(
                .usage, "appIdAmbiguous", "Whose number is that?", field: "--app-id",
                rule: "a number goes with one app", remedy: "serve one app")
        }
        return try LedgerConfiguration(
            roots: roots,
            apps: apps.map {
                LedgerApp(bundleID: BundleID($0), appID: appId, environments: environments)
            })
    }

    private func environments() throws -> Set<LedgerEnvironment> {
        guard !environment.isEmpty else { return [.sandbox] }
        return Set(
            try environment.map { word in
                guard let known = LedgerEnvironment(named: word) else {
                    throw Failure(
                        .usage, "environmentUnknown", "There is no environment `\(word)`.",
                        field: "--environment",
                        rule: LedgerEnvironment.all.map(\.rawValue).joined(separator: ", "))
                }
                return known
            })
    }

    private static var onlyStore: RunFile? {
        let running = RunFile.allRunning()
        return running.count == 1 ? running.first : nil
    }

    private static func root(
        _ path: String, _ environments: Set<LedgerEnvironment>
    ) throws -> TrustedRoot {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw Failure(
                .input, "fileUnreadable", "\(path) cannot be read.", field: "--trust",
                rule: "a root certificate in DER or PEM")
        }
        return try TrustedRoot(file: [UInt8](bytes), environments: environments)
    }

    private static func roots(
        of url: String, _ environments: Set<LedgerEnvironment>
    ) async throws -> [TrustedRoot] {
        let door = DoorClient(base: url.hasSuffix("/") ? String(url.dropLast()) : url, key: nil)
        var roots: [TrustedRoot] = []
        for (environment, kind) in [
            (LedgerEnvironment.sandbox, "sandbox"), (.production, "production"),
        ] where environments.contains(environment) {
            let der = try await door.bytes("/certificates/root?kind=\(kind)")
            roots.append(try TrustedRoot(file: [UInt8](der), environments: [environment]))
        }
        return roots
    }
}
