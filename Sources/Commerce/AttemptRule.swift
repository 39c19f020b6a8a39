// SPDX-License-Identifier: Apache-2.0

/// Limits wrong attempts: the first ones are free, then each further mistake
/// doubles the wait.
public struct AttemptRule: Hashable, Sendable {
    /// The number of mistakes after which waiting begins.
    public let freeMistakes: Int
    /// The longest wait, in seconds.
    public let waitSecondsMax: Int64
    /// How many attempts of one kind may run at once while there has been no
    /// mistake.
    public let atOnceMax: Int

    /// After this many seconds without a mistake, all mistakes are forgotten.
    public static let forgetSeconds: Int64 = 3600

    public init(freeMistakes: Int, waitSecondsMax: Int64 = 900, atOnceMax: Int = 64) {
        precondition(freeMistakes > 0 && atOnceMax > 0, "the rule must allow attempts")
        self.freeMistakes = freeMistakes
        self.waitSecondsMax = waitSecondsMax
        self.atOnceMax = atOnceMax
    }

    /// For the password of one account.
    public static let account = AttemptRule(freeMistakes: 5)
    /// For passwords from one client, for any accounts. One client may be a
    /// whole school behind one address.
    public static let client = AttemptRule(freeMistakes: 50, atOnceMax: 512)
    /// For keys to doors from one client.
    public static let key = AttemptRule(freeMistakes: 1000, atOnceMax: .max)

    /// Seconds from the last of `mistakes` mistakes to the next attempt.
    public func waitSeconds(afterMistakes mistakes: Int) -> Int64 {
        guard mistakes >= freeMistakes else { return 0 }
        // 2^30 s is above every limit.
        return min(waitSecondsMax, 1 << Int64(min(mistakes - freeMistakes, 30)))
    }
}

/// The mistakes of one account or client.
public struct Attempts: Hashable, Sendable {
    public private(set) var mistakes = 0
    public private(set) var underWay = 0
    /// The time of the last mistake.
    public private(set) var last = Timestamp(milliseconds: 0)

    public init() {}

    /// Begins an attempt. Returns nil if it may be made, otherwise the seconds
    /// to wait.
    public mutating func begin(_ rule: AttemptRule, at now: Timestamp) -> Int64? {
        if let wait = wait(rule, at: now) { return wait }
        underWay += 1
        return nil
    }

    /// Returns the seconds to wait before an attempt, or nil. After a first
    /// mistake, a running attempt counts as a mistake too. Otherwise a client
    /// could make a thousand guesses at once.
    public mutating func wait(_ rule: AttemptRule, at now: Timestamp) -> Int64? {
        // If the wall clock was set back, the wait begins again from now, so
        // that it ends.
        last = min(last, now)
        let since = (now.milliseconds - last.milliseconds) / 1000
        let mistakes = since >= AttemptRule.forgetSeconds ? 0 : mistakes
        guard mistakes > 0 else { return underWay < rule.atOnceMax ? nil : 1 }
        let wait = rule.waitSeconds(afterMistakes: mistakes)
        if wait > since { return wait - since }
        return underWay == 0 || mistakes + underWay < rule.freeMistakes ? nil : 1
    }

    /// Ends an attempt. `forgets`: whether a right attempt resets the mistakes.
    public mutating func end(isRight: Bool, forgets: Bool, at now: Timestamp) {
        underWay = max(0, underWay - 1)
        if isRight {
            if forgets { mistakes = 0 }
            return
        }
        mistake(at: now)
    }

    /// Counts a mistake.
    public mutating func mistake(at now: Timestamp) {
        let since = (now.milliseconds - last.milliseconds) / 1000
        mistakes = since >= AttemptRule.forgetSeconds ? 1 : mistakes + 1
        last = now
    }

    /// Whether there is nothing to remember any more.
    public func isForgotten(at now: Timestamp) -> Bool {
        let since = (now.milliseconds - last.milliseconds) / 1000
        return underWay == 0 && (mistakes == 0 || since >= AttemptRule.forgetSeconds)
    }
}
