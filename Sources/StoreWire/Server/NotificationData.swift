// SPDX-License-Identifier: Apache-2.0

/// The app that a notification concerns, with signed details.
/// [Apple's page](https://developer.apple.com/documentation/appstoreservernotifications/data)
public struct NotificationData: Hashable, Sendable, Codable {
    /// The app's number. Missing in a sandbox.
    public var appAppleId: Int64?
    public var bundleId: String?
    public var bundleVersion: String?
    /// `Sandbox` or `Production`.
    public var environment: String?
    /// A compact JWS of a ``JWSTransactionDecodedPayload``.
    public var signedTransactionInfo: String?
    /// A compact JWS of a subscription's renewal.
    public var signedRenewalInfo: String?
    /// The status of a subscription, 1 to 5.
    public var status: Int?
    public var consumptionRequestReason: String?

    public init() {}
}
