// SPDX-License-Identifier: Apache-2.0

import Commerce

/// What the books know about one purchase that grants an entitlement.
struct EntitlementFact: Hashable, Sendable {
    let name: String
    let lasting: Grant.Lasting
    let onReversal: Grant.Reversal
    let transactionID: String
    /// Identifies the subscription or the single purchase: store, app and original
    /// transaction. Two stores may give one number.
    let original: String
    let productID: String
    let quantity: Int
    let purchasedAt: Timestamp
    let expiresAt: Timestamp?
    let isUpgraded: Bool
    /// What became of the period, as the others of its subscription show.
    var fate = SubscriptionLife.Fate()
    /// The end of the subscription's grace period, as last signed.
    let graceUntil: Timestamp?
    let revokedAt: Timestamp?

    /// When it stops to count because the store has revoked it.
    var reversedAt: Timestamp? { onReversal == .keep ? nil : revokedAt }
}

/// A time in which one purchase grants an entitlement.
struct EntitlementSpan: Hashable, Sendable {
    /// Why it ends.
    enum End: String, Hashable, Sendable {
        case never, expired, graceEnded, revoked, upgraded
        /// The store has signed no date at which the subscription's period ends.
        case noExpiry
    }

    let fact: EntitlementFact
    let start: Timestamp
    /// Nil for ever. Not after `start` if the purchase grants nothing.
    let until: Timestamp?
    let end: End

    func holds(_ instant: Timestamp) -> Bool {
        start <= instant && until.map { instant < $0 } ?? true
    }
}

/// An entitlement of an account, as the spans of its purchases.
///
/// A pure function of the facts: the order in which they arrived does not matter.
struct EntitlementTimeline: Hashable, Sendable {
    let name: String
    /// In the order of their starts.
    let spans: [EntitlementSpan]

    /// The latest end of a span. Absurd quantities of long periods stop here.
    private static let latest = Timestamp(milliseconds: Int64(Timestamp.magnitudeMax))

    /// Returns the entitlements that facts grant, in the order of their names.
    static func all(_ facts: [EntitlementFact]) -> [EntitlementTimeline] {
        Dictionary(grouping: facts, by: \.name).sorted { $0.key < $1.key }.map {
            EntitlementTimeline(name: $0, facts: $1)
        }
    }

    private init(name: String, facts: [EntitlementFact]) {
        var spans: [EntitlementSpan] = []
        var paidUntil: Timestamp?
        for fact in facts.sorted(by: Self.precedes) {
            switch fact.lasting {
            case .forever: spans.append(Self.forever(fact))
            case .period(let period):
                let span = Self.extended(fact, by: period, from: paidUntil)
                paidUntil = span.until
                spans.append(span)
            case .subscription(let grace): spans.append(Self.subscribed(fact, grace))
            }
        }
        self.name = name
        self.spans = spans.sorted {
            PeriodOrder($0.start, $0.fact.transactionID)
                < PeriodOrder($1.start, $1.fact.transactionID)
        }
    }

    private static func precedes(_ one: EntitlementFact, _ other: EntitlementFact) -> Bool {
        PeriodOrder(one.purchasedAt, one.transactionID)
            < PeriodOrder(other.purchasedAt, other.transactionID)
    }

    private static func forever(_ fact: EntitlementFact) -> EntitlementSpan {
        cut(EntitlementSpan(fact: fact, start: fact.purchasedAt, until: nil, end: .never))
    }

    /// A period begins at the later of the purchase date and the end of what
    /// earlier purchases gave. A revocation ends it at its date, so what follows
    /// moves up by what was not used.
    private static func extended(
        _ fact: EntitlementFact, by period: Period, from paidUntil: Timestamp?
    ) -> EntitlementSpan {
        let start = max(fact.purchasedAt, paidUntil ?? fact.purchasedAt)
        let until = min(start.adding(period, times: fact.quantity), latest)
        return cut(EntitlementSpan(fact: fact, start: start, until: until, end: .expired))
    }

    private static func subscribed(_ fact: EntitlementFact, _ grace: Bool) -> EntitlementSpan {
        let start = fact.purchasedAt
        guard let expiresAt = fact.expiresAt else {
            return EntitlementSpan(fact: fact, start: start, until: start, end: .noExpiry)
        }
        let ended = min(expiresAt, fact.fate.endedAt ?? expiresAt)
        if let replacedAt = fact.fate.replacedAt, replacedAt < ended {
            return cut(
                EntitlementSpan(fact: fact, start: start, until: replacedAt, end: .upgraded))
        }
        // A grace period follows the newest paid one, which nothing has replaced.
        if grace, !fact.isUpgraded, fact.fate.isNewest, fact.fate.endedAt == nil,
            let graceUntil = fact.graceUntil, graceUntil > ended
        {
            return cut(
                EntitlementSpan(fact: fact, start: start, until: graceUntil, end: .graceEnded))
        }
        return cut(EntitlementSpan(fact: fact, start: start, until: ended, end: .expired))
    }

    /// Ends a span at the revocation, if that comes first.
    private static func cut(_ span: EntitlementSpan) -> EntitlementSpan {
        guard let reversedAt = span.fact.reversedAt,
            span.until.map({ reversedAt < $0 }) ?? true
        else { return span }
        return EntitlementSpan(
            fact: span.fact, start: span.start, until: max(span.start, reversedAt),
            end: .revoked)
    }
}

extension EntitlementTimeline {
    /// What holds at one instant.
    enum State: Hashable, Sendable {
        /// From `since` until `until` without a gap. Nil for ever.
        case active(since: Timestamp, until: Timestamp?, by: EntitlementSpan)
        /// It has ended last with this span.
        case ended(EntitlementSpan)
        /// It begins later.
        case begins(EntitlementSpan)
    }

    func state(at now: Timestamp) -> State? {
        if let holder = spans.first(where: { $0.holds(now) }) {
            let reach = coverage(of: now)
            return .active(since: reach.start, until: reach.until, by: holder)
        }
        let past = spans.filter { $0.start <= now }
        if let last = past.max(by: { ($0.until ?? $0.start) < ($1.until ?? $1.start) }) {
            return .ended(last)
        }
        // A period that was revoked before it began never begins.
        if let next = spans.first(where: { span in span.until.map { $0 > span.start } ?? true }) {
            return .begins(next)
        }
        return spans.first.map(State.ended)
    }

    /// The time around an instant that spans cover without a gap.
    private func coverage(of now: Timestamp) -> (start: Timestamp, until: Timestamp?) {
        var reached: (start: Timestamp, until: Timestamp?)?
        for span in spans where span.until.map({ $0 > span.start }) ?? true {
            guard let before = reached, let end = before.until else {
                if reached == nil { reached = (span.start, span.until) }
                continue
            }
            if span.start <= end {
                reached = (before.start, span.until.map { max($0, end) })
            } else if end <= now {
                reached = (span.start, span.until)
            }
        }
        return reached ?? (now, now)
    }
}
