// SPDX-License-Identifier: Apache-2.0

/// A customer's subscription to a group of products, as its events left it. It
/// lasts through renewals, changes of the product and pauses: a customer who
/// subscribes to the group again continues the same one.
///
/// Stores keep it as JSON, so the names of cases and properties are part of the
/// stored form.
public struct Subscription: Hashable, Sendable, Codable {
    /// The first transaction. It names the subscription.
    public let originalID: TransactionID
    public let groupID: String
    /// The last period that was sold.
    public internal(set) var current: SubscribedPeriod
    /// The period before it, if ``current`` was charged before that had ended.
    public internal(set) var running: RunningPeriod?
    /// A period that was charged ahead and given back while ``current`` still ran.
    /// Nil once another one was sold.
    public internal(set) var givenBack: SubscribedPeriod?
    /// When the customer subscribed last, after a pause that was longer than
    /// ``RenewalRules/pauseMilliseconds``.
    public internal(set) var recentStart: Timestamp
    /// What happens at the end of the period.
    public internal(set) var renewal: Renewal
    public internal(set) var state: State
    /// What happens at the end of the period if a change that was chosen is
    /// dropped again: with the customer's own price and offer.
    public internal(set) var kept: Renewal?
    /// An increase of the price that does not apply yet.
    public internal(set) var increase: PriceIncrease?
    /// Whether a period was sold with an introductory offer, which a customer gets
    /// once in a group.
    public internal(set) var hadIntroduction: Bool
    /// How often it was renewed since the customer subscribed last.
    public internal(set) var renewals: Int

    public enum State: Hashable, Sendable, Codable {
        /// The current period is paid for. `hasFailedAhead`: the charge before its
        /// end was declined, and is repeated at its end.
        case active(hasFailedAhead: Bool)
        /// The period has ended, and the next one could not be charged.
        case unpaid(failure: BillingFailure)
        case expired(reason: Expiration, at: Timestamp)
        /// The current period was refunded or revoked, or is no longer shared.
        case revoked(at: Timestamp)
    }

    public init(
        originalID: TransactionID, groupID: String, current: SubscribedPeriod,
        recentStart: Timestamp, renewal: Renewal, state: State, kept: Renewal? = nil,
        running: RunningPeriod? = nil, givenBack: SubscribedPeriod? = nil,
        increase: PriceIncrease? = nil, hadIntroduction: Bool = false, renewals: Int = 0
    ) {
        self.originalID = originalID
        self.groupID = groupID
        self.current = current
        self.recentStart = recentStart
        self.renewal = renewal
        self.state = state
        self.kept = kept
        self.running = running
        self.givenBack = givenBack
        self.increase = increase
        self.hadIntroduction = hadIntroduction
        self.renewals = renewals
    }
}

/// A period that still runs when the next one is charged.
public struct RunningPeriod: Hashable, Sendable, Codable {
    public internal(set) var period: SubscribedPeriod
    /// Whether it was refunded or revoked.
    public internal(set) var isRevoked: Bool

    public init(period: SubscribedPeriod, isRevoked: Bool = false) {
        self.period = period
        self.isRevoked = isRevoked
    }
}

extension Subscription {
    /// Returns the period before the current one, if it still runs at an instant
    /// and was not revoked.
    public func running(at instant: Timestamp) -> SubscribedPeriod? {
        guard let running, !running.isRevoked, instant < running.period.end else { return nil }
        return running.period
    }
}

/// One period of a subscription: from `start`, up to but not including `end`.
public struct SubscribedPeriod: Hashable, Sendable, Codable {
    /// The transaction that sold it.
    public internal(set) var transaction: TransactionID
    public let productID: ProductID
    public let start: Timestamp
    public private(set) var end: Timestamp
    /// Its length in the calendar.
    public let length: Period
    /// The day of the month on which periods begin, if the month has it.
    public private(set) var anchorDay: Int64
    /// What was charged for it.
    public let price: Money
    public let offer: AppliedOffer?
    /// The commitment that it is a part of. Nil if the customer pays for each
    /// period.
    public let commitment: Commitment?
    /// By which it is shorter than in the calendar, with what follows if the next one
    /// cannot be charged. Nil in the calendar.
    public let tempo: Tempo?

    public init(
        transaction: TransactionID, productID: ProductID, start: Timestamp, end: Timestamp,
        length: Period, anchorDay: Int64, price: Money, offer: AppliedOffer? = nil,
        commitment: Commitment? = nil, tempo: Tempo? = nil
    ) {
        self.transaction = transaction
        self.productID = productID
        self.start = start
        self.end = end
        self.length = length
        self.anchorDay = anchorDay
        self.price = price
        self.offer = offer
        self.commitment = commitment
        self.tempo = tempo
    }

    /// The period that begins at `start`. Periods of months keep the day on which
    /// the first of them began: after 28 February comes 31 March.
    init(
        _ transaction: TransactionID, _ productID: ProductID, from start: Timestamp,
        for length: Period, after before: SubscribedPeriod?, price: Money, offer: AppliedOffer?,
        commitment: Commitment? = nil, tempo: Tempo? = nil
    ) {
        let day = CivilDate(start).day
        let follows =
            before.map { $0.end == start && $0.length.isOfMonths && $0.tempo == nil } ?? false
        let anchorDay = follows && length.isOfMonths ? before?.anchorDay ?? day : day
        self.init(
            transaction: transaction, productID: productID, start: start,
            end: length.end(from: start, anchorDay: anchorDay, at: tempo), length: length,
            anchorDay: anchorDay, price: price, offer: offer, commitment: commitment,
            tempo: tempo)
    }
}

extension SubscribedPeriod {
    /// Moves the end, also to an earlier instant, which may be before the start of a
    /// period that was charged ahead: then it never runs. The periods after it begin on that day.
    mutating func extend(to end: Timestamp) {
        self.end = end
        anchorDay = CivilDate(end).day
    }
}

extension Period {
    fileprivate var isOfMonths: Bool { unit == .month || unit == .year }
}

/// An offer that a period was sold with.
public struct AppliedOffer: Hashable, Sendable, Codable {
    public let kind: OfferKind
    /// Nil for introductory offers.
    public let id: String?
    public let mode: Offer.PaymentMode
    /// The length of one of its periods.
    public let period: Period
    /// The price of one charge.
    public let price: Amount
    /// The number of further periods at this price.
    public let periodsLeft: Int

    public init(
        kind: OfferKind, id: String?, mode: Offer.PaymentMode, period: Period, price: Amount,
        periodsLeft: Int
    ) {
        self.kind = kind
        self.id = id
        self.mode = mode
        self.period = period
        self.price = price
        self.periodsLeft = periodsLeft
    }

    /// The offer for its first period.
    public init(_ offer: Offer, as kind: OfferKind) {
        self.init(
            kind: kind, id: kind == .introductory ? nil : offer.name(as: kind), mode: offer.mode,
            period: offer.period, price: offer.price,
            periodsLeft: offer.mode == .payAsYouGo ? offer.periodCount - 1 : 0)
    }

    /// The length of a period with this offer.
    func length(in plan: SubscriptionPlan) -> Period {
        mode == .payAsYouGo ? plan.period : period
    }

    /// The offer for the period after this one. Nil if this one was the last.
    var next: AppliedOffer? {
        guard periodsLeft > 0 else { return nil }
        return AppliedOffer(
            kind: kind, id: id, mode: mode, period: period, price: price,
            periodsLeft: periodsLeft - 1)
    }
}

/// What happens at the end of a period.
public struct Renewal: Hashable, Sendable, Codable {
    public var isOn: Bool
    /// Why it is off. Nil while it is on.
    public var stop: Expiration?
    /// Whether the customer switched it off in a grace period, which ended with that. Nil
    /// if not, and where an earlier program wrote it.
    public internal(set) var stoppedInGrace: Bool?
    /// The product of the next period.
    public var productID: ProductID
    /// The regular price of the next period: that of the day on which the
    /// customer chose the product, or a later one that applies to the customer.
    public var price: Money
    /// What the product cost when a higher price was announced that is the customer's own
    /// since it applied. Nil if none did, and where an earlier program wrote it.
    public internal(set) var raisedOver: Money?
    /// The offer for the next period.
    public var offer: AppliedOffer?
    /// The offer that follows the one that runs, or is to begin, at present.
    public var laterOffer: AppliedOffer?
    /// Whether the next period begins a commitment.
    public var isCommitted: Bool

    public init(
        isOn: Bool = true, stop: Expiration? = nil, productID: ProductID, price: Money,
        offer: AppliedOffer? = nil, laterOffer: AppliedOffer? = nil, isCommitted: Bool = false
    ) {
        self.isOn = isOn
        self.stop = stop
        self.productID = productID
        self.price = price
        self.offer = offer
        self.laterOffer = laterOffer
        self.isCommitted = isCommitted
    }
}

/// Why a subscription expires.
public enum Expiration: String, Hashable, Sendable, CaseIterable, Codable {
    /// The customer switched the renewal off.
    case cancelled
    /// The renewal could not be charged.
    case billing
    /// The customer did not consent to a higher price.
    case priceIncrease
    /// The product was no longer sold.
    case unavailable
    case other
}

/// A renewal that could not be charged.
public struct BillingFailure: Hashable, Sendable, Codable {
    /// The end of the last paid period.
    public let since: Timestamp
    /// The number of attempts at and after ``since``.
    public var attempts: Int
    /// Until when the customer may use the product. Nil without a grace period,
    /// and after its end.
    public var graceUntil: Timestamp?

    public init(since: Timestamp, attempts: Int, graceUntil: Timestamp?) {
        self.since = since
        self.attempts = attempts
        self.graceUntil = graceUntil
    }
}

/// A higher price for a customer who already subscribes: of the present product, by the present
/// billing plan.
public struct PriceIncrease: Hashable, Sendable, Codable {
    public let price: Money
    /// It applies to periods that begin at this instant or later.
    public let startsAt: Timestamp
    /// Whether the customer has consented, or did not need to.
    public var isAgreed: Bool
    /// What the product costs when it is announced. A customer whom it concerns pays less
    /// only if the product becomes cheaper than that. Nil where an earlier program wrote it.
    public let over: Money?

    public init(price: Money, startsAt: Timestamp, isAgreed: Bool, over: Money? = nil) {
        self.price = price
        self.startsAt = startsAt
        self.isAgreed = isAgreed
        self.over = over
    }
}

/// How long a customer may use a subscription whose renewal cannot be charged.
public enum GracePeriod: Int, Hashable, Sendable, CaseIterable {
    case off = 0
    case threeDays = 3
    case sixteenDays = 16
    case twentyEightDays = 28

    /// The longest one of a weekly subscription.
    static let weeklyDaysMax = 6

    /// Returns the end of the grace period of a subscription whose periods have
    /// this length. Nil if it is off. `tempo`: nil in the calendar.
    public func end(
        from instant: Timestamp, length: Period, at tempo: Tempo? = nil
    ) -> Timestamp? {
        guard self != .off else { return nil }
        let days = length.unit == .week ? min(rawValue, Self.weeklyDaysMax) : rawValue
        if let tempo {
            return instant.adding(
                milliseconds: tempo.graceMilliseconds(days: days, after: length))
        }
        return instant.adding(seconds: Int64(days) * 86_400)
    }
}

/// The time limits of renewals, in commercial time.
public struct RenewalRules: Hashable, Sendable {
    /// How long before a period's end its renewal is charged.
    public let leadMilliseconds: Int64
    /// The charges are spread over this part of it. It is shorter, so that each is
    /// made before the period's end.
    public let spreadMilliseconds: Int64

    /// When a declined charge is repeated: days since the end of the last paid
    /// period.
    public static let retryDays: [Int64] = [1, 2, 4, 7, 12, 19, 28, 40, 52]
    /// After these days it is given up, and the subscription expires.
    public static let retryDaysMax: Int64 = 60
    /// The most renewals to which a test environment can limit subscriptions.
    public static let renewalsMaxMax = 1000
    /// After a longer pause, the subscription counts as begun anew.
    public static let pauseMilliseconds: Int64 = 60 * 86_400_000

    /// A day ahead.
    public static let production = RenewalRules(leadMilliseconds: 86_400_000)
    /// A day to an hour ahead, so that a payment processor does not receive them
    /// all at once.
    public static let processor = RenewalRules(
        leadMilliseconds: 86_400_000, spreadMilliseconds: 82_800_000)
    /// A minute ahead, so that a tester meets few surprises.
    public static let sandbox = RenewalRules(leadMilliseconds: 60_000)

    public init(leadMilliseconds: Int64, spreadMilliseconds: Int64 = 0) {
        self.leadMilliseconds = leadMilliseconds
        self.spreadMilliseconds = spreadMilliseconds
    }
}

/// A product of a subscription group, as it is sold in a storefront now.
public struct SubscriptionPlan: Hashable, Sendable {
    public let productID: ProductID
    public let groupID: String
    /// From 1, which is the highest service.
    public let level: Int
    public let period: Period
    public let price: Money
    public let introductoryOffer: Offer?
    /// The offers that a payment can ask for, by kind.
    public let redeemableOffers: [OfferKind: [Offer]]
    /// What the customer commits to, if the product is paid for in monthly parts.
    /// `period` and `price` are then those of one part.
    public let commitment: CommitmentTerms?

    public init(
        productID: ProductID, groupID: String, level: Int, period: Period, price: Money,
        introductoryOffer: Offer? = nil, redeemableOffers: [OfferKind: [Offer]] = [:],
        commitment: CommitmentTerms? = nil
    ) {
        self.productID = productID
        self.groupID = groupID
        self.level = level
        self.period = period
        self.price = price
        self.introductoryOffer = introductoryOffer
        self.redeemableOffers = redeemableOffers
        self.commitment = commitment
    }
}
