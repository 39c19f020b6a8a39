// SPDX-License-Identifier: Apache-2.0

/// How the renewal dates of all subscribers to a product were extended.
/// [Apple's page](https://developer.apple.com/documentation/appstoreservernotifications/summary)
public struct NotificationSummary: Hashable, Sendable, Codable {
    /// `Sandbox` or `Production`.
    public var environment: String?
    /// The app's number. Missing in a sandbox.
    public var appAppleId: Int64?
    public var bundleId: String?
    public var productId: String?
    /// The id under which it was requested, a UUID.
    public var requestIdentifier: String?
    /// Alpha-3 codes. Missing for all storefronts.
    public var storefrontCountryCodes: [String]?
    public var succeededCount: Int64?
    public var failedCount: Int64?

    public init() {}
}
