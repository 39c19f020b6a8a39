// SPDX-License-Identifier: Apache-2.0

/// How a sandbox behaves for an app: the switches of its catalogue file, as
/// they are obeyed.
public struct AppSettings: Hashable, Sendable, Codable {
    public var bundleId: String
    /// The file's number of the rate at which commercial time runs; 0 is real time.
    public var timeRate: Int64
    /// How many times as fast as the wall commercial time runs at that rate.
    public var speed: Int64
    /// Every purchase waits for approval.
    public var asksToBuy: Bool
    /// Purchases wait until the customer has dealt with something.
    public var interruptsPurchases: Bool
    /// Renewals fail and are tried again.
    public var failsRenewals: Bool
    /// Customers keep what they had while a renewal is tried again.
    public var hasGracePeriod: Bool
    /// Payments are confirmed by themselves, without a payment sheet.
    public var disablesDialogs: Bool
    /// Calls that fail.
    public var errors: [FailingCall]
    /// What is switched on and acts in part or not at all, a sentence each.
    public var unobeyed: [String]

    public init(
        bundleId: String, timeRate: Int64, speed: Int64, asksToBuy: Bool, interruptsPurchases: Bool,
        failsRenewals: Bool, hasGracePeriod: Bool, disablesDialogs: Bool,
        errors: [FailingCall], unobeyed: [String]
    ) {
        self.bundleId = bundleId
        self.timeRate = timeRate
        self.speed = speed
        self.asksToBuy = asksToBuy
        self.interruptsPurchases = interruptsPurchases
        self.failsRenewals = failsRenewals
        self.hasGracePeriod = hasGracePeriod
        self.disablesDialogs = disablesDialogs
        self.errors = errors
        self.unobeyed = unobeyed
    }
}

/// A call that a sandbox makes fail.
public struct FailingCall: Hashable, Sendable, Codable {
    /// As catalogue files call it: `Load Products`, `Purchase`, …
    public var call: String
    /// Which list of errors: `generic`, `purchase`, `verification`, `refund request`.
    public var kind: String
    /// The error's word in its list: `networkError`.
    public var error: String

    public init(call: String, kind: String, error: String) {
        self.call = call
        self.kind = kind
        self.error = error
    }
}
