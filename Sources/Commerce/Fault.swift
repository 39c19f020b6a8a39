// SPDX-License-Identifier: Apache-2.0

/// A failure toward merchants' servers that a sandbox simulates, as its switch names it.
public enum Fault: Hashable, Sendable {
    /// The App Store Server API has Apple's limits for sandboxes, or a number of
    /// requests an hour to each address.
    case rateLimits(perHour: Int64?)
    /// verifyReceipt answers every valid request with this status.
    case verifyReceipt(status: Int)
    case notifications(NotificationFault)
    /// How often a notification is attempted, with Apple's pauses between.
    case notificationAttempts(Int)

    /// The names of the switches.
    public enum Name: String, Hashable, Sendable, CaseIterable {
        case rateLimits = "rate-limits"
        case verifyReceipt = "verify-receipt"
        case notifications
        case notificationAttempts = "notification-attempts"

        /// The values that the switch has, for messages.
        public var rule: String {
            switch self {
            case .rateLimits: "`apple`, or 1 to 1000000 requests an hour to each address"
            case .verifyReceipt: "a status: 21002 to 21005, 21009, 21010, or 21100 to 21199"
            case .notifications:
                "one or more of `lose`, `duplicate`, `reorder` and `delay=SECONDS`, joined by commas"
            case .notificationAttempts: "1 to 6"
            }
        }
    }

    /// Nil if the switch does not have the value.
    public init?(_ name: Name, value: String) {
        switch name {
        case .rateLimits:
            if value == "apple" {
                self = .rateLimits(perHour: nil)
            } else {
                guard let number = Self.number(value, 1...1_000_000) else { return nil }
                self = .rateLimits(perHour: number)
            }
        case .verifyReceipt:
            guard let status = Self.number(value, 21_002...21_199),
                [21_002...21_005, 21_009...21_010, 21_100...21_199].contains(where: {
                    $0.contains(status)
                })
            else { return nil }
            self = .verifyReceipt(status: Int(status))
        case .notifications:
            guard let fault = NotificationFault(value) else { return nil }
            self = .notifications(fault)
        case .notificationAttempts:
            guard let number = Self.number(value, 1...6) else { return nil }
            self = .notificationAttempts(Int(number))
        }
    }

    public var name: Name {
        switch self {
        case .rateLimits: .rateLimits
        case .verifyReceipt: .verifyReceipt
        case .notifications: .notifications
        case .notificationAttempts: .notificationAttempts
        }
    }

    /// The value in its shortest form, which reads back as the same fault.
    public var value: String {
        switch self {
        case .rateLimits(let perHour): perHour.map(String.init) ?? "apple"
        case .verifyReceipt(let status): String(status)
        case .notifications(let fault): fault.text
        case .notificationAttempts(let number): String(number)
        }
    }

    fileprivate static func number(_ text: String, _ range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int64(text),
            range.contains(number)
        else { return nil }
        return number
    }
}

/// What happens to a sandbox's notifications on their way.
public struct NotificationFault: Hashable, Sendable {
    /// None is sent. The history shows them as failures.
    public private(set) var loses = false
    /// Each is sent twice.
    public private(set) var duplicates = false
    /// Each waits for a part of a minute, so that later ones overtake it.
    public private(set) var reorders = false
    /// For how long each waits.
    public private(set) var delaySeconds: Int64 = 0

    /// The longest pause of a notification that others overtake.
    public static let reorderSeconds: Int64 = 60
    /// The longest delay: a week.
    public static let delaySecondsMax: Int64 = 604_800

    /// Parses words joined by commas. Nil if one of them is none.
    public init?(_ text: String) {
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            switch word {
            case "lose": loses = true
            case "duplicate": duplicates = true
            case "reorder": reorders = true
            default:
                guard word.hasPrefix("delay="),
                    let seconds = Fault.number(
                        String(word.dropFirst(6)), 1...Self.delaySecondsMax)
                else { return nil }
                delaySeconds = seconds
            }
        }
    }

    /// How many milliseconds a notification waits before its first attempt.
    /// `draw`: any number that is its own.
    public func hold(_ draw: UInt64) -> Int64 {
        delaySeconds * 1000
            + (reorders ? Int64(draw % UInt64(Self.reorderSeconds * 1000)) : 0)
    }

    var text: String {
        var words: [String] = []
        if loses { words.append("lose") }
        if duplicates { words.append("duplicate") }
        if reorders { words.append("reorder") }
        if delaySeconds > 0 { words.append("delay=\(delaySeconds)") }
        return words.joined(separator: ",")
    }
}
