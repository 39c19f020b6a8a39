// SPDX-License-Identifier: Apache-2.0

public import Commerce
import SignedData
public import StoreWire

/// A certificate whose signatures the ledger trusts, and the environments that
/// it may prove: the root of a sandbox proves nothing about production.
public struct TrustedRoot: Hashable, Sendable {
    /// In DER. Its fingerprint is part of the key of every purchase that it
    /// proves.
    public let certificate: [UInt8]
    public let environments: Set<Environment>
    /// The same store's roots for app receipts, in DER, if they are others. What
    /// they prove is booked as if ``certificate`` had proven it, so that a
    /// transaction has one row, whether a receipt or a signed transaction comes
    /// first.
    public let receiptRoots: [[UInt8]]

    public init(
        certificate: [UInt8], environments: Set<Environment>, receiptRoots: [[UInt8]] = []
    ) {
        self.certificate = certificate
        self.environments = environments
        self.receiptRoots = receiptRoots
    }

    /// Reads files in DER or PEM. Throws ``WireError`` `rootInvalid`.
    public init(
        file bytes: [UInt8], environments: Set<Environment>, receiptRoots: [[UInt8]] = []
    ) throws(WireError) {
        do {
            self.init(
                certificate: try RootCertificate.der(ofFile: bytes), environments: environments,
                receiptRoots: try receiptRoots.map(RootCertificate.der(ofFile:)))
        } catch {
            throw WireError(
                code: "rootInvalid", message: "This is not a root certificate.", field: "root",
                rule: error.message,
                remedy: "use the file of the store, or of Apple's certificate authority")
        }
    }
}

/// An app whose purchases the ledger books.
public struct LedgerApp: Hashable, Sendable {
    public let bundleID: BundleID
    /// The app's number, which notifications of production must contain. Nil
    /// for no check.
    public let appID: Int64?
    public let environments: Set<Environment>

    public init(
        bundleID: BundleID, appID: Int64? = nil, environments: Set<Environment>
    ) {
        self.bundleID = bundleID
        self.appID = appID
        self.environments = environments
    }
}

/// The roots that a ledger trusts and the apps that it books.
public struct LedgerConfiguration: Sendable {
    public let roots: [TrustedRoot]
    public let apps: [LedgerApp]
    /// All environments in which an app is booked.
    public let environments: Set<Environment>
    /// What the products grant.
    public let grants: GrantRules
    /// How to call the trusted stores. Without any, purchases are proven only by what
    /// a store has signed, and gaps in the notifications are not filled.
    public var stores: [StoreAccess] = []
    /// The URLs that receive a copy of each notification as the store sent it.
    public var forwardsTo: [String] = []
    /// How accounts prove who they are.
    public var accounts = AccountRules()
    public var limits = CallLimits()
    /// The merchant's servers that hear of what happens. The ledger needs
    /// ``LedgerPorts/stores`` to call them.
    public var webhooks: [WebhookEndpoint] = []
    /// How long the worker keeps notifications and the audit.
    public var retention = LedgerRetention.usual

    /// Throws ``WireError`` `rootMissing`, `appMissing`, `appTwice`,
    /// `environmentMissing` or `environmentUnproven`.
    public init(
        roots: [TrustedRoot], apps: [LedgerApp], grants: GrantRules = .none
    ) throws(WireError) {
        guard !roots.isEmpty else {
            throw Self.missing("rootMissing", "No root certificate is trusted.", "roots")
        }
        guard !apps.isEmpty else {
            throw Self.missing("appMissing", "No app is accepted.", "apps")
        }
        guard Set(apps.map(\.bundleID)).count == apps.count else {
            throw Self.missing("appTwice", "An app is named twice.", "apps")
        }
        environments = apps.reduce(into: []) { $0.formUnion($1.environments) }
        guard apps.allSatisfy({ !$0.environments.isEmpty }) else {
            throw Self.missing("environmentMissing", "An app has no environment.", "environments")
        }
        let proven = roots.reduce(into: Set<Environment>()) {
            $0.formUnion($1.environments.filter(Environment.known.contains))
        }
        guard environments.isSubset(of: proven) else {
            throw Self.missing(
                "environmentUnproven", "No trusted root may prove one of the environments.",
                "environments")
        }
        self.roots = roots
        self.apps = apps
        self.grants = grants
    }

    private static func missing(_ code: String, _ message: String, _ field: String) -> WireError {
        WireError(
            code: code, message: message, field: field,
            rule: "at least one root, one app, each app once with at least one environment, "
                + "and for each environment a root that may prove it",
            remedy: "add what is missing")
    }
}
