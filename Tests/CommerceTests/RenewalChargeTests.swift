// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Commerce

@Suite struct RenewalChargeTests {
    private static let dollars = Currency(code: "USD") ?? Storefront.all[0].currency
    private static let start = Timestamp(milliseconds: 1_795_233_600_000)

    private func money(_ milliunits: Int64) -> Money {
        Money(Amount(milliunits: milliunits), Self.dollars)
    }

    private func subscription(_ id: Int64 = 1) throws -> Subscription {
        let month = Period(1, .month)
        let period = SubscribedPeriod(
            TransactionID(id), "news", from: Self.start, for: month, after: nil,
            price: money(4990), offer: nil)
        return try #require(
            Subscription(
                first: SubscriptionEvent(
                    at: Self.start, cause: .customer,
                    change: .subscribed(
                        period: period, groupID: "g", regularPrice: money(4990), isFirst: true))))
    }

    private func facts(price: Int64 = 4990, canBill: Bool = true) -> RenewalFacts {
        RenewalFacts(
            plan: SubscriptionPlan(
                productID: "news", groupID: "g", level: 1, period: Period(1, .month),
                price: money(price)),
            canBill: canBill, grace: .sixteenDays, newID: TransactionID(9))
    }

    @Test func `both answers are those of the rules at the instant of the question`() throws {
        let before = try subscription()
        for at in [before.end.adding(seconds: -60), before.end] {
            let charge = try #require(RenewalCharge(.renew, of: before, facts(), at: at))

            #expect(
                charge.events(isPaid: true, as: TransactionID(9), at: at)
                    == before.events(of: .renew, facts(), at: at))
            #expect(
                charge.events(isPaid: false, as: TransactionID(9), at: at)
                    == before.events(of: .renew, facts(canBill: false), at: at))
            let stored = try JSONEncoder().encode(charge)
            #expect(try JSONDecoder().decode(RenewalCharge.self, from: stored) == charge)
        }
    }

    @Test func `nothing is asked for what is free, unsold or cannot be charged`() throws {
        let before = try subscription()
        func charge(_ facts: RenewalFacts, _ step: SubscriptionStep.Kind = .renew) -> Bool {
            RenewalCharge(step, of: before, facts, at: before.end) != nil
        }
        let unsold = RenewalFacts(plan: nil, canBill: true, grace: .off, newID: TransactionID(9))

        #expect(charge(facts()))
        #expect(!charge(facts(price: 0)))
        #expect(!charge(facts(canBill: false)))
        #expect(!charge(unsold))
        #expect(!charge(facts(), .expire(.cancelled)))
        #expect(!charge(facts(), .endGrace))
    }

    /// What happens while a charge has no answer, and whether it still stands.
    private static let changes: [([SubscriptionEvent.Change], Bool)] = {
        let later = start.adding(seconds: 400 * 86_400)
        func increase(_ at: Timestamp, _ isAgreed: Bool) -> SubscriptionEvent.Change {
            .increaseAnnounced(
                increase: PriceIncrease(
                    price: Money(Amount(milliunits: 5990), dollars), startsAt: at,
                    isAgreed: isAgreed))
        }
        let other = Money(Amount(milliunits: 1990), dollars)
        return [
            ([], true), ([.switchedOff], false), ([.switchedOff, .switchedOn], true),
            ([.stopped(reason: .priceIncrease)], false),
            ([.choseNext(product: "small", price: other, isReversal: false)], false),
            (
                [
                    .choseNext(product: "small", price: other, isReversal: false),
                    .choseNext(product: "news", price: other, isReversal: true),
                ], true
            ),
            ([.extended(to: later)], false), ([.refunded], false), ([.failedAhead], false),
            ([.expired(reason: .other)], false), ([increase(later, true)], true),
            ([increase(later, false)], true), ([increase(start, true)], false),
            ([increase(start, false)], false),
        ]
    }()

    @Test(arguments: changes.indices)
    func `a charge stands while what was agreed is unchanged`(index: Int) throws {
        let (changes, stands) = Self.changes[index]
        var subscription = try subscription()
        let at = subscription.end.adding(seconds: -60)
        let charge = try #require(RenewalCharge(.renew, of: subscription, facts(), at: at))

        for change in changes {
            subscription.apply(SubscriptionEvent(at: at, cause: .customer, change: change))
        }

        #expect(charge.stands(for: subscription) == stands)
    }

    @Test func `a charge does not stand for the period that it sold`() throws {
        var subscription = try subscription()
        let charge = try #require(
            RenewalCharge(.renew, of: subscription, facts(), at: subscription.end))
        for event in charge.events(isPaid: true, as: TransactionID(9), at: subscription.end) {
            subscription.apply(event)
        }
        #expect(subscription.current.transaction == TransactionID(9))
        #expect(!charge.stands(for: subscription))
    }

    @Test func `charges are spread from a day to an hour before the end`() throws {
        var hours: [Int64: Int] = [:]
        for id in 0..<2400 {
            let subscription = try subscription(2_000_000_000_000_000 + Int64(id))
            let step = try #require(subscription.nextStep(.processor))
            let ahead = subscription.end.milliseconds(since: step.at)
            #expect(ahead <= 86_400_000 && ahead > 3_600_000)
            hours[ahead / 3_600_000, default: 0] += 1
            #expect(subscription.nextStep(.processor) == step)
            let plain = try #require(subscription.nextStep(.production))
            #expect(subscription.end.milliseconds(since: plain.at) == 86_400_000)
        }
        // 100 an hour on average.
        #expect(hours.count == 23)
        #expect(hours.values.allSatisfy { (50...170).contains($0) }, "\(hours)")
    }
}
