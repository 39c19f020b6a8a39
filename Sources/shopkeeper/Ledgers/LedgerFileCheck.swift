// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Ledger
import LedgerFile
import Shop
import ShopServer
import StoreWire

/// Checks what a ledger's file refers to, by the code that `ledger serve` reads it with:
/// files, secrets, and settings that have to fit each other. It asks no other machine.
///
/// `ledger check` and `ledger serve` use it, so that what one accepts the other does too.
struct LedgerFileCheck {
    let file: LedgerFile
    /// The file's path as it was given.
    let name: String
    /// Those that count, with paths relative to the file's folder: a setting in whose place
    /// an option is given is not there.
    let settings: LedgerSettings
    /// The options that count, from the command and the file.
    let trust: TrustOptions
    let proxy: ProxyOptions

    private var problems: [LedgerFileProblem] = []

    init(
        _ file: LedgerFile, name: String, settings: LedgerSettings, trust: TrustOptions,
        proxy: ProxyOptions
    ) {
        (self.file, self.name, self.settings) = (file, name, settings)
        (self.trust, self.proxy) = (trust, proxy)
    }

    /// Throws every problem with its line, and status 65.
    static func refuse(
        _ file: LedgerFile, name: String, settings: LedgerSettings, trust: TrustOptions,
        proxy: ProxyOptions
    ) throws {
        var check = LedgerFileCheck(
            file, name: name, settings: settings, trust: trust, proxy: proxy)
        try check.run()
        guard check.problems.isEmpty else {
            throw LedgerConfigOption.invalid(
                LedgerFileFault(name: name, problems: check.problems))
        }
    }

    private mutating func run() throws {
        let (name, settings, trust) = (name, settings, trust)
        let environments = try trust.environments()
        problems += file.plainAddresses(booking: environments)
        for (index, path) in settings.trust.enumerated() {
            check("ledger.trust.\(index)") { _ = try TrustOptions.root(path, environments) }
        }
        for (index, path) in settings.trustReceipts.enumerated() {
            check("ledger.trustReceipts.\(index)") {
                _ = try TrustOptions.root(path, environments, field: "--trust-receipts")
            }
        }
        for (index, text) in settings.rootFingerprint.enumerated() {
            check("ledger.rootFingerprint.\(index)") { _ = try TrustOptions.pin(text) }
        }
        let isPinned = !trust.rootFingerprint.isEmpty
        for (index, url) in settings.trustStore.enumerated() {
            check("ledger.trustStore.\(index)") {
                try TrustOptions.checkStore(url, isPinned: isPinned)
            }
        }
        if !settings.trustReceipts.isEmpty {
            check("ledger.trustReceipts") { try trust.checkReceipts() }
        }
        // Without an app, the app of the only store that runs is booked.
        if settings.appID != nil, trust.bundleId.count > 1 {
            check("ledger.appId") { try trust.checkNumber(of: trust.bundleId.count) }
        }
        checkAddresses()
        if let path = settings.metricsKey {
            check("ledger.metricsKey") { _ = try DoorKeyOptions.key(.metrics, file: path) }
        }
        // Standard input can be read once only.
        if let database = settings.database, database != "@-" {
            check("ledger.database") { _ = try SecretFile.value(database, field: "--database") }
        }
        for (index, webhook) in file.webhooks.enumerated() {
            check("webhooks.\(index).secretFile") {
                _ = try LedgerConfigOption.endpoint(webhook, name)
            }
        }
        if let tokens = file.accounts.tokens {
            check("accounts.jwt.jwks") { _ = try LedgerConfigOption.tokens(tokens, name) }
        }
    }

    /// Where the server listens, and where others reach it.
    private mutating func checkAddresses() {
        let (settings, proxy) = (settings, proxy)
        if settings.publicURL != nil {
            check("ledger.publicUrl") { _ = try proxy.url() }
        }
        if !settings.behindProxy.isEmpty {
            check("ledger.behindProxy") { _ = try proxy.proxies() }
        }
        guard let host = settings.host else { return }
        let proxies: TrustedProxies?
        // What is wrong with the proxy has its own line.
        do { proxies = try proxy.proxies() } catch { return }
        check("ledger.host") {
            _ = try ShopServerConfiguration(
                host: host, port: settings.port ?? 0, proxies: proxies)
        }
    }

    /// Notes why `body` fails with the line of a setting.
    private mutating func check(_ setting: String, _ body: () throws -> Void) {
        do { try body() } catch let failure as Failure {
            note(failure.error, setting)
        } catch let error as WireError {
            note(error, setting)
        } catch {
            note(Failure(unexpected: error).error, setting)
        }
    }

    private mutating func note(_ error: WireError, _ setting: String) {
        let message =
            error.message.hasSuffix(".") ? String(error.message.dropLast()) : error.message
        problems.append(
            LedgerFileProblem(
                line: file.line(of: setting),
                rule: error.rule.map { "\(message) (\($0))" } ?? message,
                remedy: error.remedy ?? "correct it"))
    }
}
