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
        var settings = file.settings
        let folder = URL(fileURLWithPath: config).deletingLastPathComponent()
        let place = { (path: String) in
            URL(fileURLWithPath: path, relativeTo: folder).standardizedFileURL.path
        }
        settings.trust = settings.trust.map(place)
        settings.trustReceipts = settings.trustReceipts.map(place)
        settings.data = settings.data.map(place)
        settings.metricsKey = settings.metricsKey.map(place)
        if let database = settings.database, database.hasPrefix("@"), database != "@-" {
            settings.database = "@" + place(String(database.dropFirst()))
        }
        return (file, settings)
    }

    /// Adds what the file says about accounts to a ledger's configuration.
    func add(_ file: LedgerFile?, to configuration: inout LedgerConfiguration) throws {
        guard let file, let config else { return }
        configuration.limits = file.limits
        configuration.retention = file.retention
        let folder = URL(fileURLWithPath: config).deletingLastPathComponent()
        configuration.webhooks = try file.webhooks.map { webhook in
            let path = URL(fileURLWithPath: webhook.secretFile, relativeTo: folder)
                .standardizedFileURL.path
            return try WebhookEndpoint(
                url: webhook.url,
                secret: try SecretFile.readLine(path, field: "webhooks.secretFile"),
                isOrdered: webhook.isOrdered, events: webhook.events)
        }
        configuration.accounts = AccountRules(
            tokens: try file.accounts.tokens.map { try Self.tokens($0, config) },
            sandboxTesters: file.accounts.sandboxTesters, restore: file.accounts.restore)
    }

    private static func tokens(
        _ settings: LedgerAccountSettings.Tokens, _ config: String
    ) throws -> AccountRules.Tokens {
        let rules = AccountTokenRules(
            issuer: settings.issuer, audience: settings.audience,
            claim: settings.claim ?? "sub",
            lifetimeSecondsMax: settings.lifetimeSeconds ?? AccountTokenRules.daySeconds)
        if settings.isAddress { return AccountRules.Tokens(rules, url: settings.keySet) }
        let path = URL(
            fileURLWithPath: settings.keySet,
            relativeTo: URL(fileURLWithPath: config).deletingLastPathComponent()
        ).standardizedFileURL.path
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
            throw Failure(
                .input, "ledgerFileInvalid", error.description, field: "FILE",
                rule: "a ledger.yaml as docs/LEDGER.md describes it",
                remedy: "mend the lines named and try again")
        }
    }
}
