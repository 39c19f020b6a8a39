// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import Ledger
import LedgerFile
import ShopServer
import SignedData

/// Options for the roots that a ledger trusts, and for the apps that it books.
struct TrustOptions: ParsableArguments {
    @Option(
        name: .long,
        help: "A root certificate to trust in every given environment; DER or PEM. Repeatable."
    )
    var trust: [String] = []

    @Option(
        name: .long,
        help: """
            A root of app receipts, if it differs from that of --trust, as Apple's does; DER or \
            PEM. Repeatable.
            """)
    var trustReceipts: [String] = []

    @Option(
        name: .long,
        help: "A store to fetch roots from, each for its own environment. Repeatable.")
    var trustStore: [String] = []

    @Option(
        name: .long,
        help: "SHA-256 of a root that --trust-store may fetch; any other is refused. Repeatable.")
    var rootFingerprint: [String] = []

    @Option(name: .long, help: "An app whose purchases are booked. Repeatable.")
    var bundleId: [String] = []

    @Option(name: .long, help: "The app's number in production's notifications.")
    var appId: Int64?

    @Option(
        name: .long,
        help: "Production, Sandbox, Xcode or LocalTesting; default: Sandbox. Repeatable.")
    var environment: [String] = []

    /// Returns the options, with a file's settings where an option is not given.
    func filled(from settings: LedgerSettings) -> TrustOptions {
        var filled = self
        if trust.isEmpty, trustStore.isEmpty {
            filled.trust = settings.trust
            filled.trustStore = settings.trustStore
        }
        if trustReceipts.isEmpty { filled.trustReceipts = settings.trustReceipts }
        if rootFingerprint.isEmpty { filled.rootFingerprint = settings.rootFingerprint }
        if bundleId.isEmpty { filled.bundleId = settings.bundleID }
        filled.appId = appId ?? settings.appID
        if environment.isEmpty { filled.environment = settings.environment }
        return filled
    }

    func configuration(grants: GrantRules = .none) async throws -> LedgerConfiguration {
        let environments = try self.environments()
        var roots: [TrustedRoot] = []
        var apps = bundleId
        try checkReceipts()
        let receiptRoots = try trustReceipts.map { try Self.bytes($0, "--trust-receipts") }
        for file in trust { roots.append(try Self.root(file, environments, receiptRoots)) }
        let pins = try rootFingerprint.map(Self.pin)
        for url in trustStore { roots += try await Self.roots(of: url, environments, pins) }
        if roots.isEmpty || apps.isEmpty, let run = Self.onlyStore {
            if apps.isEmpty { apps = [run.bundleId] }
            if roots.isEmpty, environments.contains(.sandbox) {
                roots = [try Self.root(run.root, [.sandbox])]
            }
        }
        try checkNumber(of: apps.count)
        return try LedgerConfiguration(
            roots: roots,
            apps: apps.map {
                LedgerApp(bundleID: BundleID($0), appID: appId, environments: environments)
            }, grants: grants)
    }

    /// Receipts and signed transactions of one store belong together.
    func checkReceipts() throws {
        guard trustReceipts.isEmpty || trust.count == 1 else {
            throw Failure(
                .usage, "trustReceiptsAmbiguous", "Which store signs receipts with that root?",
                field: "--trust-receipts", rule: "one --trust beside it",
                remedy: "name the root of the same store's signed transactions with --trust")
        }
    }

    func checkNumber(of apps: Int) throws {
        guard appId == nil || apps == 1 else {
            throw Failure(
                .usage, "appIdAmbiguous", "Whose number is that?", field: "--app-id",
                rule: "a number goes with one app", remedy: "serve one app")
        }
    }

    func environments() throws -> Set<Environment> {
        guard !environment.isEmpty else { return [.sandbox] }
        return Set(
            try environment.map { word in
                guard let known = Environment(named: word) else {
                    throw Failure(
                        .usage, "environmentUnknown", "There is no environment `\(word)`.",
                        field: "--environment",
                        rule: Environment.known.map(\.rawValue).joined(separator: ", "))
                }
                return known
            })
    }

    private static var onlyStore: RunFile? {
        let running = RunFile.allRunning()
        return running.count == 1 ? running.first : nil
    }

    static func root(
        _ path: String, _ environments: Set<Environment>, _ receiptRoots: [[UInt8]] = [],
        field: String = "--trust"
    ) throws -> TrustedRoot {
        try TrustedRoot(
            file: try bytes(path, field), environments: environments,
            receiptRoots: receiptRoots)
    }

    private static func bytes(_ path: String, _ field: String) throws -> [UInt8] {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw Failure(
                .input, "fileUnreadable", "\(path) cannot be read.", field: field,
                rule: "a root certificate in DER or PEM")
        }
        return [UInt8](bytes)
    }

    /// Over plain HTTP an attacker on the way could replace a store's roots, and would be
    /// trusted from then on.
    static func checkStore(_ url: String, isPinned: Bool) throws {
        let parts = URLComponents(string: url)
        let host = parts?.host?.trimmingCharacters(in: ["[", "]"]) ?? ""
        let isSafe = parts?.scheme == "https" || ShopServerConfiguration.isLoopback(host)
        guard !host.isEmpty, isSafe || isPinned else {
            throw Failure(
                .usage, "trustStorePlain", "The root at \(url) could be replaced on its way.",
                field: "--trust-store",
                rule: "an https address, one of this machine, or --root-fingerprint beside it",
                remedy: "ask the store's operator for `openssl x509 -in root.pem -noout "
                    + "-fingerprint -sha256`, or fetch the file safely and name it with --trust")
        }
    }

    /// Fetches a store's roots.
    private static func roots(
        of url: String, _ environments: Set<Environment>, _ pins: [String]
    ) async throws -> [TrustedRoot] {
        try checkStore(url, isPinned: !pins.isEmpty)
        let door = DoorClient(base: url.hasSuffix("/") ? String(url.dropLast()) : url, key: nil)
        var roots: [TrustedRoot] = []
        for (environment, kind) in [
            (Environment.sandbox, "sandbox"), (.production, "production"),
        ] where environments.contains(environment) {
            let der = [UInt8](try await door.bytes("/certificates/root?kind=\(kind)"))
            let fingerprint = CertificateAuthority.fingerprint(of: der)
            guard pins.isEmpty || pins.contains(fingerprint) else {
                throw Failure(
                    .no, "rootNotPinned", "\(url) has another \(kind) root: \(fingerprint).",
                    field: "--root-fingerprint", rule: "a root with a fingerprint that is named",
                    remedy: "ask the store's operator which root is right")
            }
            roots.append(try TrustedRoot(file: der, environments: [environment]))
        }
        return roots
    }

    /// Reads a fingerprint: 64 hexadecimal digits in upper or lower case.
    /// Colons between them, as openssl writes them, are ignored.
    static func pin(_ text: String) throws -> String {
        let digits = text.lowercased().filter { $0 != ":" }
        guard digits.utf8.count == 64, digits.allSatisfy(\.isHexDigit) else {
            throw Failure(
                .usage, "fingerprintInvalid", "`\(text)` is no fingerprint.",
                field: "--root-fingerprint", rule: "64 hexadecimal digits, colons allowed",
                remedy: "print it with openssl x509 -in root.pem -noout -fingerprint -sha256")
        }
        return digits
    }
}
