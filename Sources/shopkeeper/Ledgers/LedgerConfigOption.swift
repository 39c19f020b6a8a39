// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Ledger
import LedgerFile
import SignedData

/// The file with a ledger's configuration.
struct LedgerConfigOption: ParsableArguments {
    @Option(
        name: .long,
        help: "A ledger.yaml: what products grant, and these options' values. Options win.")
    var config: String?

    /// Returns the configuration with paths that are relative to the file's folder.
    /// Without a file it is empty.
    func file() throws -> (grants: LedgerFile?, settings: LedgerSettings) {
        guard let config else { return (nil, LedgerSettings()) }
        let file = try Self.read(config)
        return (file, Self.placed(file.settings, config))
    }

    /// Returns settings with paths that are relative to the folder of the file `config`.
    static func placed(_ settings: LedgerSettings, _ config: String) -> LedgerSettings {
        var settings = settings
        let place = { (path: String) in Self.place(path, config) }
        settings.trust = settings.trust.map(place)
        settings.trustReceipts = settings.trustReceipts.map(place)
        settings.data = settings.data.map(place)
        settings.metricsKey = settings.metricsKey.map(place)
        if let database = settings.database, database.hasPrefix("@"), database != "@-" {
            settings.database = "@" + place(String(database.dropFirst()))
        }
        return settings
    }

    private static func place(_ path: String, _ config: String) -> String {
        let folder = URL(fileURLWithPath: config).deletingLastPathComponent()
        return URL(fileURLWithPath: path, relativeTo: folder).standardizedFileURL.path
    }

    /// Adds what the file says about accounts to a ledger's configuration.
    func add(_ file: LedgerFile?, to configuration: inout LedgerConfiguration) throws {
        guard let file, let config else { return }
        configuration.limits = file.limits
        configuration.retention = file.retention
        configuration.webhooks = try file.webhooks.map { try Self.endpoint($0, config) }
        configuration.accounts = AccountRules(
            tokens: try file.accounts.tokens.map { try Self.tokens($0, config) },
            sandboxTesters: file.accounts.sandboxTesters, restore: file.accounts.restore)
    }

    static func endpoint(
        _ webhook: LedgerWebhookSettings, _ config: String
    ) throws -> WebhookEndpoint {
        try WebhookEndpoint(
            url: webhook.url,
            secret: try SecretFile.readLine(
                place(webhook.secretFile, config), field: "webhooks.secretFile"),
            isOrdered: webhook.isOrdered, events: webhook.events)
    }

    static func tokens(
        _ settings: LedgerAccountSettings.Tokens, _ config: String
    ) throws -> AccountRules.Tokens {
        let rules = AccountTokenRules(
            issuer: settings.issuer, audience: settings.audience,
            claim: settings.claim ?? "sub",
            lifetimeSecondsMax: settings.lifetimeSeconds ?? AccountTokenRules.daySeconds)
        if settings.isAddress { return AccountRules.Tokens(rules, url: settings.keySet) }
        let path = place(settings.keySet, config)
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw Failure(
                .input, "fileUnreadable", "\(path) cannot be read.", field: "accounts.jwt.jwks",
                rule: "a JSON Web Key Set: its https address, or its file",
                remedy: "name one of them")
        }
        return try AccountRules.Tokens(rules, keySet: [UInt8](bytes))
    }

    /// Reads a file. Throws a failure with status 65 and the line of each mistake.
    static func read(_ path: String) throws -> LedgerFile {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw Failure(
                .input, "fileUnreadable", "\(path) cannot be read.", field: "FILE",
                remedy: "name a ledger.yaml")
        }
        do { return try LedgerFile(yaml: [UInt8](bytes), name: path) } catch {
            throw invalid(error)
        }
    }

    static func invalid(_ fault: LedgerFileFault) -> Failure {
        Failure(
            .input, "ledgerFileInvalid", fault.description, field: "FILE",
            rule: "a ledger.yaml as docs/LEDGER.md describes it",
            remedy: "mend the lines named and try again")
    }
}
