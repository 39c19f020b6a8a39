// SPDX-License-Identifier: Apache-2.0

/// A failure that a sandbox simulates toward merchants' servers or devices, as its switch
/// names it.
public enum Fault: Hashable, Sendable {
    /// The App Store Server API has Apple's limits for sandboxes, or a number of
    /// requests an hour to each address.
    case rateLimits(perHour: Int64?)
    /// verifyReceipt answers every valid request with this status.
    case verifyReceipt(status: Int)
    case notifications(NotificationFault)
    /// How often a notification is attempted, with Apple's pauses between.
    case notificationAttempts(Int)
    /// A device's sign-in and questions for products are answered with this status
    /// and nothing else, and its payments fail without a reason.
    case devices(status: Int)
    /// The authoriser declines the payments that one of the rules names.
    case payments([DeclineRule])

    /// The names of the switches.
    public enum Name: String, Hashable, Sendable, CaseIterable {
        case rateLimits = "rate-limits"
        case verifyReceipt = "verify-receipt"
        case notifications
        case notificationAttempts = "notification-attempts"
        case devices
        case payments

        /// The values that the switch has, for messages.
        public var rule: String {
            switch self {
            case .rateLimits: "`apple`, or 1 to 1000000 requests an hour to each address"
            case .verifyReceipt: "a status: 21002 to 21005, 21009, 21010, or 21100 to 21199"
            case .notifications:
                "one or more of `lose`, `duplicate`, `reorder` and `delay=SECONDS`, joined by commas"
            case .notificationAttempts: "1 to 6"
            case .devices: "a status: 500 to 599"
            case .payments:
                "`all`, or one or more of `customer=NUMBER`, `product=ID`, `amount=9.90` (of "
                    + "the whole payment) and `attempt=N`; several rules with `;` between"
            }
        }
    }

    /// The longest value in bytes.
    public static let valueBytesMax = 1000

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
        case .devices:
            guard let status = Self.number(value, 500...599) else { return nil }
            self = .devices(status: Int(status))
        case .payments:
            let rules = value.split(separator: ";", omittingEmptySubsequences: false)
            let read = rules.compactMap { DeclineRule(Self.trimmed($0)) }
            guard read.count == rules.count else { return nil }
            self = .payments(read)
        }
    }

    public var name: Name {
        switch self {
        case .rateLimits: .rateLimits
        case .verifyReceipt: .verifyReceipt
        case .notifications: .notifications
        case .notificationAttempts: .notificationAttempts
        case .devices: .devices
        case .payments: .payments
        }
    }

    /// The value in its shortest form, which reads back as the same fault.
    public var value: String {
        switch self {
        case .rateLimits(let perHour): perHour.map(String.init) ?? "apple"
        case .verifyReceipt(let status): String(status)
        case .notifications(let fault): fault.text
        case .notificationAttempts(let number): String(number)
        case .devices(let status): String(status)
        case .payments(let rules): rules.map(\.text).joined(separator: "; ")
        }
    }

    /// Without spaces at both ends.
    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return String(text)
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
