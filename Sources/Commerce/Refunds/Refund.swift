// SPDX-License-Identifier: Apache-2.0

/// Money of one sale that was asked back or given back, as its events left it. A
/// sale may have several, one after the other.
public struct Refund: Hashable, Sendable {
    public private(set) var state: State
    /// Why the customer asked. Nil if the customer did not ask.
    public private(set) var wish: RefundWish?
    /// What the merchant reported about the purchase while the customer waited.
    public private(set) var report: ConsumptionReport?
    /// What was given back, also if it was taken back later. Nil before.
    public private(set) var grant: RefundGrant?
    public private(set) var requestedAt: Timestamp?
    /// When it was granted or declined.
    public private(set) var decidedAt: Timestamp?
    public private(set) var reversedAt: Timestamp?
    /// The number of its events.
    public private(set) var events: Int64

    public enum State: String, Hashable, Sendable, CaseIterable {
        /// The customer asked, and waits for the answer.
        case requested
        case declined
        case granted
        /// It was granted, and the money was taken back.
        case reversed
    }

    /// A refund as a store keeps it.
    public init(
        state: State, wish: RefundWish?, report: ConsumptionReport? = nil, grant: RefundGrant?,
        requestedAt: Timestamp?, decidedAt: Timestamp?, reversedAt: Timestamp?, events: Int64
    ) {
        self.state = state
        self.wish = wish
        self.report = report
        self.grant = grant
        self.requestedAt = requestedAt
        self.decidedAt = decidedAt
        self.reversedAt = reversedAt
        self.events = events
    }

    /// Makes a refund from its first event. Nil if none begins with it.
    public init?(first event: RefundEvent) {
        switch event.change {
        case .requested, .granted: break
        case .informed, .declined, .reversed: return nil
        }
        (state, events) = (.requested, 0)
        apply(event)
    }

    /// Makes a refund from its events. Nil if it does not begin with the first.
    public init?(_ events: some Sequence<RefundEvent>) {
        var whole: Refund?
        for event in events {
            if whole == nil { whole = Refund(first: event) } else { whole?.apply(event) }
        }
        guard let whole else { return nil }
        self = whole
    }

    /// Applies a later event.
    public mutating func apply(_ event: RefundEvent) {
        events += 1
        switch event.change {
        case .requested(let wish):
            (state, self.wish, requestedAt) = (.requested, wish, event.at)
        case .informed(let report): self.report = report
        case .declined: (state, decidedAt) = (.declined, event.at)
        case .granted(let grant):
            (state, self.grant, decidedAt) = (.granted, grant, event.at)
        case .reversed: (state, reversedAt) = (.reversed, event.at)
        }
    }

    /// What the customer has back at present.
    public var given: Amount {
        state == .granted ? grant?.sum.amount ?? Amount(milliunits: 0) : Amount(milliunits: 0)
    }

    /// Whether the sale grants nothing any more because of it.
    public var isRevoking: Bool { state == .granted && grant?.kind.isRevoking == true }
}

/// One change of a refund.
///
/// Stores keep events as JSON, so the names of cases and properties are part of
/// the stored form.
public struct RefundEvent: Hashable, Sendable, Codable {
    /// Commercial time.
    public let at: Timestamp
    public let cause: SubscriptionEvent.Cause
    public let change: Change

    public enum Change: Hashable, Sendable, Codable {
        /// The customer asked for the money.
        case requested(wish: RefundWish)
        /// The merchant answered the question that the request caused. A later answer
        /// replaces it.
        case informed(report: ConsumptionReport)
        case declined
        case granted(grant: RefundGrant)
        /// The money was taken back, and the sale grants again what it sold.
        case reversed
    }

    public init(at: Timestamp, cause: SubscriptionEvent.Cause, change: Change) {
        self.at = at
        self.cause = cause
        self.change = change
    }
}

/// What was given back.
public struct RefundGrant: Hashable, Sendable, Codable {
    public let kind: Kind
    public let sum: Money
    /// The unused share of the price, in thousandths of a percent. Only for
    /// ``Kind/prorated``.
    public let percentage: Int?
    public let reason: RevocationReason

    public enum Kind: String, Hashable, Sendable, CaseIterable, Codable {
        /// All that the customer has not got back yet.
        case full
        /// The price of a subscription's unused time, which ends at once, or of the part
        /// of another product that the merchant reports as unused.
        case prorated
        /// The same when the customer changes to a better product. The old period
        /// counts as replaced, and not as revoked.
        case upgrade
        /// Nothing. The sale is revoked without money.
        case nothing

        /// Whether the sale grants nothing any more.
        public var isRevoking: Bool { self != .upgrade }
    }

    public init(kind: Kind, sum: Money, percentage: Int? = nil, reason: RevocationReason = .other) {
        self.kind = kind
        self.sum = sum
        self.percentage = percentage
        self.reason = reason
    }
}

/// Why a customer asks for money back. The raw values are Apple's.
/// [Apple's page](https://developer.apple.com/documentation/appstoreservernotifications/consumptionrequestreason)
public enum RefundWish: String, Hashable, Sendable, CaseIterable, Codable {
    case unintended = "UNINTENDED_PURCHASE"
    case unfulfilled = "FULFILLMENT_ISSUE"
    case unsatisfied = "UNSATISFIED_WITH_PURCHASE"
    case legal = "LEGAL"
    case other = "OTHER"
}
