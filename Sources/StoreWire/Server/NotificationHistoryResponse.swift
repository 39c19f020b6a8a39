// SPDX-License-Identifier: Apache-2.0

/// A page of the notifications that were sent.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryresponse)
public struct NotificationHistoryResponse: Hashable, Sendable, Codable {
    /// Requests the next page, together with the same body.
    public var paginationToken: String?
    public var hasMore: Bool?
    /// Oldest first, at most twenty.
    public var notificationHistory: [NotificationHistoryResponseItem]?

    public init(
        notificationHistory: [NotificationHistoryResponseItem], paginationToken: String?
    ) {
        self.notificationHistory = notificationHistory
        self.paginationToken = paginationToken
        hasMore = paginationToken != nil
    }
}
