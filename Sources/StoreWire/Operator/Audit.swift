// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// One administrative change.
public struct AuditRecord: Hashable, Sendable, Codable {
    /// From 1 without gaps, in the order of the commits.
    public var entry: Int64
    /// Wall time.
    public var date: Timestamp
    /// The name of the key that made the change.
    public var who: String
    /// The kind of change: `product.change`.
    public var deed: String
    public var subject: String
    /// The fields that the change set, in the order of display. Empty if the deed
    /// found nothing to change, such as a history that was empty already.
    public var changes: [AuditChange]

    public init(
        entry: Int64, date: Timestamp, who: String, deed: String, subject: String,
        changes: [AuditChange]
    ) {
        self.entry = entry
        self.date = date
        self.who = who
        self.deed = deed
        self.subject = subject
        self.changes = changes
    }
}

/// A field that an administrative change set.
public struct AuditChange: Hashable, Sendable, Codable {
    /// `price`, or another name of a part of the subject.
    public var field: String
    /// The old value. Missing if the field had none.
    public var before: String?
    /// The new value. Missing if the field has none.
    public var after: String?

    public init(field: String, before: String?, after: String?) {
        self.field = field
        self.before = before
        self.after = after
    }
}

/// One page of a realm's administrative changes, oldest first.
public struct AuditRecords: Hashable, Sendable, Codable {
    public var entries: [AuditRecord]
    /// The `after` of the next request. Missing on the last page.
    public var next: String?
    /// The clusters that do not answer, by their buckets. Their newest entries
    /// are missing, and follow once they answer. Missing if all answer.
    public var clustersAway: [String]?

    public init(entries: [AuditRecord], next: String?, clustersAway: [String]? = nil) {
        self.entries = entries
        self.next = next
        self.clustersAway = clustersAway
    }
}
