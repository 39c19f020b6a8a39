// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// Requests the notifications that were sent: `POST
/// /inApps/v1/notifications/history`.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryrequest)
public struct NotificationHistoryRequest: Hashable, Sendable, Codable {
    /// Commercial time, inclusive. At most 180 days ago.
    public var startDate: Timestamp?
    /// Inclusive. A later time than now means now.
    public var endDate: Timestamp?
    public var notificationType: String?
    /// Only allowed together with its type.
    public var notificationSubtype: String?
    /// Any transaction of the requested customer. Not allowed together with a
    /// type.
    public var transactionId: String?
    /// Whether to return only notifications that have not reached the server.
    public var onlyFailures: Bool?

    public init() {}
}
