// SPDX-License-Identifier: Apache-2.0

/// The behaviour of a test environment: the settings of a catalogue file.
public struct SandboxSettings: Hashable, Sendable {
    /// How fast commercial time runs, by Apple's number of the rate.
    public var timeRate: TimeRate
    /// Every purchase waits for approval.
    public var asksToBuy: Bool
    /// Purchases are interrupted until the customer has dealt with something.
    public var interruptsPurchases: Bool
    /// Renewals fail and are retried.
    public var failsRenewals: Bool
    /// Customers keep their subscription while a renewal is retried.
    public var hasGracePeriod: Bool
    /// No payment sheet is shown.
    public var disablesDialogs: Bool
    /// The calls that fail, and how.
    public var errors: [SimulatedError]

    public init(
        timeRate: TimeRate = .real, asksToBuy: Bool = false, interruptsPurchases: Bool = false,
        failsRenewals: Bool = false, hasGracePeriod: Bool = false, disablesDialogs: Bool = false,
        errors: [SimulatedError] = []
    ) {
        self.timeRate = timeRate
        self.asksToBuy = asksToBuy
        self.interruptsPurchases = interruptsPurchases
        self.failsRenewals = failsRenewals
        self.hasGracePeriod = hasGracePeriod
        self.disablesDialogs = disablesDialogs
        self.errors = errors
    }
}

extension SandboxSettings {
    /// Returns how a call fails, or nil if it does not.
    public func error(of call: SimulatedError.Call) -> SimulatedError? {
        errors.first { $0.call == call }
    }

    /// The answer to every payment if payments are made to fail: the closest
    /// refusal, or ``PurchaseRefusal/simulated``.
    public var purchaseRefusal: PurchaseRefusal? {
        guard let error = error(of: .purchase) else { return nil }
        switch (error.kind, error.index) {
        case (.purchase, 0): return .quantityOutOfRange
        case (.purchase, 1), (.generic, 4): return .unknownProduct
        case (.purchase, 2): return .purchasesNotAllowed
        default: return .simulated
        }
    }
}

/// How fast subscriptions renew. Raw values are those of the test session's
/// public time rates.
public enum TimeRate: Int, Sendable, CaseIterable {
    case real = 0
    case hourIsDay = 1
    case thirtyMinutesAreDay = 2
    case fiveMinutesAreDay = 3
    case minuteIsDay = 4
    case thirtySecondsAreDay = 5
    case secondIsDay = 6
    case monthIsHour = 10
    case monthIsThirtyMinutes = 11
    case monthIsFifteenMinutes = 12
    case monthIsFiveMinutes = 13
    case monthIsThirtySeconds = 15
    case everyFifteenMinutes = 1000
    case everyFiveMinutes = 1001
    case everyMinute = 1002
    case everyThirtySeconds = 1003
    case everyTenSeconds = 1004
    case everyTwoSeconds = 1005

    /// The clock's speed as a multiple of the wall clock's. A rate that shortens
    /// periods leaves the clock at the wall clock's own.
    public var speed: Int64 {
        switch self {
        case .hourIsDay: 24
        case .thirtyMinutesAreDay: 48
        case .fiveMinutesAreDay: 288
        case .minuteIsDay: 1440
        case .thirtySecondsAreDay: 2880
        case .secondIsDay: 86_400
        default: 1
        }
    }

    /// How long periods last. Nil in the calendar.
    public var tempo: Tempo? {
        switch self {
        case .monthIsHour: .monthIsHour
        case .monthIsThirtyMinutes: .monthIsThirtyMinutes
        case .monthIsFifteenMinutes: .monthIsFifteenMinutes
        case .monthIsFiveMinutes: .monthIsFiveMinutes
        case .monthIsThirtySeconds: .monthIsThirtySeconds
        case .everyFifteenMinutes: .everyFifteenMinutes
        case .everyFiveMinutes: .everyFiveMinutes
        case .everyMinute: .everyMinute
        case .everyThirtySeconds: .everyThirtySeconds
        case .everyTenSeconds: .everyTenSeconds
        case .everyTwoSeconds: .everyTwoSeconds
        default: nil
        }
    }

    /// Apple's name of the rate.
    public var name: String {
        switch self {
        case .real: "realTime"
        case .hourIsDay: "oneHourIsOneDay"
        case .thirtyMinutesAreDay: "thirtyMinutesIsOneDay"
        case .fiveMinutesAreDay: "fiveMinutesIsOneDay"
        case .minuteIsDay: "oneMinuteIsOneDay"
        case .thirtySecondsAreDay: "thirtySecondsIsOneDay"
        case .secondIsDay: "oneSecondIsOneDay"
        default: tempo?.rawValue ?? ""
        }
    }

    /// The rate in words: `1 hour is a day, 24 times as fast`.
    public var words: String {
        if let tempo { return tempo.words }
        let lasts: String
        switch self {
        case .hourIsDay: lasts = "1 hour is a day"
        case .thirtyMinutesAreDay: lasts = "30 minutes are a day"
        case .fiveMinutesAreDay: lasts = "5 minutes are a day"
        case .minuteIsDay: lasts = "1 minute is a day"
        case .thirtySecondsAreDay: lasts = "30 seconds are a day"
        case .secondIsDay: lasts = "1 second is a day"
        default: return "real time"
        }
        return "\(lasts), \(speed) times as fast"
    }
}

/// A call that fails in a test environment.
public struct SimulatedError: Hashable, Sendable {
    /// The raw values are those of catalogue files.
    public enum Call: String, Sendable, CaseIterable {
        case loadProducts = "Load Products"
        case purchase = "Purchase"
        case verification = "Verification"
        case sync = "App Store Sync"
        case subscriptionStatus = "Subscription Status"
        case appTransaction = "App Transaction"
        case manageSubscriptions = "Manage Subscriptions Sheet"
        case refundRequest = "Refund Request Sheet"
        case offerCodeRedeem = "Offer Code Redeem Sheet"
    }

    /// The list of errors that a number refers to. The raw values are those of
    /// catalogue files.
    public enum Kind: String, Sendable, CaseIterable {
        case generic, purchase, verification
        case refundRequest = "refund request"

        /// The number of errors in the list.
        public var count: Int {
            switch self {
            case .generic: 7
            case .purchase: 8
            case .verification: 6
            case .refundRequest: 2
            }
        }
    }

    /// The name of the error in the public lists.
    public var word: String {
        let words: [String] =
            switch kind {
            case .generic:
                [
                    "unknown", "userCancelled", "networkError", "systemError",
                    "notAvailableInStorefront", "notEntitled", "unsupported",
                ]
            case .purchase:
                [
                    "invalidQuantity", "productUnavailable", "purchaseNotAllowed",
                    "ineligibleForOffer", "invalidOfferIdentifier", "invalidOfferPrice",
                    "invalidOfferSignature", "missingOfferParameters",
                ]
            case .verification:
                [
                    "revokedCertificate", "invalidCertificateChain",
                    "invalidDeviceVerification", "invalidEncoding", "invalidSignature",
                    "missingRequiredProperties",
                ]
            case .refundRequest: ["duplicateRequest", "failed"]
            }
        return words.indices.contains(index) ? words[index] : "unknown"
    }

    public let call: Call
    public let kind: Kind
    /// The error's position in its list, from 0.
    public let index: Int

    public init(call: Call, kind: Kind, index: Int) {
        self.call = call
        self.kind = kind
        self.index = index
    }

    /// The lists from which a call's error may come.
    public static func kinds(of call: Call) -> [Kind] {
        switch call {
        case .purchase: [.purchase, .generic]
        case .refundRequest: [.refundRequest, .generic]
        case .verification: [.verification]
        default: [.generic]
        }
    }
}
