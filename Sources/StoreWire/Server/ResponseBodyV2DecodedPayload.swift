// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// The payload of a notification after its signature is verified.
/// [Apple's page](https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload)
///
/// Every field may be missing. Values of closed sets are kept as text, as in
/// ``JWSTransactionDecodedPayload``.
public struct ResponseBodyV2DecodedPayload: Hashable, Sendable, Codable {
    /// `ONE_TIME_CHARGE`, `TEST`…
    public var notificationType: String?
    /// Only some types have one.
    public var subtype: String?
    /// The same at every attempt, so that a receiver can recognise a
    /// repetition.
    public var notificationUUID: String?
    /// The app and its signed details. Some of Apple's types have another
    /// object instead.
    public var data: NotificationData?
    /// Only of `RENEWAL_EXTENSION` with the subtype `SUMMARY`, which has no `data`.
    public var summary: NotificationSummary?
    /// Only of `EXTERNAL_PURCHASE_TOKEN`, which has no `data`.
    public var externalPurchaseToken: NotificationPurchaseToken?
    /// Only of `RESCIND_CONSENT`, which has no `data`.
    public var appData: NotificationAppData?
    /// ``currentVersion`` in everything that this store signs.
    public var version: String?
    /// When it was signed, which is at the first attempt to send it.
    public var signedDate: Timestamp?

    /// The version of this format.
    public static let currentVersion = "2.0"

    public init() {}
}
