// SPDX-License-Identifier: Apache-2.0

import Commerce

/// An existing subscription, as the event would have left it.
struct ToldSubscription {
    /// A copy of the customer's own.
    var row: SubscriptionRow
    /// The products of its group as they are sold to the customer.
    let plans: [SubscriptionPlan]

    /// The plan of a product. One that is not sold any more is as the customer has it.
    func plan(_ product: ProductID) -> SubscriptionPlan {
        plans.first { $0.productID == product }
            ?? SubscriptionPlan(
                productID: product, groupID: row.subscription.groupID, level: 1,
                period: row.subscription.current.length, price: row.subscription.renewal.price)
    }

    /// Another product for the next period: of a lower level, if there is one. In a group
    /// without another it is invented.
    var otherPlan: SubscriptionPlan {
        let own = row.subscription.current.productID
        let level = plans.first { $0.productID == own }?.level ?? 0
        let others = plans.filter { $0.productID != own }
        return others.first { $0.level > level } ?? others.first
            ?? plan(ProductID(own.value + NotifiedEvent.nextSuffix))
    }
}

extension NotifiedEvent {
    /// By which an extension moves the end.
    private static let extensionDays: Int64 = 7

    /// Whether it reports that a period was sold.
    private var sellsPeriod: Bool {
        switch type {
        case "DID_RENEW", "SUBSCRIBED": true
        case "DID_CHANGE_RENEWAL_PREF", "OFFER_REDEEMED":
            ["INITIAL_BUY", "RESUBSCRIBE", "UPGRADE"].contains(subtype)
        default: false
        }
    }

    /// Changes an existing subscription, and the transaction that the event is about. A
    /// period that runs is the one that was sold; otherwise the event sells one.
    func change(_ told: inout ToldSubscription, _ facts: inout TransactionFacts) {
        let subscription = told.row.subscription
        switch (type, subtype) {
        case ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"):
            let events = try? subscription.switching(on: false, at: now, cause: .customer)
            for event in events ?? [] { told.row.subscription.apply(event) }
        case ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"), ("OFFER_REDEEMED", nil):
            switchOn(&told)
        case ("DID_CHANGE_RENEWAL_PREF", nil): choose(subscription.current.productID, in: &told)
        case _ where choosesNext:
            let hasChosen = subscription.renewal.productID != subscription.current.productID
            choose(
                hasChosen ? subscription.renewal.productID : told.otherPlan.productID, in: &told)
        case ("RENEWAL_EXTENDED", _): extend(&told, &facts)
        case _ where sellsPeriod:
            let isRunning = subscription.status(at: now) == .active && now < subscription.end
            if !isRunning { sell(&told, &facts) }
        default: break
        }
    }

    private func apply(_ change: SubscriptionEvent.Change, to told: inout ToldSubscription) {
        told.row.subscription.apply(
            SubscriptionEvent(at: now, cause: .customer, change: change))
    }

    private func switchOn(_ told: inout ToldSubscription) {
        if !told.row.subscription.renewal.isOn { apply(.switchedOn, to: &told) }
    }

    private func choose(_ product: ProductID, in told: inout ToldSubscription) {
        let subscription = told.row.subscription
        switchOn(&told)
        let isReversal = product == subscription.current.productID
        guard
            isReversal ? !subscription.renewsOnSameTerms : product != subscription.renewal.productID
        else { return }
        let listed = told.plan(product).price
        apply(
            .choseNext(
                product: product,
                price: isReversal ? subscription.ownPrice(listed: listed) : listed,
                isReversal: isReversal, isCommitted: isReversal && subscription.isPaidInParts),
            to: &told)
    }

    private func extend(_ told: inout ToldSubscription, _ facts: inout TransactionFacts) {
        let end = max(told.row.subscription.end, now).adding(
            seconds: Self.extensionDays * 86_400)
        apply(.extended(to: end), to: &told)
        if facts.id == told.row.subscription.current.transaction { facts.period?.expiresAt = end }
    }

    /// Sells a period from now on. A renewal that could not be charged is charged.
    private func sell(_ told: inout ToldSubscription, _ facts: inout TransactionFacts) {
        let subscription = told.row.subscription
        let plan = told.plan(subscription.renewal.productID)
        let change =
            recovery(of: subscription, plan, facts.id)
            ?? .subscribed(
                period: period(plan, after: subscription.current, facts.id),
                groupID: subscription.groupID, regularPrice: plan.price, isFirst: false)
        apply(change, to: &told)
        let period = told.row.subscription.current
        facts = facts.selling(
            period, of: told.row.subscription.groupID,
            as: type == "DID_RENEW" ? .renewal : .purchase)
    }

    /// Nil if no renewal is unpaid.
    private func recovery(
        of subscription: Subscription, _ plan: SubscriptionPlan, _ id: TransactionID
    ) -> SubscriptionEvent.Change? {
        guard case .unpaid = subscription.state else { return nil }
        let facts = RenewalFacts(
            plan: plan, canBill: true, grace: .off, newID: id,
            tempo: subscription.current.tempo)
        let change = subscription.events(of: .retry, facts, at: now).first?.change
        if case .recovered = change { return change }
        return nil
    }

    private func period(
        _ plan: SubscriptionPlan, after last: SubscribedPeriod, _ id: TransactionID
    ) -> SubscribedPeriod {
        SubscribedPeriod(
            transaction: id, productID: plan.productID, start: now,
            end: plan.period.end(from: now, at: last.tempo), length: plan.period,
            anchorDay: last.anchorDay, price: plan.price, tempo: last.tempo)
    }
}

extension TransactionFacts {
    /// The transaction, as if it had sold this period. A member of the family pays
    /// nothing for it.
    fileprivate func selling(
        _ sold: SubscribedPeriod, of groupID: String, as reason: TransactionReason
    ) -> TransactionFacts {
        let isShared = ownership == .familyShared
        let facts = PeriodFacts(sold, groupID: groupID)
        return TransactionFacts(
            customer: customer, id: id, originalID: originalID, bundleID: bundleID,
            productID: sold.productID, type: type, quantity: quantity,
            unitPrice: isShared ? unitPrice : sold.price.amount,
            total: isShared ? total : sold.price, storefront: storefront, reason: reason,
            ownership: ownership, appAccountToken: appAccountToken,
            appTransactionID: appTransactionID, purchaseID: purchaseID, purchasedAt: sold.start,
            originalPurchasedAt: originalPurchasedAt, finishedAt: finishedAt,
            revision: revision, changedAt: changedAt, period: isShared ? facts.shared : facts)
    }
}
