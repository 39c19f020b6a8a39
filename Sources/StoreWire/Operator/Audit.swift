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
    /// The old value, in words. Missing if there was none.
    public var before: String?
    /// The new value, in words. Missing if there is none.
    public var after: String?

    public init(
        entry: Int64, date: Timestamp, who: String, deed: String, subject: String,
        before: String?, after: String?
    ) {
        self.entry = entry
        self.date = date
        self.who = who
        self.deed = deed
        self.subject = subject
        self.before = before
        self.after = after
    }
}

/// One page of a realm's administrative changes, oldest first.
public struct AuditRecords: Hashable, Sendable, Codable {
    public var entries: [AuditRecord]
    /// The `after` of the next request. Missing on the last page.
    public var next: String?

    public init(entries: [AuditRecord], next: String?) {
        self.entries = entries
        self.next = next
    }
}
