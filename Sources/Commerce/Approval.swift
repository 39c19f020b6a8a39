// SPDX-License-Identifier: Apache-2.0

/// The outcome of a payment that a parent had to approve.
public enum ApprovalAnswer: String, Sendable, CaseIterable {
    case approved
    case declined
    /// There was no answer in time.
    case timedOut

    /// How much commercial time an answer may take:
    /// [24 hours](https://support.apple.com/HT201089), as in Apple's families.
    public static let limitMilliseconds: Int64 = 24 * 3_600_000

    /// When a payment that was requested at `instant` times out.
    public static func deadline(askedAt instant: Timestamp) -> Timestamp {
        instant.adding(milliseconds: limitMilliseconds)
    }
}
