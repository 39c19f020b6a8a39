// SPDX-License-Identifier: Apache-2.0

/// What became of a payment that somebody else had to approve.
public enum ApprovalAnswer: String, Sendable, CaseIterable {
    case approved
    case declined
    /// Nobody answered in time.
    case timedOut

    /// Commercial time that an answer may take:
    /// [24 hours](https://support.apple.com/HT201089), as where Apple asks the
    /// organiser of a family.
    public static let limitMilliseconds: Int64 = 24 * 3_600_000

    /// When a payment that was asked for at `instant` has waited too long.
    public static func deadline(askedAt instant: Timestamp) -> Timestamp {
        instant.adding(milliseconds: limitMilliseconds)
    }
}
