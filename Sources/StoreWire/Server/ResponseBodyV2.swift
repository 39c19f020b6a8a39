// SPDX-License-Identifier: Apache-2.0

/// What is posted to a merchant's server for each notification.
/// [Apple's page](https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2)
public struct ResponseBodyV2: Hashable, Sendable, Codable {
    /// A compact JWS of a ``ResponseBodyV2DecodedPayload``.
    public let signedPayload: String

    public init(signedPayload: String) {
        self.signedPayload = signedPayload
    }
}
