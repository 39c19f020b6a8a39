// SPDX-License-Identifier: Apache-2.0

/// How far a customer's transactions were read: all revisions before
/// `revision`, and possibly only a part of the last one.
struct ReadCursor: Hashable, Sendable, Comparable, Codable {
    var revision: Int64
    /// The last transaction of `revision` that was read, if more follow.
    var after: Int64?

    static func < (one: ReadCursor, other: ReadCursor) -> Bool {
        (one.revision, one.after ?? .max) < (other.revision, other.after ?? .max)
    }
}
