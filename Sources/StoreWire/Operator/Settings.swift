// SPDX-License-Identifier: Apache-2.0

/// The behaviour of a sandbox for an app: the effective settings of its
/// catalogue file.
public struct AppSettings: Hashable, Sendable, Codable {
    public var bundleId: String
    /// The catalogue file's number for the speed of commercial time. 0 is real
    /// time.
    public var timeRate: Int64
    /// The speed of commercial time at that rate, as a multiple of the wall
    /// clock's.
    public var speed: Int64
    /// Every purchase waits for approval.
    public var asksToBuy: Bool
    /// Purchases wait until the customer has dealt with something.
    public var interruptsPurchases: Bool
    /// Renewals fail and are retried.
    public var failsRenewals: Bool
    /// Customers keep their subscription while a renewal is retried.
    public var hasGracePeriod: Bool
    /// Payments are confirmed without a payment sheet.
    public var disablesDialogs: Bool
    /// Calls that fail.
    public var errors: [FailingCall]
    /// The settings that are switched on without full effect, one sentence
    /// each.
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
    /// The name in catalogue files: `Load Products`, `Purchase`, …
    public var call: String
    /// The list of errors: `generic`, `purchase`, `verification`, `refund
    /// request`.
    public var kind: String
    /// The name of the error in its list: `networkError`.
    public var error: String

    public init(call: String, kind: String, error: String) {
        self.call = call
        self.kind = kind
        self.error = error
    }
}
