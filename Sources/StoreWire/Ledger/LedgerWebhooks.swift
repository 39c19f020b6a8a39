// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A message to one of the merchant's servers.
public struct WebhookReport: Hashable, Sendable, Codable {
    public let url: String
    public let messageId: String
    /// The event, such as `purchase.booked`.
    public let type: String
    public let account: String?
    /// `waiting`, `sent` or `parked`.
    public let state: String
    public let createdDate: Timestamp
    public let attempts: Int
    /// The next attempt. Absent unless it waits.
    public let nextDate: Timestamp?
    public let sentDate: Timestamp?
    /// Why the last attempt failed. Absent if none has.
    public let trouble: String?

    public init(
        url: String, messageId: String, type: String, account: String?, state: String,
        createdDate: Timestamp, attempts: Int, nextDate: Timestamp?, sentDate: Timestamp?,
        trouble: String?
    ) {
        self.url = url
        self.messageId = messageId
        self.type = type
        self.account = account
        self.state = state
        self.createdDate = createdDate
        self.attempts = attempts
        self.nextDate = nextDate
        self.sentDate = sentDate
        self.trouble = trouble
    }
}

/// A page of messages, the newest first: `GET /ledger/v1/webhooks`.
public struct WebhookReports: Hashable, Sendable, Codable {
    public let webhooks: [WebhookReport]
    /// The `after` of the next page's request. Absent on the last page.
    public let next: String?

    public init(webhooks: [WebhookReport], next: String?) {
        self.webhooks = webhooks
        self.next = next
    }
}

/// Sends messages again, or parks them: `POST /ledger/v1/webhooks/replay` and `…/park`.
public struct WebhooksRequest: Hashable, Sendable, Codable {
    public let url: String
    /// Which messages: at most 100. Absent to replay all that are parked.
    public let messageIds: [String]?

    public init(url: String, messageIds: [String]? = nil) {
        self.url = url
        self.messageIds = messageIds
    }
}

/// How many messages were changed.
public struct WebhooksChanged: Hashable, Sendable, Codable {
    public let changed: Int

    public init(changed: Int) { self.changed = changed }
}
