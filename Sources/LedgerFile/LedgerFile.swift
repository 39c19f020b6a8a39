// SPDX-License-Identifier: Apache-2.0

package import Commerce
public import Ledger

/// A ledger's configuration in YAML, `ledger.yaml`: what its products grant, and
/// the settings that the options of `ledger serve` have too.
///
/// ```yaml
/// ledger:
///   bundleId: com.example.journal
///   environment: [Production, Sandbox]
/// products:
///   com.example.pro:
///     entitlement: pro
///     lasts: forever
///   com.example.coins.100:
///     credits: coins
///     amount: 100
///     onReversal: debt
/// ```
public struct LedgerFile: Hashable, Sendable {
    public var grants = GrantRules.none
    public var settings = LedgerSettings()
    public var accounts = LedgerAccountSettings()
    public var limits = CallLimits()
    public var webhooks: [LedgerWebhookSettings] = []
    public var retention = LedgerRetention.usual
    /// The line of each setting that names a place elsewhere, by its path:
    /// `ledger.trust.0`, `webhooks.1.url`.
    private var lines: [String: Int] = [:]

    /// The size of the largest file that is read.
    public static let bytesMax = 1024 * 1024
    /// The most products in a file.
    public static let productsMax = 10_000

    /// Reads a file. Throws ``LedgerFileFault`` with every problem and its line.
    public init(yaml: [UInt8], name: String) throws(LedgerFileFault) {
        var reader = LedgerFileReader()
        reader.read(yaml, into: &self)
        guard reader.problems.isEmpty else {
            throw LedgerFileFault(name: name, problems: reader.problems)
        }
        lines = reader.lines
    }

    /// Returns the line of a setting, or of the list that it is in.
    package func line(of setting: String) -> Int {
        lines[setting] ?? lines[setting + ".0"] ?? 1
    }

    /// Returns what breaks the rule that a ledger which books production calls the
    /// merchant's servers over HTTPS only.
    package func plainAddresses(booking environments: Set<Environment>) -> [LedgerFileProblem] {
        guard environments.contains(.production) else { return [] }
        var addresses = webhooks.enumerated().map { ("webhooks.\($0).url", $1.url) }
        if let tokens = accounts.tokens, tokens.isAddress {
            addresses.append(("accounts.jwt.jwks", tokens.keySet))
        }
        return addresses.filter { !$0.1.hasPrefix("https://") }.map { setting, _ in
            LedgerFileProblem(
                line: line(of: setting),
                rule: "where production is booked, an address begins with https://",
                remedy: "write the https address of the server")
        }
    }
}

/// How accounts prove who they are, and what they may do beyond the usual.
public struct LedgerAccountSettings: Hashable, Sendable {
    /// The merchant's own tokens.
    public struct Tokens: Hashable, Sendable {
        /// The address of a JSON Web Key Set, or the path of its file, relative to the
        /// folder of this one.
        public var keySet: String
        public var issuer: String
        public var audience: String
        public var claim: String?
        public var lifetimeSeconds: Int64?

        /// Whether ``keySet`` is an address.
        public var isAddress: Bool {
            keySet.hasPrefix("https://") || keySet.hasPrefix("http://")
        }
    }

    public var tokens: Tokens?
    public var sandboxTesters: [String] = []
    public var restore = RestorePolicy.refuse

    public init() {}
}

/// A server that hears of what happens.
public struct LedgerWebhookSettings: Hashable, Sendable {
    public var url: String
    /// The path of a file with the secret, relative to the folder of this one.
    public var secretFile: String
    public var isOrdered: Bool
    /// Nil for all.
    public var events: Set<WebhookEvent>?
}

/// The settings of a ledger's server. Nil, or an empty list, where the file has
/// none. Paths are as they are written: relative to the file's folder.
public struct LedgerSettings: Hashable, Sendable {
    public var trust: [String] = []
    public var trustReceipts: [String] = []
    public var trustStore: [String] = []
    public var rootFingerprint: [String] = []
    public var bundleID: [String] = []
    public var appID: Int64?
    public var environment: [String] = []
    public var host: String?
    public var port: Int?
    public var behindProxy: [String] = []
    public var behindAnyProxy: Bool?
    public var publicURL: String?
    public var data: String?
    public var database: String?
    public var metricsKey: String?
    public var onlineChecks: String?
    public var logLevel: String?

    public init() {}
}

/// A problem in a ledger's file: the line, the rule and the remedy.
public struct LedgerFileProblem: Hashable, Sendable {
    /// From 1.
    public let line: Int
    public let rule: String
    public let remedy: String

    package init(line: Int, rule: String, remedy: String) {
        (self.line, self.rule, self.remedy) = (line, rule, remedy)
    }
}

/// The file cannot be used. Contains every reason that was found.
public struct LedgerFileFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file's name as the caller gave it.
    public let name: String
    /// Never empty. In the order of the lines.
    public let problems: [LedgerFileProblem]

    package init(name: String, problems: [LedgerFileProblem]) {
        self.name = name
        self.problems = problems.enumerated().sorted {
            ($0.element.line, $0.offset) < ($1.element.line, $1.offset)
        }.map(\.element)
    }

    /// `FILE:LINE: RULE: REMEDY`, one line for each problem.
    public var description: String {
        problems.map { "\(name):\($0.line): \($0.rule): \($0.remedy)" }
            .joined(separator: "\n")
    }
}
