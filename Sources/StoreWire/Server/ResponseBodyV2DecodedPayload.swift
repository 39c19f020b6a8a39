// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// What a notification says, once its signature is checked.
/// [Apple's page](https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload)
///
/// Every field may be missing, and closed sets are kept as the text that
/// came, as in ``JWSTransactionDecodedPayload``.
public struct ResponseBodyV2DecodedPayload: Hashable, Sendable, Codable {
    /// `ONE_TIME_CHARGE`, `TEST`…
    public var notificationType: String?
    /// Only some types have one.
    public var subtype: String?
    /// The same at every attempt: a receiver that knows it has heard before.
    public var notificationUUID: String?
    /// What happened, and to which app. Some types of Apple's have another
    /// object instead.
    public var data: NotificationData?
    /// ``currentVersion`` in all that is signed today.
    public var version: String?
    /// When it was signed: at the first attempt to send it.
    public var signedDate: Timestamp?

    /// The version of this shape.
    public static let currentVersion = "2.0"

    public init() {}
}
