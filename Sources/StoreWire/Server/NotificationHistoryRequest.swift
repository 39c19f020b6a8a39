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

    /// The dates are whole milliseconds, and may be as late or early as numbers are.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        func date(_ key: CodingKeys) throws -> Timestamp? {
            try fields.decodeIfPresent(Int64.self, forKey: key)
                .map(Timestamp.init(milliseconds:))
        }
        startDate = try date(.startDate)
        endDate = try date(.endDate)
        notificationType = try fields.decodeIfPresent(String.self, forKey: .notificationType)
        notificationSubtype = try fields.decodeIfPresent(
            String.self, forKey: .notificationSubtype)
        transactionId = try fields.decodeIfPresent(String.self, forKey: .transactionId)
        onlyFailures = try fields.decodeIfPresent(Bool.self, forKey: .onlyFailures)
    }
}
