// SPDX-License-Identifier: Apache-2.0

/// A page of a customer's transactions.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/historyresponse)
public struct HistoryResponse: Hashable, Sendable, Codable {
    /// Names the place after the page, for the next request.
    public let revision: String
    public let hasMore: Bool
    public let bundleId: String
    /// The app's number. Missing in a sandbox.
    public let appAppleId: Int64?
    /// `Sandbox` or `Production`.
    public let environment: String
    /// Compact JWS of ``JWSTransactionDecodedPayload``.
    public let signedTransactions: [String]

    public init(
        revision: String, hasMore: Bool, bundleId: String, appAppleId: Int64?,
        environment: String, signedTransactions: [String]
    ) {
        self.revision = revision
        self.hasMore = hasMore
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.environment = environment
        self.signedTransactions = signedTransactions
    }
}

/// A page of what was refunded or revoked.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/refundhistoryresponse)
public struct RefundHistoryResponse: Hashable, Sendable, Codable {
    public let signedTransactions: [String]
    public let revision: String
    public let hasMore: Bool

    public init(signedTransactions: [String], revision: String, hasMore: Bool) {
        self.signedTransactions = signedTransactions
        self.revision = revision
        self.hasMore = hasMore
    }
}

/// The same in its earlier form, without pages.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/refundlookupresponse)
public struct RefundLookupResponse: Hashable, Sendable, Codable {
    public let signedTransactions: [String]

    public init(signedTransactions: [String]) {
        self.signedTransactions = signedTransactions
    }
}
