// SPDX-License-Identifier: Apache-2.0

/// When something that failed is tried again: so long after the attempt
/// before, and no more once the table is at its end.
public struct RetryTimetable: Hashable, Sendable {
    /// Milliseconds from the first attempt to the second, from the second to
    /// the third…
    public let pauses: [Int64]

    public init(hours: [Int64]) {
        pauses = hours.map { $0 * 3_600_000 }
    }

    public init(seconds: [Int64]) {
        pauses = seconds.map { $0 * 1000 }
    }

    /// What a payment processor is still to be told or asked: a hiccup is
    /// over in seconds, an outage may take hours, and money is never given up.
    public static let processor = RetryTimetable(seconds: [1, 5, 30, 120, 600, 3600])

    /// Notifications of a production realm: five retries, over a week in all,
    /// as Apple sends them.
    public static let productionNotifications = RetryTimetable(hours: [1, 12, 24, 48, 72])
    /// Notifications of a sandbox: one attempt, as Apple's.
    public static let sandboxNotifications = RetryTimetable(hours: [])

    /// Attempts in all.
    public var attemptsMax: Int { pauses.count + 1 }

    /// When to try again after `attempts` of them failed, the last at
    /// `instant`; nil when that was the last.
    public func next(afterAttempts attempts: Int, at instant: Timestamp) -> Timestamp? {
        precondition(attempts > 0, "a retry follows an attempt")
        guard attempts <= pauses.count else { return nil }
        return instant.adding(milliseconds: pauses[attempts - 1])
    }

    /// As ``next(afterAttempts:at:)``, and at the end of the table its last
    /// pause again and again.
    public func nextForEver(afterAttempts attempts: Int, at instant: Timestamp) -> Timestamp {
        next(afterAttempts: attempts, at: instant)
            ?? instant.adding(milliseconds: pauses.last ?? 0)
    }
}
