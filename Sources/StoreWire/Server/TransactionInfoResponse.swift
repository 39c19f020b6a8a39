// SPDX-License-Identifier: Apache-2.0

/// The answer of `GET /inApps/v1/transactions/{transactionId}`.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/transactioninforesponse)
public struct TransactionInfoResponse: Hashable, Sendable, Codable {
    public let signedTransactionInfo: String

    public init(signedTransactionInfo: String) {
        self.signedTransactionInfo = signedTransactionInfo
    }
}
