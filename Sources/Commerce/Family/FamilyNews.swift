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

/// A renewal that cannot be charged, as members hear of it.
/// [Apple's page](https://developer.apple.com/news/?id=cjhooqcq)
public enum FamilyBilling: Hashable, Sendable, Codable {
    case failed(graceUntil: Timestamp?)
    case graceEnded

    /// Nil for all other events.
    init?(_ change: SubscriptionEvent.Change) {
        switch change {
        case .failed(let graceUntil): self = .failed(graceUntil: graceUntil)
        case .graceEnded: self = .graceEnded
        default: return nil
        }
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

    /// What could not be charged, in the order in which that happened.
    var failures: [FamilyNews] {
        enumerated().filter { FamilyBilling($0.element.event.change) != nil }
            .sorted { ($0.element.event.at, $0.offset) < ($1.element.event.at, $1.offset) }
            .map(\.element)
    }
}
