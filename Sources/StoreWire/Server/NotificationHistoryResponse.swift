// SPDX-License-Identifier: Apache-2.0

/// A page of the notifications that were sent.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryresponse)
public struct NotificationHistoryResponse: Hashable, Sendable, Codable {
    /// With which to ask for the next page, under the same body.
    public var paginationToken: String?
    public var hasMore: Bool?
    /// Oldest first, twenty at most.
    public var notificationHistory: [NotificationHistoryResponseItem]?

    public init(
        notificationHistory: [NotificationHistoryResponseItem], paginationToken: String?
    ) {
        self.notificationHistory = notificationHistory
        self.paginationToken = paginationToken
        hasMore = paginationToken != nil
    }
}
