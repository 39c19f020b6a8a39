// SPDX-License-Identifier: Apache-2.0

/// A sale of one person, as the person's family gets it.
public struct FamilySale: Hashable, Sendable {
    /// The purchaser's transaction.
    public let id: TransactionID
    public let originalID: TransactionID
    public let productID: ProductID
    public let type: ProductType
    /// Whether it renewed a subscription.
    public let isRenewal: Bool
    public let purchasedAt: Timestamp
    /// The end of a subscription's period. Nil for other products.
    public let endsAt: Timestamp?
    /// Whether the purchaser changed to a better product before its end.
    public let isUpgraded: Bool
    public let revokedAt: Timestamp?
    /// Whether the catalogue shares the product.
    public let isShareable: Bool
    /// The purchaser's revision in which it last changed.
    public let revision: Int64

    public init(
        id: TransactionID, originalID: TransactionID, productID: ProductID, type: ProductType,
        isRenewal: Bool = false, purchasedAt: Timestamp, endsAt: Timestamp? = nil,
        isUpgraded: Bool = false, revokedAt: Timestamp? = nil, isShareable: Bool,
        revision: Int64
    ) {
        self.id = id
        self.originalID = originalID
        self.productID = productID
        self.type = type
        self.isRenewal = isRenewal
        self.purchasedAt = purchasedAt
        self.endsAt = endsAt
        self.isUpgraded = isUpgraded
        self.revokedAt = revokedAt
        self.isShareable = isShareable
        self.revision = revision
    }

    fileprivate func isUsable(at instant: Timestamp) -> Bool {
        !isUpgraded && endsAt.map { instant < $0 } != false
    }

    /// Whether it was ended before it began, because it was charged ahead.
    fileprivate var wasEnded: Bool { endsAt.map { $0 <= purchasedAt } ?? false }

    fileprivate func isAfter(_ other: FamilySale) -> Bool {
        (purchasedAt, id.value) > (other.purchasedAt, other.id.value)
    }
}

/// What a member got for a sale of another person.
public struct FamilyShare: Hashable, Sendable {
    /// The purchaser's transaction.
    public let saleID: TransactionID
    /// The purchaser's first transaction of a subscription.
    public let originalID: TransactionID
    public var endsAt: Timestamp?
    /// Why the member has it no more. Nil while it is the present one.
    public var ending: Ending?
    /// Whether the purchaser's subscription has changed since this was last written.
    public var isStale: Bool
    /// How often the member has got the sale, from 1.
    public let turn: Int64

    /// Stores keep the raw values.
    public enum Ending: String, Hashable, Sendable, CaseIterable, Codable {
        /// The next period took its place.
        case renewed
        /// The period of a better product took its place.
        case upgraded
        /// The purchaser's subscription expired.
        case expired
        /// The member or the purchaser left the family.
        case left
        /// The purchaser stopped sharing.
        case stopped
        /// The sale was refunded or revoked.
        case refunded
        /// The purchaser changed to a product that is not shared.
        case unshared
        /// The purchaser's history was cleared.
        case cleared

        /// Whether the member's transaction is revoked.
        public var isRevoking: Bool {
            switch self {
            case .left, .stopped, .refunded, .unshared, .cleared: true
            case .renewed, .upgraded, .expired: false
            }
        }
    }

    public init(
        saleID: TransactionID, originalID: TransactionID, endsAt: Timestamp? = nil,
        ending: Ending? = nil, isStale: Bool = false, turn: Int64 = 1
    ) {
        self.saleID = saleID
        self.originalID = originalID
        self.endsAt = endsAt
        self.ending = ending
        self.isStale = isStale
        self.turn = turn
    }

    /// Whether the member may use it, also a period after which the next one is paid
    /// already.
    fileprivate func isRunning(at instant: Timestamp) -> Bool {
        ending == nil || (ending == .renewed && endsAt.map { instant < $0 } == true)
    }
}

/// One change of what a member gets. `share` is a place in the list of shares, in
/// which each granted one is appended.
public enum FamilyStep: Hashable, Sendable {
    /// The member gets a transaction. `after`: the share that it follows.
    case granted(FamilySale, at: Timestamp, kind: GrantKind)
    case ended(share: Int, FamilyShare.Ending, at: Timestamp)
    /// The refund of a period that is over was taken back. `as`: how it has ended.
    case reinstated(share: Int, as: FamilyShare.Ending, at: Timestamp)
    /// The period's end moved.
    case moved(share: Int, to: Timestamp)
    /// The renewal has changed, or could not be charged.
    case announced(share: Int, FamilyAnnouncement, at: Timestamp)
    /// The period that was charged ahead is refunded, and this one is the present one again.
    case reopened(share: Int)
    /// What is shown of the purchaser's subscription has changed. Nothing is announced.
    case refreshed(share: Int)

    public enum GrantKind: String, Hashable, Sendable, Codable {
        /// A product that is bought once.
        case product
        /// The member's first period of the purchaser's subscription.
        case first
        /// A period after a pause, or of another product.
        case again
        /// The next period.
        case renewal
        /// The next period, after it could not be charged at first.
        case recovery
    }
}

/// Brings what a member gets from one purchaser up to date.
///
/// Shared are non-consumables and auto-renewable subscriptions that the catalogue
/// makes shareable, and nothing else:
/// [Apple's page](https://developer.apple.com/documentation/storekit/supporting-family-sharing-in-your-app).
/// A member pays nothing and gets no introductory offer by it, because the
/// eligibility is that of the person who pays:
/// [Apple's page](https://developer.apple.com/documentation/storekit/implementing-introductory-offers-in-your-app).
public struct FamilySharing: Sendable {
    /// The purchaser's sales.
    public var sales: [FamilySale]
    /// The purchaser's subscriptions that have expired, and when.
    public var expired: [TransactionID: Timestamp]
    /// What happened to the purchaser's subscriptions, in order. Only what came after
    /// ``seen`` matters.
    public var news: [FamilyNews]
    /// Since when the member gets what the purchaser buys. Nil if not at all.
    public var since: Timestamp?
    /// Whether they are in one family.
    public var isOneFamily: Bool
    /// The sales of non-consumables that the member has bought, too. The member keeps
    /// the own one and gets no other.
    public var owned: Set<TransactionID>
    /// The purchaser's revision up to which sales were considered before. Nil if
    /// none was.
    public var seen: Int64?
    /// Whether the places of both people are still those of that time.
    public var isSettled: Bool

    public init(
        sales: [FamilySale], expired: [TransactionID: Timestamp] = [:],
        news: [FamilyNews] = [], since: Timestamp?, isOneFamily: Bool,
        owned: Set<TransactionID> = [], seen: Int64? = nil, isSettled: Bool = true
    ) {
        self.sales = sales
        self.expired = expired
        self.news = news
        self.since = since
        self.isOneFamily = isOneFamily
        self.owned = owned
        self.seen = seen
        self.isSettled = isSettled
    }

    /// The types of products that can be shared.
    public static func isShared(_ type: ProductType) -> Bool {
        type == .nonConsumable || type == .autoRenewable
    }

    /// Returns the changes in commercial order.
    public func steps(from shares: [FamilyShare], at now: Timestamp) -> [FamilyStep] {
        let unseen = news.since(seen)
        var work = FamilyWork(shares, unseen.recoveries)
        guard let begun = since else {
            for item in unseen.announced { announce(item.news, &work, since: now, at: now) }
            let ending: FamilyShare.Ending = isOneFamily ? .stopped : .left
            for place in shares.indices where shares[place].isRunning(at: now) {
                work.end(place, ending, at: now)
            }
            return work.steps
        }
        // The clock may have been set back to a time before that.
        let since = min(begun, now)
        endCleared(&work, at: now)
        var announced = unseen.announced[...]
        for (sale, place) in inOrder(unseen, work) {
            while let first = announced.first, first.place < place {
                announce(announced.removeFirst().news, &work, since: since, at: now)
            }
            bring(sale, &work, since: since, at: now)
        }
        for item in announced { announce(item.news, &work, since: since, at: now) }
        endExpired(&work, at: now)
        for place in work.shares.indices where work.shares[place].isStale {
            if work.isPresent(place) { work.refresh(place) }
        }
        return work.steps
    }

    /// The sales in commercial order, each with its place among the events: what happened
    /// before is announced before.
    private func inOrder(
        _ unseen: [FamilyNews], _ work: FamilyWork
    ) -> [(sale: FamilySale, place: FamilyNewsPlace)] {
        let (sold, revoked) = (unseen.sold, unseen.revoked)
        func bought(_ sale: FamilySale) -> FamilyNewsPlace {
            sold[sale.id] ?? FamilyNewsPlace(at: work.date(sale), offset: -1)
        }
        return sales.filter { Self.isShared($0.type) }
            .map { sale -> (sale: FamilySale, place: FamilyNewsPlace, date: Timestamp) in
                // What the member has is looked at when it ended.
                let isHeld = work.place(of: sale) != nil
                if isHeld, let revokedAt = sale.revokedAt {
                    let place = revoked[sale.originalID].flatMap { $0.at == revokedAt ? $0 : nil }
                    return (
                        sale, place ?? FamilyNewsPlace(at: revokedAt, offset: -1), revokedAt
                    )
                }
                if isHeld, sale.isUpgraded, let next = successors(of: sale).map(bought).min() {
                    return (sale, next, next.at)
                }
                return (sale, bought(sale), work.date(sale))
            }
            .sorted {
                ($0.date, $0.sale.id.value) < ($1.date, $1.sale.id.value)
            }
            .map { ($0.sale, $0.place) }
    }

    /// Later periods of the subscription. One that ended before it began takes no place.
    private func successors(of sale: FamilySale) -> [FamilySale] {
        sales.filter {
            $0.originalID == sale.originalID && $0.isAfter(sale) && !$0.wasEnded
        }
    }

    /// Announces what concerns the renewal of the period that the member has. A member who
    /// has got the period only now, by a change of a place, hears nothing of what came before.
    private func announce(
        _ news: FamilyNews, _ work: inout FamilyWork, since: Timestamp, at now: Timestamp
    ) {
        let place = work.shares.indices.last {
            work.shares[$0].originalID == news.originalID && work.isPresent($0)
        }
        guard let place, let announcement = FamilyAnnouncement(news.event.change),
            isSettled || place < work.held && work.shares[place].ending == nil
                || since < news.event.at && news.event.at <= now
        else { return }
        let isOfAnother = sales.contains {
            isAfter(work.shares[place], $0) && work.date($0) < news.event.at
        }
        if !isOfAnother { work.announce(place, announcement, at: news.event.at) }
    }

    private func endCleared(_ work: inout FamilyWork, at now: Timestamp) {
        let known = Set(sales.map(\.id))
        for place in work.shares.indices {
            let share = work.shares[place]
            guard share.isRunning(at: now), !known.contains(share.saleID) else { continue }
            work.end(place, .cleared, at: now)
        }
    }

    private func bring(
        _ sale: FamilySale, _ work: inout FamilyWork, since: Timestamp, at now: Timestamp
    ) {
        guard let place = work.place(of: sale) else {
            if isOwed(sale, since: since, at: now), !isFollowed(sale, in: work) {
                grant(sale, &work, at: max(work.date(sale), since))
            }
            return
        }
        let share = work.shares[place]
        if let revokedAt = sale.revokedAt {
            if share.ending?.isRevoking != true {
                work.end(place, .refunded, at: max(revokedAt, since))
                reopen(before: place, &work, at: now)
            }
            return
        }
        if let ending = share.ending, ending.isRevoking {
            guard sale.isShareable, !isOwned(sale) else { return }
            if sale.isUsable(at: now), !isFollowed(sale, in: work) {
                return grant(sale, &work, at: now)
            }
            guard ending == .refunded, let end = sale.endsAt, since < end else { return }
            work.reinstate(
                place, isUpgraded: sale.isUpgraded, isFollowed: hasLaterShare(sale, in: work),
                at: now)
        }
        if let end = sale.endsAt, end != share.endsAt { work.move(place, to: end) }
        guard sale.isUpgraded, share.isRunning(at: now) else { return }
        if !hasSharedSuccessor(sale) {
            work.end(place, .unshared, at: now)
        } else if share.ending != nil {
            // The next period was charged ahead, and the upgrade replaces both.
            work.end(place, .upgraded, at: now)
        }
    }

    /// Whether the member gets a sale for which there is no share yet. One that was
    /// considered before is given only what is left of it.
    private func isOwed(_ sale: FamilySale, since: Timestamp, at now: Timestamp) -> Bool {
        guard sale.isShareable, sale.revokedAt == nil, !sale.wasEnded, !isOwned(sale),
            !sale.isUpgraded || hasSharedSuccessor(sale)
        else { return false }
        guard seen.map({ $0 < sale.revision }) != false else {
            return sale.isUsable(at: max(since, now))
        }
        return sale.purchasedAt >= since || sale.isUsable(at: since)
    }

    /// Whether the member has a later period of the subscription, which an earlier one must
    /// not end: the refund of the earlier one was taken back.
    private func isFollowed(_ sale: FamilySale, in work: FamilyWork) -> Bool {
        work.shares.contains { share in
            guard share.originalID == sale.originalID, share.ending == nil,
                let present = sales.first(where: { $0.id == share.saleID })
            else { return false }
            return !present.isUpgraded && !present.wasEnded && present.isAfter(sale)
        }
    }

    /// Whether the member got a later period of the subscription. The order in which the
    /// shares were given does not say that, because a clock may be set back.
    private func hasLaterShare(_ sale: FamilySale, in work: FamilyWork) -> Bool {
        work.shares.contains { share in
            share.originalID == sale.originalID
                && sales.contains { $0.id == share.saleID && $0.isAfter(sale) }
        }
    }

    /// Makes the period present again that still runs, where the next one was charged ahead
    /// and is refunded.
    private func reopen(before place: Int, _ work: inout FamilyWork, at now: Timestamp) {
        let refunded = work.shares[place]
        let isFollowed = work.shares.contains {
            $0.originalID == refunded.originalID && $0.ending == nil
        }
        let before = work.shares.indices.last {
            $0 != place && work.shares[$0].originalID == refunded.originalID
                && work.shares[$0].ending == .renewed && work.shares[$0].isRunning(at: now)
        }
        if !isFollowed, let before { work.reopen(before) }
    }

    private func isOwned(_ sale: FamilySale) -> Bool {
        sale.type == .nonConsumable && owned.contains(sale.id)
    }

    /// Whether the member gets what took the place of a sale.
    private func hasSharedSuccessor(_ sale: FamilySale) -> Bool {
        successors(of: sale).contains {
            $0.isShareable && $0.revokedAt == nil && !$0.isUpgraded
        }
    }

    private func grant(_ sale: FamilySale, _ work: inout FamilyWork, at instant: Timestamp) {
        guard sale.type == .autoRenewable else {
            return work.grant(sale, at: instant, kind: .product)
        }
        let earlier = work.shares.indices.filter { work.shares[$0].originalID == sale.originalID }
        var kind: FamilyStep.GrantKind = earlier.isEmpty ? .first : .again
        for place in earlier where work.isPresent(place) {
            let before = sales.first { $0.id == work.shares[place].saleID }
            if work.shares[place].ending == nil {
                work.end(place, before?.isUpgraded == true ? .upgraded : .renewed, at: instant)
            }
            if work.recoveries[sale.id] != nil {
                kind = .recovery
            } else if sale.isRenewal {
                kind = .renewal
            }
        }
        work.grant(sale, at: instant, kind: kind)
    }

    /// Ends the last period of a subscription that has expired, or goes on as a product
    /// that is not shared.
    private func endExpired(_ work: inout FamilyWork, at now: Timestamp) {
        for place in work.shares.indices where work.shares[place].ending == nil {
            let share = work.shares[place]
            if let instant = expired[share.originalID] {
                work.end(place, .expired, at: instant)
            } else if let end = share.endsAt, end <= now, goesOn(after: share) {
                work.end(place, .expired, at: end)
            }
        }
    }

    private func goesOn(after share: FamilyShare) -> Bool {
        sales.contains { isAfter(share, $0) }
    }

    private func isAfter(_ share: FamilyShare, _ sale: FamilySale) -> Bool {
        sale.originalID == share.originalID && sale.id != share.saleID
            && share.endsAt.map { $0 <= sale.purchasedAt } == true
    }
}

/// The steps so far, and the shares after them.
private struct FamilyWork {
    var shares: [FamilyShare]
    var steps: [FamilyStep] = []
    /// When periods were paid that could not be charged at first.
    let recoveries: [TransactionID: Timestamp]
    /// The number of shares before the first step.
    let held: Int

    init(_ shares: [FamilyShare], _ recoveries: [TransactionID: Timestamp]) {
        (self.shares, self.recoveries, held) = (shares, recoveries, shares.count)
    }

    /// When the member gets a sale. Within a grace period, the period begins before it
    /// is paid.
    func date(_ sale: FamilySale) -> Timestamp { recoveries[sale.id] ?? sale.purchasedAt }

    /// The last share of a sale. Its date does not say which one that is, because a clock may
    /// be set back.
    func place(of sale: FamilySale) -> Int? {
        shares.indices.filter { shares[$0].saleID == sale.id }
            .max { (shares[$0].turn, $0) < (shares[$1].turn, $1) }
    }

    mutating func grant(_ sale: FamilySale, at instant: Timestamp, kind: FamilyStep.GrantKind) {
        let turn = (place(of: sale).map { shares[$0].turn } ?? 0) + 1
        steps.append(.granted(sale, at: instant, kind: kind))
        shares.append(
            FamilyShare(
                saleID: sale.id, originalID: sale.originalID, endsAt: sale.endsAt, turn: turn))
    }

    mutating func end(_ place: Int, _ ending: FamilyShare.Ending, at instant: Timestamp) {
        steps.append(.ended(share: place, ending, at: instant))
        shares[place].ending = ending
        shares[place].isStale = false
    }

    /// It has ended as if it had not been refunded.
    mutating func reinstate(
        _ place: Int, isUpgraded: Bool, isFollowed: Bool, at instant: Timestamp
    ) {
        let ending: FamilyShare.Ending =
            isUpgraded ? .upgraded : isFollowed ? .renewed : .expired
        steps.append(.reinstated(share: place, as: ending, at: instant))
        shares[place].ending = ending
        shares[place].isStale = false
    }

    /// Whether a share follows what becomes of the purchaser's subscription: the present
    /// one, or the last one, which was refunded. If that period was over, the subscription
    /// goes on.
    func isPresent(_ place: Int) -> Bool {
        let share = shares[place]
        guard share.ending != nil else { return true }
        return share.ending == .refunded
            && !shares[(place + 1)...].contains { $0.originalID == share.originalID }
    }

    mutating func reopen(_ place: Int) {
        steps.append(.reopened(share: place))
        shares[place].ending = nil
        shares[place].isStale = false
    }

    mutating func move(_ place: Int, to end: Timestamp) {
        steps.append(.moved(share: place, to: end))
        shares[place].endsAt = end
        shares[place].isStale = false
    }

    mutating func announce(
        _ place: Int, _ announcement: FamilyAnnouncement, at instant: Timestamp
    ) {
        steps.append(.announced(share: place, announcement, at: instant))
        shares[place].isStale = false
    }

    mutating func refresh(_ place: Int) {
        steps.append(.refreshed(share: place))
        shares[place].isStale = false
    }
}
