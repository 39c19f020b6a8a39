// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// One administrative change.
public struct AuditRecord: Hashable, Sendable, Codable {
    /// From 1, without gaps, in the order of commits.
    public var entry: Int64
    /// Wall time.
    public var date: Timestamp
    /// Whose key it was made with.
    public var who: String
    /// What was done: `product.change`.
    public var deed: String
    public var subject: String
    /// What was, in words; missing where there was nothing.
    public var before: String?
    /// What is, in words; missing where there is nothing.
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
    /// Goes into the next question's `after`; missing on the last page.
    public var next: String?

    public init(entries: [AuditRecord], next: String?) {
        self.entries = entries
        self.next = next
    }
}
