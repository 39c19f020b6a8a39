// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire

/// What the tests of this module share. An authority costs an RSA key, so
/// each is made once.
enum Sample {
    static let now = Timestamp(milliseconds: 1_760_000_000_000)
    static let bundleID: BundleID = "com.example.monkeys"

    private static let made = Result { try CertificateAuthority.make(.sandbox) }
    private static let other = Result { try CertificateAuthority.make(.sandbox) }

    static func authority() throws -> CertificateAuthority { try made.get() }

    /// Another store's authority: same names, other keys.
    static func foreignAuthority() throws -> CertificateAuthority { try other.get() }

    static func verifier(environment: String = "Sandbox") throws -> TransactionVerifier {
        try TransactionVerifier(
            roots: [authority().root], bundleID: bundleID, environment: environment)
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
