// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// Asks which notifications were sent:
/// `POST /inApps/v1/notifications/history`.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryrequest)
public struct NotificationHistoryRequest: Hashable, Sendable, Codable {
    /// Commercial time, inclusive; at most 180 days ago.
    public var startDate: Timestamp?
    /// Inclusive; later than now means now.
    public var endDate: Timestamp?
    public var notificationType: String?
    /// Only together with its type.
    public var notificationSubtype: String?
    /// Any transaction of the customer that is meant; not together with a type.
    public var transactionId: String?
    /// Those that have not reached the server, or not yet.
    public var onlyFailures: Bool?

    public init() {}
}
