// SPDX-License-Identifier: Apache-2.0

public import Commerce
public import SignedData
public import Storage
import StoreWire

/// The merchant's ledger. It books every purchase that a trusted root has
/// signed once, with its account, and what was spent of it for which purpose.
///
/// It knows a store only by its signatures, so purchases from Apple and from
/// Shopkeeper are booked alike.
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
    /// Nil if no store is called.
    let client: StoreClient?
    let figures = LedgerFigures()
    let news = LedgerNews()
    let errands = LedgerErrands()
    let memo = EntitlementMemo()
    /// The redemptions of each account.
    let redemptions = SharedCommits<
        NotedRedemption, (redemption: LedgerRedemption, isNew: Bool)
    >()
    /// The key of this process to the ledger's door, for commands on this machine. It
    /// is new at each start and never in the database. Other servers have keys of
    /// their own (``createKey(_:)``).
    public let accessKey: String
    /// The key of the metrics. It opens nothing else.
    public let metricsKey: String
    /// Signs entitlements for use without a connection.
    let signer: PlainKeySigner
    /// Signs tokens that prove an account to this ledger.
    let tokenSigner: PlainKeySigner
    /// Nil unless the merchant's tokens are verified by keys at an address.
    let tokenKeys: AccountKeySource?

    /// The migrations of the ledger's schema, for opening its storage.
    public static let migrations = LedgerSchema.migrations

    private static let metricsDoor = "metrics"
    private static let signingDoor = "entitlements"
    private static let tokenDoor = "accounts"

    /// Opens a ledger in a storage that was opened with ``migrations``. Throws
    /// ``StorageFault``.
    public static func open(
        storage: any Storage, configuration: LedgerConfiguration, ports: LedgerPorts
    ) async throws -> Ledger {
        try await LedgerRestore.checkFinished(storage)
        try await hashDoorKey(storage, at: ports.wall.now)
        let accessKey = ports.randomness.hex(32)
        var metricsKey = ports.metricsKey
        if metricsKey == nil {
            metricsKey = try await key(of: metricsDoor, storage) { ports.randomness.hex(32) }
        }
        let signer = try await self.signer(of: signingDoor, storage)
        let tokenSigner = try await self.signer(of: tokenDoor, storage)
        let client = try ports.stores.map {
            try StoreClient(
                door: $0, configuration, wall: ports.wall, randomness: ports.randomness)
        }
        return Ledger(
            storage: storage, configuration: configuration, ports: ports,
            prover: Prover(configuration), client: client, accessKey: accessKey,
            metricsKey: metricsKey ?? "", signer: signer, tokenSigner: tokenSigner,
            tokenKeys: configuration.accounts.tokens.flatMap { tokens in
                if case .url(let url) = tokens.source {
                    AccountKeySource(url: url, ports)
                } else {
                    nil
                }
            })
    }

    /// Its secret is from the system's generator, even if names are seeded.
    private static func signer(
        of door: String, _ storage: any Storage
    ) async throws -> PlainKeySigner {
        let secret = try await key(of: door, storage) { PlainKeySigner.makeSecret() }
        do { return try PlainKeySigner(secret: secret) } catch {
            throw StorageFault(.malformedRow, "a signing key of the ledger is none")
        }
    }

    /// Returns the key of a door. The first process that needs it generates it.
    private static func key(
        of door: String, _ storage: any Storage, _ make: () -> String
    ) async throws -> String {
        let values: [SQLValue] = [.text(door)]
        if let row = try await storage.read({ try $0.first(Statement.Accounts.key, values) }) {
            return try row.text("secret")
        }
        let fresh = make()
        let stored = try await storage.write { writing in
            try writing.execute(Statement.Accounts.insertKey, values + [.text(fresh)])
            return try writing.first(Statement.Accounts.key, values)?.text("secret")
        }
        guard let stored else { throw StorageFault(.unreadable, "the ledger's key is not there") }
        return stored
    }

    /// Whether a key is this process's own to the ledger's door. The time of the comparison
    /// reveals nothing but the key's length.
    public func admits(_ key: String) -> Bool { Self.isSame(key, accessKey) }

    /// How many calls the ledger's server answers in a second.
    public var limits: CallLimits { configuration.limits }

    /// Whether a key opens the ledger's metrics.
    public func admitsToFigures(_ key: String) -> Bool { Self.isSame(key, metricsKey) }

    static func isSame(_ key: String, _ other: String) -> Bool {
        let (given, right) = (key.utf8, other.utf8)
        guard given.count == right.count, !right.isEmpty else { return false }
        var difference: UInt8 = 0
        for (one, other) in zip(given, right) { difference |= one ^ other }
        return difference == 0
    }

    /// Returns the environment of a request. If it names none, there must be
    /// only one.
    func environment(_ word: String?) throws(LedgerRefusal) -> Environment {
        let accepted = configuration.environments
        guard let word else {
            if let only = accepted.first, accepted.count == 1 { return only }
            throw LedgerRefusal(
                .badRequest, code: "environmentMissing",
                "This ledger books several environments; which is meant?", field: "environment",
                rule: words(accepted), remedy: "name one")
        }
        guard let named = Environment(named: word), accepted.contains(named) else {
            throw LedgerRefusal(
                .badRequest, code: "environmentRefused",
                "This ledger books no such environment.", field: "environment",
                rule: words(accepted), remedy: "name one of them")
        }
        return named
    }

    /// Returns the app of a request. If it names none, there must be only one.
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

    private func words(_ environments: Set<Environment>) -> String {
        environments.map(\.rawValue).sorted().joined(separator: " or ")
    }
}

/// Checks whether certificates were revoked, before a proof is booked.
public struct LedgerStatusCheck: Sendable {
    let check: CertificateStatusCheck
    let isHard: Bool

    /// `isHard`: if there is no answer, nothing is booked, as in Apple's
    /// libraries. Otherwise only certificates are rejected that a responder has
    /// signed as revoked.
    public init(_ check: CertificateStatusCheck, isHard: Bool) {
        self.check = check
        self.isHard = isHard
    }

    /// Throws `certificateRevoked`, and with a hard check also `statusUnknown`.
    func admit(_ compact: String, _ field: String) async throws(LedgerRefusal) {
        try admit(await check.verdict(ofSignedJSON: compact), field)
    }

    /// Throws as for a signed transaction.
    func admit(receipt bytes: [UInt8], _ field: String) async throws(LedgerRefusal) {
        try admit(await check.verdict(ofReceipt: bytes), field)
    }

    private func admit(
        _ verdict: CertificateStatusCheck.Verdict, _ field: String
    ) throws(LedgerRefusal) {
        switch verdict {
        case .good, .noAddress: return
        case .revoked:
            throw LedgerRefusal(
                .badRequest, code: "certificateRevoked",
                "It was signed with a certificate that is revoked.", field: field,
                rule: "the certificates' status address reports them as valid",
                remedy: "fetch it from the store again, which signs with valid certificates")
        case .unanswered:
            guard isHard else { return }
            throw LedgerRefusal(
                .unavailable, code: "statusUnknown",
                "It could not be checked whether its certificates are still valid.", field: field,
                rule: "their authority answers at the status address that they name",
                remedy: "send it again in some seconds; if that does not help, let this ledger "
                    + "reach the address, or serve it with `--online-checks soft`")
        }
    }
}

/// What a ledger needs from outside, except its storage.
public struct LedgerPorts: Sendable {
    /// Dates redemptions, and is the time against which production's signed
    /// dates are checked.
    public var wall: WallClock
    /// Generates the key of its door.
    public var randomness: Randomness
    /// Logs one sentence with facts. Never a purpose, a key or an account.
    public var log: @Sendable (_ message: String, _ facts: [String: String]) -> Void
    /// The key of the metrics, in place of the one that the ledger generates.
    public var metricsKey: String?
    /// Checks the certificates of submitted data. Nil for no check.
    public var status: LedgerStatusCheck?
    /// Calls the configured stores and the merchant's own servers. Nil for no calls.
    public var stores: StoreDoor?
    /// Waits until ``Ledger/work()`` looks for work again, or until an entitlement that is
    /// waited for begins, and ends early when its task is cancelled. Nil to wait by ``stores``. A ledger without calls needs it for its worker.
    public var sleep: (@Sendable (Duration) async throws -> Void)?
    /// Returns the number of commits, if they are counted.
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
