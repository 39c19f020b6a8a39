// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import Ledger
import SignedData

/// Options with which a ledger asks the store, and sends notifications on.
struct LedgerStoreOptions: ParsableArguments {
    @Option(
        name: .long,
        help: "The store's API key (.p8), to look up transactions and missed notifications.")
    var apiKey: String?

    @Option(name: .long, help: "The id of --api-key.") var apiKeyId: String?
    @Option(name: .long, help: "The issuer of --api-key.") var apiIssuer: String?

    @Option(
        name: .long,
        help: "The address of production's App Store Server API; default: Apple's.")
    var apiUrl: String?

    @Option(
        name: .long, help: "The address of the sandbox's App Store Server API; default: Apple's.")
    var sandboxApiUrl: String?

    @Option(name: .long, help: "A file with the app's shared secret, for verifyReceipt.")
    var sharedSecret: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The most calls to the store in a second; default: 20 in production, 2 in a "
                + "sandbox.", valueName: "number"))
    var callsPerSecond: Int?

    @Option(
        name: .long,
        help: "A URL to send a copy of each notification on to, as it came. Repeatable.")
    var forwardTo: [String] = []

    /// Whether the ledger calls anyone.
    var areGiven: Bool { apiKey != nil || !forwardTo.isEmpty }

    /// Adds them to a ledger's configuration.
    func add(to configuration: inout LedgerConfiguration) throws {
        try checkForwards()
        configuration.forwardsTo = forwardTo
        guard let apiKey else {
            guard apiKeyId == nil, apiIssuer == nil, apiUrl == nil, sandboxApiUrl == nil,
                sharedSecret == nil, callsPerSecond == nil
            else { throw Self.incomplete("--api-key") }
            return
        }
        guard let apiKeyId else { throw Self.incomplete("--api-key-id") }
        guard let apiIssuer else { throw Self.incomplete("--api-issuer") }
        guard callsPerSecond.map({ (1...10_000).contains($0) }) != false else {
            throw Failure(
                .usage, "callsPerSecondInvalid", "That is no number of calls.",
                field: "--calls-per-second", rule: "1 to 10000")
        }
        let addresses = try configuration.environments.compactMap {
            try address($0, configuration)
        }
        configuration.stores = [
            try StoreAccess(
                addresses: addresses,
                key: StoreAccess.Key(
                    issuerID: apiIssuer, keyID: apiKeyId,
                    privateKeyPEM: try SecretFile.read(apiKey, field: "--api-key")),
                sharedSecret: try sharedSecret.map {
                    try SecretFile.readLine($0, field: "--shared-secret")
                })
        ]
    }

    private func address(
        _ environment: Environment, _ configuration: LedgerConfiguration
    ) throws -> StoreAccess.Address? {
        guard [.production, .sandbox].contains(environment) else { return nil }
        let roots = configuration.roots.filter { $0.environments.contains(environment) }
        guard let root = roots.first, roots.count == 1 else {
            throw Failure(
                .usage, "apiKeyAmbiguous", "Which store has that key?", field: "--api-key",
                rule: "one trusted root for \(environment.rawValue)",
                remedy: "serve a ledger for each store")
        }
        let url = environment == .production ? apiUrl : sandboxApiUrl
        if let url {
            try Self.check(url, environment == .production ? "--api-url" : "--sandbox-api-url")
        }
        return StoreAccess.Address(
            environment: environment, root: root.certificate, api: url,
            callsPerSecond: callsPerSecond)
    }

    private func checkForwards() throws {
        for url in forwardTo { try Self.check(url, "--forward-to") }
    }

    private static func check(_ url: String, _ field: String) throws {
        let parts = URLComponents(string: url)
        guard let host = parts?.host, !host.isEmpty, url.utf8.count <= 2048,
            ["http", "https"].contains(parts?.scheme?.lowercased()), parts?.user == nil
        else {
            throw Failure(
                .usage, "urlInvalid", "\(url) is no address of a server.", field: field,
                rule: "an http or https URL with a host; https for production")
        }
    }

    private static func incomplete(_ field: String) -> Failure {
        Failure(
            .usage, "apiKeyIncomplete", "A key needs its file, its id and its issuer.",
            field: field, rule: "--api-key, --api-key-id and --api-issuer together",
            remedy: "the store shows all three where it creates the key")
    }
}
