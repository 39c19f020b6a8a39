// SPDX-License-Identifier: Apache-2.0

/// How far a customer's transactions were read: whole revisions, and of the
/// last one perhaps only some transactions.
struct ReadCursor: Hashable, Sendable, Comparable {
    var revision: Int64
    /// The last transaction that was read of `revision`, where more follow.
    var after: Int64?

    static func < (one: ReadCursor, other: ReadCursor) -> Bool {
        (one.revision, one.after ?? .max) < (other.revision, other.after ?? .max)
    }
}
