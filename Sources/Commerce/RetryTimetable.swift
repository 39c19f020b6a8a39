// SPDX-License-Identifier: Apache-2.0

/// When a failed attempt is repeated: after a pause that depends on the number
/// of attempts, and not any more at the end of the table.
public struct RetryTimetable: Hashable, Sendable {
    /// Milliseconds from the first attempt to the second, from the second to
    /// the third, and so on.
    public let pauses: [Int64]

    public init(hours: [Int64]) {
        pauses = hours.map { $0 * 3_600_000 }
    }

    public init(seconds: [Int64]) {
        pauses = seconds.map { $0 * 1000 }
    }

    /// For calls to a payment processor. Small failures are over in seconds, an
    /// outage may take hours, and such a call is never given up.
    public static let processor = RetryTimetable(seconds: [1, 5, 30, 120, 600, 3600])

    /// For notifications of a production realm: five retries over about a week,
    /// like Apple's.
    public static let productionNotifications = RetryTimetable(hours: [1, 12, 24, 48, 72])
    /// The same for notifications of version 1.
    public static let productionNotificationsV1 = RetryTimetable(hours: [6, 24, 48])
    /// For notifications of a sandbox: one attempt, like Apple's.
    public static let sandboxNotifications = RetryTimetable(hours: [])

    /// The same table with at most this number of attempts.
    public func first(_ attempts: Int) -> RetryTimetable {
        RetryTimetable(pauses: Array(pauses.prefix(attempts - 1)))
    }

    private init(pauses: [Int64]) { self.pauses = pauses }

    /// The number of attempts, including the first.
    public var attemptsMax: Int { pauses.count + 1 }

    /// Returns when to try again after `attempts` failed attempts, the last of
    /// them at `instant`. Nil if there are no more attempts.
    public func next(afterAttempts attempts: Int, at instant: Timestamp) -> Timestamp? {
        precondition(attempts > 0, "a retry follows an attempt")
        guard attempts <= pauses.count else { return nil }
        return instant.adding(milliseconds: pauses[attempts - 1])
    }

    /// Like ``next(afterAttempts:at:)``, but repeats the last pause for ever at
    /// the end of the table.
    public func nextForEver(afterAttempts attempts: Int, at instant: Timestamp) -> Timestamp {
        next(afterAttempts: attempts, at: instant)
            ?? instant.adding(milliseconds: pauses.last ?? 0)
    }
}
