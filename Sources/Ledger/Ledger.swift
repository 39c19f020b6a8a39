// SPDX-License-Identifier: Apache-2.0

public import Commerce
public import SignedData
public import Storage
import StoreWire

/// The merchant's book: every purchase that a trusted root has signed, once;
/// whose it is; and what of it has been spent, for what.
///
/// It knows a store by its signatures alone, so Apple's purchases and
/// Shopkeeper's are booked alike.
///
/// ```swift
/// let ledger = try await Ledger.open(
///     storage: storage, configuration: configuration, ports: ports)
/// let purchase = try await ledger.take(TakePurchaseRequest(signedTransaction: jws))
/// let spent = try await ledger.redeem(
///     RedeemRequest(
///         idempotencyKey: "order-17", transactionId: purchase.transactionId,
///         purpose: "feed a monkey"),
///     account: "blob")
/// ```
public struct Ledger: Sendable {
    let storage: any Storage
    let configuration: LedgerConfiguration
    let ports: LedgerPorts
    let prover: Prover
    let figures = LedgerFigures()
    /// What opens the ledger's door; made at the first start, then kept.
    public let accessKey: String
    /// What opens its figures and nothing else.
    public let metricsKey: String

    /// The steps of the ledger's schema, for whoever opens its storage.
    public static let migrations = LedgerSchema.migrations

    private static let door = "merchant"
    private static let metricsDoor = "metrics"

    /// Takes up the book in a storage that was opened with ``migrations``.
    /// Throws ``StorageFault``.
    public static func open(
        storage: any Storage, configuration: LedgerConfiguration, ports: LedgerPorts
    ) async throws -> Ledger {
        try await LedgerRestore.checkFinished(storage)
        let accessKey = try await key(of: door, storage, ports)
        var metricsKey = ports.metricsKey
        if metricsKey == nil { metricsKey = try await key(of: metricsDoor, storage, ports) }
        return Ledger(
            storage: storage, configuration: configuration, ports: ports,
            prover: Prover(configuration), accessKey: accessKey, metricsKey: metricsKey ?? "")
    }

    /// The key of a door, made by whichever process comes first.
    private static func key(
        of door: String, _ storage: any Storage, _ ports: LedgerPorts
    ) async throws -> String {
        let values: [SQLValue] = [.text(door)]
        if let row = try await storage.read({ try $0.first(Statement.Accounts.key, values) }) {
            return try row.text("secret")
        }
        let fresh = ports.randomness.hex(32)
        let stored = try await storage.write { writing in
            try writing.execute(Statement.Accounts.insertKey, values + [.text(fresh)])
            return try writing.first(Statement.Accounts.key, values)?.text("secret")
        }
        guard let stored else { throw StorageFault(.unreadable, "the ledger's key is not there") }
        return stored
    }

    /// Whether a key opens the ledger's door, compared in a time that tells
    /// nothing but its length.
    public func admits(_ key: String) -> Bool { Self.isSame(key, accessKey) }

    /// Whether a key opens the ledger's figures.
    public func admitsToFigures(_ key: String) -> Bool { Self.isSame(key, metricsKey) }

    private static func isSame(_ key: String, _ other: String) -> Bool {
        let (given, right) = (Array(key.utf8), Array(other.utf8))
        guard given.count == right.count, !right.isEmpty else { return false }
        var difference: UInt8 = 0
        for (one, other) in zip(given, right) { difference |= one ^ other }
        return difference == 0
    }

    /// The environment that a request means: the only one where it names none.
    func environment(_ word: String?) throws(LedgerRefusal) -> LedgerEnvironment {
        let accepted = configuration.environments
        guard let word else {
            if let only = accepted.first, accepted.count == 1 { return only }
            throw LedgerRefusal(
                .badRequest, code: "environmentMissing",
                "This ledger books several environments; which is meant?", field: "environment",
                rule: words(accepted), remedy: "name one")
        }
        guard let named = LedgerEnvironment(named: word), accepted.contains(named) else {
            throw LedgerRefusal(
                .badRequest, code: "environmentRefused",
                "This ledger books no such environment.", field: "environment",
                rule: words(accepted), remedy: "name one of them")
        }
        return named
    }

    /// The app that a request means: the only one where it names none.
    func bundleID(_ word: String?) throws(LedgerRefusal) -> String {
        let accepted = configuration.apps.map(\.bundleID.value)
        if let word, accepted.contains(word) { return word }
        if word == nil, accepted.count == 1, let only = accepted.first { return only }
        throw LedgerRefusal(
            .badRequest, code: word == nil ? "bundleIdMissing" : "bundleIdRefused",
            word == nil
                ? "This ledger books several apps; which is meant?"
                : "This ledger books no such app.",
            field: "bundleId", rule: accepted.sorted().joined(separator: " or "),
            remedy: "name one of them")
    }

    private func words(_ environments: Set<LedgerEnvironment>) -> String {
        environments.map(\.rawValue).sorted().joined(separator: " or ")
    }
}

/// Asks whether certificates were revoked, before a proof is booked.
public struct LedgerStatusCheck: Sendable {
    let check: CertificateStatusCheck
    let isHard: Bool

    /// `isHard`: without an answer nothing is booked, as in Apple's libraries;
    /// else only what a responder has signed as revoked is refused.
    public init(_ check: CertificateStatusCheck, isHard: Bool) {
        self.check = check
        self.isHard = isHard
    }

    /// Throws `certificateRevoked`, and `statusUnknown` where that counts.
    func admit(_ compact: String, _ field: String) async throws(LedgerRefusal) {
        switch await check.verdict(ofSignedJSON: compact) {
        case .good, .noAddress: return
        case .revoked:
            throw LedgerRefusal(
                .badRequest, code: "certificateRevoked",
                "A certificate that this was signed with was revoked.", field: field,
                rule: "certificates hold, by what their authority says at their status address",
                remedy: "fetch it from the store again, which signs with certificates that hold")
        case .unanswered:
            guard isHard else { return }
            throw LedgerRefusal(
                .unavailable, code: "statusUnknown",
                "Nobody has said whether the certificates of this still hold.", field: field,
                rule: "their authority answers at the status address that they name",
                remedy: "send it again in some seconds; if that does not help, let this ledger "
                    + "reach the address, or serve it with `--online-checks soft`")
        }
    }
}

/// What a ledger needs from outside, its storage apart.
public struct LedgerPorts: Sendable {
    /// Dates redemptions, and judges whether production's proof is of today.
    public var wall: WallClock
    /// Makes the key of its door.
    public var randomness: Randomness
    /// Hears one plain sentence and its facts: never a purpose, a key or an account.
    public var log: @Sendable (_ message: String, _ facts: [String: String]) -> Void
    /// Opens the figures, in place of the key that the ledger makes for itself.
    public var metricsKey: String?
    /// Whether the certificates of what is handed in still hold; nil: nobody is asked.
    public var status: LedgerStatusCheck?
    /// How many commits there were, where somebody counts them.
    public var commits: (@Sendable () -> Int)?

    public init(
        wall: WallClock, randomness: Randomness,
        log: @escaping @Sendable (_ message: String, _ facts: [String: String]) -> Void
    ) {
        self.wall = wall
        self.randomness = randomness
        self.log = log
    }
}
