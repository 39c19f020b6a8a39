// SPDX-License-Identifier: Apache-2.0

/// An event of the purchaser's subscription, as the family looks for what concerns it.
public struct FamilyNews: Hashable, Sendable {
    /// The subscription.
    public let originalID: TransactionID
    /// The purchaser's revision in which it happened.
    public let revision: Int64
    public let event: SubscriptionEvent

    public init(originalID: TransactionID, revision: Int64, event: SubscriptionEvent) {
        self.originalID = originalID
        self.revision = revision
        self.event = event
    }
}

/// What members hear of the purchaser's renewal: that it cannot be charged
/// ([Apple's page](https://developer.apple.com/news/?id=cjhooqcq)), and what the purchaser
/// chose for it ([Apple's forum](https://developer.apple.com/forums/thread/744155)).
///
/// Stores keep them as JSON, as a part of ``FamilyEvent``.
public enum FamilyAnnouncement: Hashable, Sendable, Codable {
    case failed(graceUntil: Timestamp?)
    case graceEnded
    case switchedOn
    /// By the purchaser or by the store.
    case switchedOff
    /// Another product from the next period on. `isReversal`: the present one again.
    /// `isRedeemed`: with an offer.
    case choseNext(product: ProductID, isReversal: Bool, isRedeemed: Bool)
    /// An offer for the next period of the present product.
    case redeemed

    /// Nil for all other events.
    init?(_ change: SubscriptionEvent.Change) {
        switch change {
        case .failed(let graceUntil): self = .failed(graceUntil: graceUntil)
        case .graceEnded: self = .graceEnded
        case .switchedOn: self = .switchedOn
        case .switchedOff, .stopped: self = .switchedOff
        case .choseNext(let product, _, let isReversal, let offer, _):
            self = .choseNext(
                product: product, isReversal: isReversal, isRedeemed: offer != nil)
        case .redeemed: self = .redeemed
        default: return nil
        }
    }
}

/// The place of an event among those of all the purchaser's subscriptions.
struct FamilyNewsPlace: Comparable {
    let at: Timestamp
    /// Among those of one instant. -1 before all of them.
    let offset: Int

    static func < (one: Self, other: Self) -> Bool {
        (one.at, one.offset) < (other.at, other.offset)
    }
}

extension [FamilyNews] {
    /// Those after a revision. Nil: all.
    func since(_ revision: Int64?) -> [FamilyNews] {
        guard let revision else { return self }
        return filter { revision < $0.revision }
    }

    /// When periods were paid that could not be charged at first, by their transactions.
    var recoveries: [TransactionID: Timestamp] {
        var found: [TransactionID: Timestamp] = [:]
        for item in self {
            if case .recovered(let period) = item.event.change {
                found[period.transaction] = item.event.at
            }
        }
        return found
    }

    /// What members hear, in the order in which it happened.
    var announced: [(place: FamilyNewsPlace, news: FamilyNews)] {
        placed.filter { FamilyAnnouncement($0.news.event.change) != nil }
            .sorted { $0.place < $1.place }
    }

    /// When the present period of each subscription was last revoked.
    var revoked: [TransactionID: FamilyNewsPlace] {
        var found: [TransactionID: FamilyNewsPlace] = [:]
        for (place, item) in placed {
            switch item.event.change {
            case .refunded, .revoked, .runningRevoked, .aheadRevoked:
                found[item.originalID] = place
            default: break
            }
        }
        return found
    }

    /// When transactions were sold.
    var sold: [TransactionID: FamilyNewsPlace] {
        var found: [TransactionID: FamilyNewsPlace] = [:]
        for (place, item) in placed {
            if let period = item.event.change.sold { found[period.transaction] = place }
        }
        return found
    }

    private var placed: [(place: FamilyNewsPlace, news: FamilyNews)] {
        enumerated().map {
            (FamilyNewsPlace(at: $0.element.event.at, offset: $0.offset), $0.element)
        }
    }
}
