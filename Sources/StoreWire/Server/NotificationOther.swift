// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A token of a purchase outside of the store that the merchant has not reported.
/// [Apple's page](https://developer.apple.com/documentation/appstoreservernotifications/externalpurchasetoken)
public struct NotificationPurchaseToken: Hashable, Sendable, Codable {
    /// Begins with `SANDBOX` in a sandbox.
    public var externalPurchaseId: String?
    public var tokenCreationDate: Timestamp?
    /// The app's number. Missing in a sandbox.
    public var appAppleId: Int64?
    public var bundleId: String?

    public init() {}
}

/// The app transaction of a customer who has taken a consent back.
/// [Apple's page](https://developer.apple.com/documentation/appstoreservernotifications/appdata)
public struct NotificationAppData: Hashable, Sendable, Codable {
    /// The app's number. Missing in a sandbox.
    public var appAppleId: Int64?
    public var bundleId: String?
    /// `Sandbox` or `Production`.
    public var environment: String?
    /// A compact JWS of a ``JWSAppTransactionDecodedPayload``.
    public var signedAppTransactionInfo: String?

    public init() {}
}
