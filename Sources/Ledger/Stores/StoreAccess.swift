// SPDX-License-Identifier: Apache-2.0

public import Commerce
import SignedData
public import StoreWire

/// How the ledger calls a trusted store: its addresses, and the merchant's key for
/// them.
public struct StoreAccess: Sendable {
    /// Where a store answers for one environment.
    public struct Address: Hashable, Sendable {
        public let environment: Environment
        /// The trusted root of this environment, in DER. What the store vouches for
        /// is booked under it.
        public let root: [UInt8]
        /// The App Store Server API, without a slash at the end.
        public let api: String
        /// The whole address of verifyReceipt.
        public let verifyReceipt: String
        /// The most calls that this process makes in a second.
        public let callsPerSecond: Int

        /// Without addresses, Apple's. Without a number of calls, less than half of
        /// what Apple allows an app.
        public init(
            environment: Environment, root: [UInt8], api: String? = nil,
            verifyReceipt: String? = nil, callsPerSecond: Int? = nil
        ) {
            let isProduction = environment == .production
            self.environment = environment
            self.root = root
            let official = isProduction ? Self.production : Self.sandbox
            self.api = api.map(Self.trimmed) ?? official.api
            self.verifyReceipt =
                verifyReceipt ?? api.map { Self.trimmed($0) + "/verifyReceipt" }
                ?? official.verifyReceipt
            self.callsPerSecond = callsPerSecond ?? (isProduction ? 20 : 2)
        }

        private static let production = (
            api: "https://api.storekit.apple.com",
            verifyReceipt: "https://buy.itunes.apple.com/verifyReceipt"
        )
        private static let sandbox = (
            api: "https://api.storekit-sandbox.apple.com",
            verifyReceipt: "https://sandbox.itunes.apple.com/verifyReceipt"
        )

        private static func trimmed(_ url: String) -> String {
            url.hasSuffix("/") ? String(url.dropLast()) : url
        }
    }

    /// Production's address first: a call that names no environment asks it first.
    public let addresses: [Address]
    /// Required for subscriptions by verifyReceipt.
    var sharedSecret: String?
    private let key: Key

    /// The merchant's key for the App Store Server API.
    public struct Key: Sendable {
        let issuerID: String
        let keyID: String
        let privateKeyPEM: String

        public init(issuerID: String, keyID: String, privateKeyPEM: String) {
            self.issuerID = issuerID
            self.keyID = keyID
            self.privateKeyPEM = privateKeyPEM
        }
    }

    /// Throws ``WireError`` `apiKeyInvalid` or `addressTwice`.
    public init(
        addresses: [Address], key: Key, sharedSecret: String? = nil
    ) throws(WireError) {
        guard Set(addresses.map(\.environment)).count == addresses.count else {
            throw WireError(
                code: "addressTwice", message: "A store has two addresses for one environment.",
                field: "stores", rule: "one address for an environment",
                remedy: "remove one of them")
        }
        self.addresses = addresses.sorted { one, other in
            one.environment == .production && other.environment != .production
        }
        self.key = key
        self.sharedSecret = sharedSecret
        do { _ = try signer(for: "com.example") } catch {
            throw WireError(
                code: "apiKeyInvalid", message: "The key cannot sign: \(error.message).",
                field: "apiKey", rule: "a P-256 key in PKCS#8 PEM, with its id and its issuer",
                remedy: "use the .p8 file as the store gave it")
        }
    }

    func signer(for bundleID: BundleID) throws(VerificationFailure) -> BearerTokenSigner {
        try BearerTokenSigner(
            privateKeyPEM: key.privateKeyPEM, keyID: key.keyID, issuerID: key.issuerID,
            bundleID: bundleID)
    }
}
