// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import StoreWire
import Testing
import _CryptoExtras

@testable import SignedData

/// What the tests of this module share. An authority costs an RSA key, so
/// each is made once.
enum Sample {
    static let now = Timestamp(milliseconds: 1_760_000_000_000)
    static let bundleID: BundleID = "com.example.monkeys"

    private static let made = Result { try CertificateAuthority.make(.sandbox) }
    private static let production = Result { try CertificateAuthority.make(.production) }
    private static let other = Result { try CertificateAuthority.make(.sandbox) }

    static func authority() throws -> CertificateAuthority { try made.get() }

    static func productionAuthority() throws -> CertificateAuthority { try production.get() }

    /// Another store's authority: same names, other keys.
    static func foreignAuthority() throws -> CertificateAuthority { try other.get() }

    static func verifier(environment: Environment = .sandbox) throws -> TransactionVerifier {
        try TransactionVerifier(
            roots: [authority().root], bundleID: bundleID, environment: environment)
    }

    static func receiptVerifier() throws -> ReceiptVerifier {
        try ReceiptVerifier(roots: [authority().root])
    }

    static func transaction(environment: String = "Sandbox") -> JWSTransactionDecodedPayload {
        var payload = JWSTransactionDecodedPayload()
        payload.transactionId = "2000000000001007"
        payload.originalTransactionId = "2000000000001007"
        payload.bundleId = bundleID.value
        payload.productId = "com.example.monkeys.credits/10"
        payload.purchaseDate = now
        payload.originalPurchaseDate = now
        payload.quantity = 3
        payload.type = "Consumable"
        payload.inAppOwnershipType = "PURCHASED"
        payload.signedDate = now
        payload.environment = environment
        payload.storefront = "USA"
        payload.storefrontId = "143441"
        payload.transactionReason = "PURCHASE"
        payload.price = 5970
        payload.currency = "USD"
        return payload
    }
}

extension Sample {
    static let device: [UInt8] = Array(0..<16)

    static func header(environment: String = "ProductionSandbox") -> ReceiptHeader {
        ReceiptHeader(
            environment: environment, bundleID: bundleID, appVersion: "1.2.3", device: device,
            opaque: Array(100..<116), creationDate: now)
    }

    static func purchase(_ number: Int = 1007) -> ReceiptPurchase {
        ReceiptPurchase(
            quantity: 3, productID: "com.example.monkeys.credits/10",
            transactionID: "\(2_000_000_000_000_000 + number)", purchaseDate: now,
            type: .consumable)
    }

    static func receipt(
        _ authority: CertificateAuthority? = nil, digest: ReceiptDigest = .sha256
    ) throws -> [UInt8] {
        try (authority ?? Sample.authority()).receipts.sign(
            header(), records: [purchase(1007).encoded(), purchase(1008).encoded()],
            digest: digest)
    }
}

extension Sample {
    /// Signs any header and payload with the key of our leaf: what is wrong
    /// with them is then all that is wrong.
    static func sign(header: String, payload: [UInt8]? = nil) throws -> String {
        let pem = try #require(authority().files["transactions.key.pem"])
        let key = try P256.Signing.PrivateKey(
            pemRepresentation: String(decoding: pem, as: UTF8.self))
        let json: [UInt8]
        if let payload {
            json = payload
        } else {
            json = try #require(
                Base64.decodeURL(Array(Tamper.segments(SpoiltJWS.good())[1].utf8)[...]))
        }
        return try CompactJWS.sign(
            prefix: JWSPrefix(header: Array(header.utf8)), payload: json,
            by: key)
    }

    /// The key that signs our receipts.
    static func receiptKey() throws -> _RSA.Signing.PrivateKey {
        let pem = try #require(authority().files["receipts.key.pem"])
        return try _RSA.Signing.PrivateKey(pemRepresentation: String(decoding: pem, as: UTF8.self))
    }
}
