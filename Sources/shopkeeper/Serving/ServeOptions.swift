// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CatalogueFile
import CatalogueOverlay
import Commerce
import Foundation
import Logging
import Shop
import ShopServer
import StoreWire

/// The options for serving a store, shared by `serve` and `exec`.
struct ServeOptions: ParsableArguments {
    @Option(name: .long, help: "The bundle id of the app that sells the file's products.")
    var bundleId: String?

    @Option(name: .long, help: "The app's number in production's signed data.")
    var appId: Int64?

    @Option(name: .long, help: "The address to listen at: loopback, unless behind a proxy.")
    var host = "127.0.0.1"

    @Option(name: .long, help: "The port; 0 for any free one.")
    var port: Int?

    @Option(
        name: .long,
        help: """
            A port with TLS too, for clients that know only Apple's hosts; 0 for any free one. \
            They must trust the store's root certificate.
            """)
    var tlsPort: Int?

    @Option(name: .long, help: "The data directory: databases and keys.")
    var data: String?

    @Flag(name: .long, help: "Keep databases in memory; keys stay in the data directory.")
    var inMemory = false

    @Option(
        name: .long,
        help: """
            Use PostgreSQL: a URL or another connection string of libpq; '' for libpq's \
            environment variables; @FILE or @- to read it from a file or standard input.
            """)
    var database: String?

    @Option(
        name: .long,
        help: """
            The folder of hosted content; default: `content` in the data directory, with \
            --database none. Servers that share a database share this folder too.
            """)
    var contentFolder: String?

    @Option(
        name: .long,
        help: "Split the tables of new realms by customer into this many parts.")
    var partitions: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Another PostgreSQL for the customers of some buckets, or BUCKETS=@FILE; "
                + "repeatable. Fixed when the store is created.",
            valueName: "500-999=postgres://…"))
    var cluster: [String] = []

    @Option(name: .long, help: "The file with the key that seals the keys in PostgreSQL.")
    var sealKey: String?

    @Option(
        name: .long, help: "The seed of a new default realm: the same commands give the same ids.")
    var seed: Int64?

    @Option(
        name: .long,
        help: """
            The environment of a new default realm, in what it signs: Sandbox, or for clients \
            that test against them, LocalTesting or Xcode.
            """)
    var environment: String?

    @Option(name: .long, help: "The cost of a password hash: scrypt's N, a power of two.")
    var scryptRounds = PasswordCost.standard.rounds

    @Option(name: .long, help: "The URL for the app's notifications from now on.")
    var notify: String?

    @Option(name: .long, help: "The URL of a payment processor; production realms sell through it.")
    var processor: String?

    @Option(
        name: .long, help: "A realm, also a sandbox, that sells through the processor; repeatable.")
    var processorRealm: [String] = []

    @OptionGroup var realms: RealmOptions
    @OptionGroup var proxy: ProxyOptions
    @OptionGroup var doorKeys: DoorKeyOptions

    @Flag(
        name: .long,
        help: "Behind a proxy, sign clients in as sandbox customers without a password.")
    var openSandboxes = false

    /// Whether a device may sign in to a sandbox without a password.
    var opensSandboxes: Bool { !proxy.isOpen || openSandboxes }

    @Option(
        name: .long,
        help: "The most open connections; fewer if the process may not open as many files.")
    var connectionsMax: Int?

    @Option(name: .long, help: "The log on standard error: debug, info, notice, warning or error.")
    var logLevel = "notice"

    @Option(
        name: .long,
        help: "The status address in new certificates: …/certificates/status.")
    var statusURL: String?

    /// Returns the options with the secrets from files. Must be called only
    /// once, because standard input can be read only once.
    func withSecrets() throws -> ServeOptions {
        var options = self
        options.database = try database.map { try SecretFile.value($0, field: "--database") }
        options.cluster = try cluster.map(ServedClusters.withSecret)
        return options
    }

    /// Returns the status URL if libraries can call it. Certificates contain it
    /// permanently.
    func checkedStatusURL() throws -> String? {
        guard let statusURL else { return nil }
        let parts = URLComponents(string: statusURL)
        guard ["http", "https"].contains(parts?.scheme), parts?.host?.isEmpty == false,
            parts?.query == nil, parts?.fragment == nil, statusURL.utf8.count <= 500
        else {
            throw Failure(
                .usage, "statusURLInvalid", "Certificates cannot name \(statusURL).",
                field: "--status-url", rule: "an http or https address without a query",
                remedy: "name the store's own, such as http://shop.example/certificates/status")
        }
        return statusURL
    }

    func passwordCost() throws -> PasswordCost {
        guard (2...1_048_576).contains(scryptRounds), scryptRounds & (scryptRounds - 1) == 0 else {
            throw Failure(
                .usage, "scryptRoundsInvalid", "scrypt does not take \(scryptRounds) rounds.",
                field: "--scrypt-rounds", rule: "a power of two from 2 to 1048576",
                remedy: "leave it out for \(PasswordCost.standard.rounds)")
        }
        return PasswordCost(rounds: scryptRounds)
    }

    /// The addresses to listen on, and the proxies.
    func configuration(port: Int) throws -> ShopServerConfiguration {
        var configuration = try proxy.configuration(host: host, port: port)
        configuration.listeners = try realms.listeners(beside: port)
        if let connectionsMax {
            guard (1...1_000_000).contains(connectionsMax) else {
                throw Failure(
                    .usage, "connectionsMaxInvalid", "There cannot be \(connectionsMax).",
                    field: "--connections-max", rule: "1 to 1000000",
                    remedy: "leave it out for \(configuration.connectionsMax)")
            }
            configuration.limitConnections(to: connectionsMax)
        }
        return configuration
    }

    func level() throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: logLevel) else {
            throw Failure(
                .usage, "logLevelUnknown", "There is no log level `\(logLevel)`.",
                field: "--log-level", rule: "debug, info, notice, warning or error")
        }
        return level
    }

    /// Returns the function that selects the payment processor of a realm.
    /// Without `--processor` there is none.
    func authoriser() throws -> @Sendable (RealmDescription) -> (any Authoriser)? {
        guard let processor else {
            guard processorRealm.isEmpty else {
                throw Failure(
                    .usage, "processorMissing", "There is no processor to sell through.",
                    field: "--processor-realm", rule: "--processor names it",
                    remedy: "add --processor URL, or leave --processor-realm out")
            }
            return { _ in nil }
        }
        let live = try LiveProcessor(url: processor)
        let named = Set(processorRealm)
        return { realm in
            realm.environment == .production || named.contains(realm.name) ? live : nil
        }
    }

    /// Returns the app with its catalogue: the file's, or the built-in one.
    func app(file: String?) throws -> ServedApp {
        guard let file else {
            return ServedApp(
                bundleID: bundleId ?? BuiltInCatalogue.bundleID, appID: appId,
                catalogue: BuiltInCatalogue.catalogue, warnings: [])
        }
        // Determined before reading, so that no later change is missed.
        let state = CatalogueState(of: file)
        let read = try CatalogueFile(contentsOf: file)
        let overlay = try CatalogueOverlay.beside(file)
        return ServedApp(
            bundleID: bundleId ?? overlay?.bundleID ?? "com.example.app",
            appID: appId ?? overlay?.appID ?? read.catalogue.appID,
            catalogue: read.catalogue, file: read, overlay: overlay, state: state,
            warnings: (read.warnings + read.unobeyed).map(\.description))
    }
}

/// An app with its catalogue and the file's warnings.
struct ServedApp: Sendable {
    let bundleID: String
    let appID: Int64?
    let catalogue: Catalogue
    /// Nil for the built-in catalogue.
    var file: CatalogueFile?
    /// The overlay beside the file.
    var overlay: CatalogueOverlay?
    /// The state of the file when it was read.
    var state: CatalogueState?
    let warnings: [String]
}

/// The catalogue that is used without a file: the sample's products.
enum BuiltInCatalogue {
    static let bundleID = "com.example.monkeycredits"

    static let catalogue = Catalogue(
        products: [
            pack(5, price: 990, details: "A handful of credits to feed a monkey."),
            pack(10, price: 1790, details: "A bunch of credits to feed many monkeys."),
        ], storefront: "USA", locale: "en_US")

    private static func pack(_ credits: Int, price: Int64, details: String) -> Product {
        Product(
            id: ProductID("\(bundleID).credits\(credits)"), kind: .consumable,
            referenceName: "\(credits) credits", price: Amount(milliunits: price),
            localizations: [
                Localization(
                    locale: "en_US", displayName: "\(credits) Monkey Credits", details: details)
            ])
    }
}
