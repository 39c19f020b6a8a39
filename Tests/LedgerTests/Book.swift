// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire
import Testing

@testable import Ledger

/// What a test does to a purchase's facts.
struct FieldChange: CustomTestStringConvertible, Sendable {
    let field: String
    let make: @Sendable (inout JWSTransactionDecodedPayload) -> Void

    init(
        _ field: String, _ make: @escaping @Sendable (inout JWSTransactionDecodedPayload) -> Void
    ) {
        self.field = field
        self.make = make
    }

    var testDescription: String { field }
}

/// A ledger on the engine under test, and the authorities whose purchases it is handed.
struct Book: Sendable {
    static let now = Timestamp(milliseconds: 1_760_000_000_000)
    static let bundleID: BundleID = "com.example.monkeys"
    static let blob = "11111111-2222-4333-8444-555555555555"

    let ledger: Ledger
    let storage: any Storage

    // Each costs an RSA key: made once.
    private static let authorities = Result {
        (
            sandbox: try CertificateAuthority.make(.sandbox),
            production: try CertificateAuthority.make(.production),
            foreign: try CertificateAuthority.make(.sandbox),
            addressed: try CertificateAuthority.make(
                .sandbox, statusURL: "http://127.0.0.1:1/status")
        )
    }

    static func sandbox() throws -> CertificateAuthority { try authorities.get().sandbox }
    static func production() throws -> CertificateAuthority { try authorities.get().production }
    /// One whose certificates name an address at which to ask about them.
    static func addressed() throws -> CertificateAuthority { try authorities.get().addressed }
    static func foreign() throws -> CertificateAuthority { try authorities.get().foreign }

    /// Trusts the sandbox's root for the sandbox and production's for
    /// production; every write is run twice.
    static func open(
        environments: Set<Environment> = [.sandbox],
        apps: [BundleID] = [Book.bundleID], appID: Int64? = nil, storage: (any Storage)? = nil,
        moreRoots: [TrustedRoot] = [], status: LedgerStatusCheck? = nil,
        wall: WallClock = .standing(at: now), grants: GrantRules = .none,
        sleep: (@Sendable (Duration) async throws -> Void)? = nil
    ) async throws -> Book {
        var own = storage
        if own == nil { own = try await Shelf.storage() }
        let storage = try #require(own)
        let configuration = try LedgerConfiguration(
            roots: [
                TrustedRoot(certificate: try sandbox().root, environments: [.sandbox, .xcode]),
                TrustedRoot(certificate: try addressed().root, environments: [.sandbox]),
                TrustedRoot(certificate: try production().root, environments: [.production]),
            ] + moreRoots,
            apps: apps.map {
                LedgerApp(bundleID: $0, appID: appID, environments: environments)
            }, grants: grants)
        var ports = LedgerPorts(wall: wall, randomness: .seeded(1)) { _, _ in }
        ports.status = status
        ports.sleep = sleep
        let ledger = try await Ledger.open(
            storage: storage, configuration: configuration, ports: ports)
        return Book(ledger: ledger, storage: storage)
    }

    /// A purchase's facts, changed as the test wants them.
    static func payload(
        _ id: Int = 1, _ change: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> JWSTransactionDecodedPayload {
        var payload = JWSTransactionDecodedPayload()
        payload.transactionId = "\(2_000_000_000_000_000 + id)"
        payload.originalTransactionId = payload.transactionId
        payload.bundleId = bundleID.value
        payload.productId = "credits.5"
        payload.purchaseDate = now.adding(milliseconds: Int64(id))
        payload.quantity = 1
        payload.type = "Consumable"
        payload.signedDate = now
        payload.environment = "Sandbox"
        payload.price = 990
        payload.currency = "USD"
        change(&payload)
        return payload
    }

    static func signed(
        _ id: Int = 1, by authority: CertificateAuthority? = nil,
        _ change: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) throws -> String {
        try (authority ?? sandbox()).transactions.sign(payload(id, change))
    }

    static func notification(
        _ transaction: String?, by authority: CertificateAuthority? = nil,
        type: String = "ONE_TIME_CHARGE", id: String = "6b1f0b9e-2f5c-4d0e-9a57-0d6f3c1e8a11",
        _ change: (inout NotificationData) -> Void = { _ in }
    ) throws -> ResponseBodyV2 {
        var data = NotificationData()
        data.bundleId = bundleID.value
        data.environment = "Sandbox"
        data.signedTransactionInfo = transaction
        change(&data)
        var payload = ResponseBodyV2DecodedPayload()
        payload.notificationType = type
        payload.notificationUUID = id
        payload.signedDate = now
        payload.data = data
        return ResponseBodyV2(
            signedPayload: try (authority ?? sandbox()).transactions.sign(payload))
    }

    /// The same books with another policy of restores.
    func reopened(
        _ policy: RestorePolicy, webhooks: [WebhookEndpoint] = []
    ) async throws -> Book {
        var configuration = ledger.configuration
        configuration.accounts = AccountRules(restore: policy)
        configuration.webhooks = webhooks
        return Book(
            ledger: try await Ledger.open(
                storage: storage, configuration: configuration, ports: ledger.ports),
            storage: storage)
    }

    @discardableResult
    func take(
        _ id: Int = 1, account: String? = "blob", by authority: CertificateAuthority? = nil,
        _ change: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) async throws -> LedgerPurchase {
        try await ledger.take(
            TakePurchaseRequest(
                signedTransaction: try Self.signed(id, by: authority, change), account: account))
    }

    @discardableResult
    func redeem(
        _ key: String = "order-1", id: Int? = 1, product: String? = nil,
        account: String = "blob", purpose: String = "feed a monkey", environment: String? = nil
    ) async throws -> LedgerRedemption {
        try await ledger.redeem(
            RedeemRequest(
                idempotencyKey: key,
                transactionId: id.map { "\(2_000_000_000_000_000 + $0)" }, productId: product,
                purpose: purpose, environment: environment), account: account)
    }

    /// Transactions that may be redeemed, with the units left.
    func unspent(
        _ account: String = "blob", environment: String? = nil
    ) async throws -> [String: Int] {
        let page = try await ledger.unspent(account: account, environment: environment)
        return Dictionary(
            uniqueKeysWithValues: page.purchases.map {
                ($0.transactionId, $0.unspent)
            })
    }
}

/// The code and field of the refusal that `body` ends with; nil where it ends well.
func refusal(_ body: () async throws -> some Sendable) async throws -> [String?]? {
    do {
        _ = try await body()
        return nil
    } catch let refusal as LedgerRefusal {
        return [refusal.error.code, refusal.error.field]
    }
}
