// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// The answer of `GET /inApps/v1/transactions/appTransactions/{transactionId}`.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/apptransactioninforesponse)
public struct AppTransactionInfoResponse: Hashable, Sendable, Codable {
    public let signedAppTransactionInfo: String

    public init(signedAppTransactionInfo: String) {
        self.signedAppTransactionInfo = signedAppTransactionInfo
    }
}

/// The payload of a signed app transaction: when and in which version a customer
/// first got the app.
/// [Apple's page](https://developer.apple.com/documentation/storekit/apptransaction)
///
/// Every field may be missing, as in ``JWSTransactionDecodedPayload``.
public struct JWSAppTransactionDecodedPayload: Hashable, Sendable, Codable {
    /// The environment: `Sandbox` or `Production`.
    public var receiptType: String?
    /// The app's number. Missing in a sandbox.
    public var appAppleId: Int64?
    public var bundleId: String?
    /// The version that the customer's last device reported.
    public var applicationVersion: String?
    /// When it was signed.
    public var receiptCreationDate: Timestamp?
    public var originalPurchaseDate: Timestamp?
    public var originalApplicationVersion: String?
    public var appTransactionId: String?

    public init() {}
}
