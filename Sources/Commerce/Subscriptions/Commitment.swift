// SPDX-License-Identifier: Apache-2.0

/// The commitment of a customer who pays for a year in monthly parts.
public struct CommitmentTerms: Hashable, Sendable {
    /// The number of parts.
    public let periods: Int
    /// The price of all of them.
    public let price: Money

    public init(periods: Int = Commitment.periods, price: Money) {
        self.periods = periods
        self.price = price
    }
}

/// The part of a commitment that a period is. Until the last part has ended, the
/// parts are charged at the committed price, also if the renewal is switched off,
/// the product is withdrawn, or its price changes.
public struct Commitment: Hashable, Sendable, Codable {
    /// The parts of a commitment of a year.
    public static let periods = 12

    /// From 1.
    public let number: Int
    public let periods: Int
    /// The price of one part, without an offer.
    public let periodPrice: Money
    /// The price of all parts.
    public let price: Money

    public init(number: Int, periods: Int, periodPrice: Money, price: Money) {
        self.number = number
        self.periods = periods
        self.periodPrice = periodPrice
        self.price = price
    }

    /// The first part of a plan's commitment, for a customer who pays `price` for one
    /// part. Nil without one.
    init?(beginning plan: SubscriptionPlan, at price: Money) {
        guard let terms = plan.commitment else { return nil }
        self.init(
            number: 1, periods: terms.periods, periodPrice: price,
            price: price == plan.price
                ? terms.price : Money(price.amount * terms.periods, price.currency))
    }

    /// The part after this one. Nil if this one is the last.
    var next: Commitment? {
        guard number < periods else { return nil }
        return Commitment(
            number: number + 1, periods: periods, periodPrice: periodPrice, price: price)
    }
}

extension SubscribedPeriod {
    /// When the commitment that it is a part of ends. Nil without one.
    public var commitmentEnd: Timestamp? {
        guard let commitment else { return nil }
        let rest = commitment.periods - commitment.number
        guard rest > 0 else { return end }
        return tempo?.makesPeriodsAlike == true
            ? end.adding(milliseconds: Int64(rest) * (tempo?.milliseconds(of: length) ?? 0))
            : Period(rest, .month).end(from: end, anchorDay: anchorDay, at: tempo)
    }

    /// The part of the commitment that follows. Nil if the customer is not, or no
    /// longer, committed at its end.
    var nextPart: Commitment? { commitment?.next }
}

extension Subscription {
    /// Whether the period after the current one is a part of the same commitment, which
    /// ends with the subscription.
    public var isCommitted: Bool {
        guard !hasEnded else { return false }
        // A part that was given back is not charged again by itself.
        return current.nextPart != nil && (givenBack == nil || renewal.isOn)
    }
}
