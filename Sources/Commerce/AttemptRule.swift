// SPDX-License-Identifier: Apache-2.0

/// How often somebody may be wrong: so many times freely, then after a wait
/// that doubles with each further mistake.
public struct AttemptRule: Hashable, Sendable {
    /// Mistakes after which the waiting begins.
    public let freeMistakes: Int
    /// The longest wait.
    public let waitSecondsMax: Int64
    /// Attempts of one kind under way at once, while there is no mistake.
    public let atOnceMax: Int

    /// Seconds without a mistake after which all are forgotten.
    public static let forgetSeconds: Int64 = 3600

    public init(freeMistakes: Int, waitSecondsMax: Int64 = 900, atOnceMax: Int = 64) {
        precondition(freeMistakes > 0 && atOnceMax > 0, "nobody could ever try")
        self.freeMistakes = freeMistakes
        self.waitSecondsMax = waitSecondsMax
        self.atOnceMax = atOnceMax
    }

    /// One account's password.
    public static let account = AttemptRule(freeMistakes: 5)
    /// One client's passwords, whatever the accounts; a client may be a whole
    /// school behind one address.
    public static let client = AttemptRule(freeMistakes: 50, atOnceMax: 512)
    /// One client's keys to doors.
    public static let key = AttemptRule(freeMistakes: 1000, atOnceMax: .max)

    /// Seconds from the last of so many mistakes to the next attempt.
    public func waitSeconds(afterMistakes mistakes: Int) -> Int64 {
        guard mistakes >= freeMistakes else { return 0 }
        // Beyond 2^30 s every limit is reached.
        return min(waitSecondsMax, 1 << Int64(min(mistakes - freeMistakes, 30)))
    }
}

/// The mistakes of one account or client.
public struct Attempts: Hashable, Sendable {
    public private(set) var mistakes = 0
    public private(set) var underWay = 0
    /// Of the last mistake.
    public private(set) var last = Timestamp(milliseconds: 0)

    public init() {}

    /// Seconds to wait before an attempt; nil: it may be made, and has begun.
    public mutating func begin(_ rule: AttemptRule, at now: Timestamp) -> Int64? {
        if let wait = wait(rule, at: now) { return wait }
        underWay += 1
        return nil
    }

    /// Seconds to wait before an attempt; nil: none. An attempt under way
    /// counts as a mistake once there has been one, so that nobody makes a
    /// thousand guesses at once.
    public mutating func wait(_ rule: AttemptRule, at now: Timestamp) -> Int64? {
        // The wall clock was set back: the wait begins again, and ends.
        last = min(last, now)
        let since = (now.milliseconds - last.milliseconds) / 1000
        let mistakes = since >= AttemptRule.forgetSeconds ? 0 : mistakes
        guard mistakes > 0 else { return underWay < rule.atOnceMax ? nil : 1 }
        let wait = rule.waitSeconds(afterMistakes: mistakes)
        if wait > since { return wait - since }
        return underWay == 0 || mistakes + underWay < rule.freeMistakes ? nil : 1
    }

    /// Ends an attempt. `forgets`: a right one makes good the mistakes before.
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

    /// Whether nothing is remembered any more.
    public func isForgotten(at now: Timestamp) -> Bool {
        let since = (now.milliseconds - last.milliseconds) / 1000
        return underWay == 0 && (mistakes == 0 || since >= AttemptRule.forgetSeconds)
    }
}
