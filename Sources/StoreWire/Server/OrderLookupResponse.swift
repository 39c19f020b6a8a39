// SPDX-License-Identifier: Apache-2.0

/// The answer of `GET /inApps/v1/lookup/{orderId}`.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/orderlookupresponse)
public struct OrderLookupResponse: Hashable, Sendable, Codable {
    /// 0 for an order of this app, 1 for any other text.
    public let status: Int
    /// Missing with the status 1.
    public let signedTransactions: [String]?

    public init(status: Int, signedTransactions: [String]? = nil) {
        self.status = status
        self.signedTransactions = signedTransactions
    }
}
