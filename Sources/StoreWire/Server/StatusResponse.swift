// SPDX-License-Identifier: Apache-2.0

/// The status of a customer's subscriptions in an app.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/statusresponse)
public struct StatusResponse: Hashable, Sendable, Codable {
    /// `Sandbox` or `Production`.
    public let environment: String
    public let bundleId: String
    /// The app's number. Missing in a sandbox.
    public let appAppleId: Int64?
    public let data: [SubscriptionGroupIdentifierItem]

    public init(
        environment: String, bundleId: String, appAppleId: Int64?,
        data: [SubscriptionGroupIdentifierItem]
    ) {
        self.environment = environment
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.data = data
    }
}

/// The subscriptions of one group.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/subscriptiongroupidentifieritem)
public struct SubscriptionGroupIdentifierItem: Hashable, Sendable, Codable {
    public let subscriptionGroupIdentifier: String
    public let lastTransactions: [LastTransactionsItem]

    public init(subscriptionGroupIdentifier: String, lastTransactions: [LastTransactionsItem]) {
        self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
        self.lastTransactions = lastTransactions
    }
}

/// The last transaction of a subscription, and its renewal.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/lasttransactionsitem)
public struct LastTransactionsItem: Hashable, Sendable, Codable {
    public let originalTransactionId: String
    /// 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked.
    public let status: Int
    public let signedTransactionInfo: String
    public let signedRenewalInfo: String

    public init(
        originalTransactionId: String, status: Int, signedTransactionInfo: String,
        signedRenewalInfo: String
    ) {
        self.originalTransactionId = originalTransactionId
        self.status = status
        self.signedTransactionInfo = signedTransactionInfo
        self.signedRenewalInfo = signedRenewalInfo
    }
}
