// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

/// All short sequences of refunds, their reversals and changes of a subscription whose
/// next period was charged ahead, against the transactions alone: a device and a
/// merchant's server see those, and must come to the subscription's own answers.
@Suite(.timeLimit(.minutes(5))) struct SubscriptionRefundModelTests {
    enum Command: String, CaseIterable {
        /// Of the first period, and of the one that was charged ahead.
        case refundFirst, refundSecond, reverseFirst, reverseSecond
        case off, buy, upgrade, extend, expire, fortnight
    }

    /// A transaction as a device sees it.
    private struct Sale {
        var start: Timestamp
        var end: Timestamp
        var isRevoked = false
        var isReplaced = false

        func grants(at instant: Timestamp) -> Bool {
            !isRevoked && !isReplaced && start <= instant && instant < end
        }
    }

    private struct World {
        static let start = Timestamp(milliseconds: 1_767_225_600_000)
        var subscription: Subscription?
        var events: [SubscriptionEvent] = []
        var sales: [TransactionID: Sale] = [:]
        var now = start
        var lastID: Int64 = 0

        static func plan(_ level: Int) -> SubscriptionPlan {
            SubscriptionPlan(
                productID: ProductID("\(level)"), groupID: "g", level: level,
                period: Period(30, .day),
                price: Money(
                    Amount(milliunits: Int64(10_000 - level * 1000)), SubscriptionStory.dollar))
        }

        mutating func obey(_ command: Command) {
            switch command {
            case .refundFirst: refund(1)
            case .refundSecond: refund(2)
            case .reverseFirst: reverse(1)
            case .reverseSecond: reverse(2)
            case .off: ask { try $0.switching(on: false, at: $1, cause: .customer) }
            case .buy: buy(2)
            case .upgrade: buy(1)
            case .extend: ask { try $0.extended(days: 7, at: $1, cause: .operator) }
            case .expire: ask { try $0.expiring(at: $1, cause: .tester) }
            case .fortnight: pass(14)
            }
        }

        mutating func buy(_ level: Int) {
            let facts = SubscriptionFacts(
                plan: Self.plan(level), current: subscription,
                currentPlan: subscription.flatMap {
                    Int($0.current.productID.value).map(Self.plan)
                })
            lastID += 1
            add(SubscriptionSale(facts, at: now).events(as: TransactionID(lastID)))
        }

        /// The second period is charged while the first one runs.
        mutating func renew() {
            guard let known = subscription else { return }
            lastID += 1
            let facts = RenewalFacts(
                plan: Self.plan(2), canBill: true, grace: .off, newID: TransactionID(lastID))
            add(known.events(of: .renew, facts, at: now, cause: .tester))
        }

        private mutating func pass(_ days: Int64) {
            let target = now.adding(seconds: days * 86_400)
            while let known = subscription, let step = known.nextStep(.production),
                step.at <= target
            {
                now = max(now, step.at)
                lastID += 1
                let level = Int(known.renewal.productID.value) ?? 0
                let facts = RenewalFacts(
                    plan: Self.plan(level), canBill: true, grace: .off,
                    newID: TransactionID(lastID))
                add(known.events(of: step.kind, facts, at: now))
            }
            now = target
        }

        private mutating func ask(
            _ request: (Subscription, Timestamp) throws -> [SubscriptionEvent]
        ) {
            guard let known = subscription else { return }
            add((try? request(known, now)) ?? [])
        }

        private mutating func refund(_ number: Int64) {
            let id = TransactionID(number)
            guard let known = subscription, sales[id]?.isRevoked == false else { return }
            let sum = Money(Amount(milliunits: 0), SubscriptionStory.dollar)
            let grant = RefundGrant(kind: .full, sum: sum)
            sales[id]?.isRevoked = true
            add(
                known.events(
                    ofRefund: RefundEvent(
                        at: now, cause: .operator, change: .granted(grant: grant)), of: id))
        }

        /// Not if the customer has bought the same time again.
        private mutating func reverse(_ number: Int64) {
            let id = TransactionID(number)
            guard let known = subscription, let sale = sales[id], sale.isRevoked else { return }
            let own = [known.current, known.running?.period, known.givenBack]
            guard
                sale.isReplaced || sale.end <= now
                    || own.contains(where: { $0?.transaction == id })
            else { return }
            sales[id]?.isRevoked = false
            let event = RefundEvent(at: now, cause: .operator, change: .reversed)
            add(known.events(ofRefund: event, of: id))
        }

        private mutating func add(_ new: [SubscriptionEvent]) {
            for event in new {
                note(event)
                if subscription?.apply(event) == nil { subscription = Subscription(first: event) }
            }
            events += new
        }

        /// What an event changes of the transactions.
        private mutating func note(_ event: SubscriptionEvent) {
            let known = subscription
            switch event.change {
            case .upgraded:
                if let id = known?.current.transaction { sales[id]?.isReplaced = true }
                if let id = known?.running(at: event.at)?.transaction {
                    sales[id]?.isReplaced = true
                }
            case .extended(let end, _):
                if let id = known?.current.transaction { sales[id]?.end = end }
            case .expired where event.at < known?.end ?? event.at:
                for (id, sale) in sales where event.at < sale.end {
                    sales[id]?.end = event.at
                }
            default: break
            }
            if let period = event.change.sold {
                sales[period.transaction] = Sale(start: period.start, end: period.end)
            }
        }

        func check(_ label: String) {
            guard let subscription else { return }
            let uses = subscription.mayUse(at: now)
            #expect(uses == sales.values.contains { $0.grants(at: now) }, "\(label)")
            #expect(uses == (subscription.status(at: now) == .active), "\(label)")
            let shown = sales[subscription.shownTransaction(at: now)]
            #expect(!uses || shown?.grants(at: now) == true || isAhead, "\(label)")
        }

        /// Whether the current period has not begun: it is shown beside the one before it.
        private var isAhead: Bool { now < subscription?.current.start ?? now }
    }

    @Test(arguments: Command.allCases)
    func `the subscription's answers are those of its transactions`(first: Command) throws {
        var world = World()
        world.buy(2)
        world.renew()
        let stories = Self.play(world, first, 4, [])
        #expect(stories == 1000)
    }

    private static func play(
        _ world: World, _ command: Command, _ left: Int, _ words: [Command]
    ) -> Int {
        var world = world
        let words = words + [command]
        world.obey(command)
        world.check(words.map(\.rawValue).joined(separator: " "))
        guard left > 1 else {
            #expect(Subscription(world.events) == world.subscription)
            return 1
        }
        return Command.allCases.reduce(0) { $0 + play(world, $1, left - 1, words) }
    }
}
