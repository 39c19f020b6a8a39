// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

/// All short sequences of what customers and time do to a subscription, against
/// a model that knows days only: no events, no states, no calendar.
@Suite(.timeLimit(.minutes(5))) struct SubscriptionModelTests {
    enum Command: String, CaseIterable {
        case buy, upgrade, downgrade, off, on, month, fortnight, fail, pay
    }

    /// What a plain reader of the rules would keep: until when it is paid, what
    /// comes next, and whether the money flows. Periods of the three products are
    /// 30 days; charges are made on the last day.
    private struct Model {
        var day = 0
        var level: Int?
        var next = 0
        var paidUntil = 0
        var renews = false
        var canBill = true
        /// The day since which it is unpaid.
        var unpaidSince: Int?

        var isUsable: Bool { level != nil && unpaidSince == nil && day < paidUntil }

        mutating func pass(_ days: Int) {
            for _ in 0..<days {
                day += 1
                live()
            }
        }

        private mutating func live() {
            guard level != nil else { return }
            if let since = unpaidSince {
                if [1, 2, 4, 7, 12, 19, 28, 40, 52].contains(day - since), canBill {
                    recover()
                } else if day - since == 60 {
                    end()
                }
                return
            }
            // A charge a day ahead, and once more at the end.
            if renews, canBill, day == paidUntil - 1 || day == paidUntil {
                level = next
                paidUntil += 30
            } else if day >= paidUntil {
                if renews { unpaidSince = paidUntil } else { end() }
            }
        }

        private mutating func recover() {
            (level, unpaidSince, paidUntil) = (next, nil, day + 30)
        }

        private mutating func end() { (level, unpaidSince, renews) = (nil, nil, false) }

        mutating func obey(_ command: Command) {
            switch command {
            case .buy: buy(2)
            case .upgrade: buy(1)
            case .downgrade: buy(3)
            case .off:
                if unpaidSince != nil { end() } else { renews = false }
            case .on: if level != nil, unpaidSince == nil { renews = true }
            case .month: pass(30)
            case .fortnight: pass(14)
            case .fail: canBill = false
            case .pay: canBill = true
            }
        }

        private mutating func buy(_ wanted: Int) {
            let isNow = level.map { wanted < $0 } ?? true
            if unpaidSince != nil, wanted == next {
                recover()
            } else if isNow || unpaidSince != nil {
                (level, unpaidSince, paidUntil) = (wanted, nil, day + 30)
            }
            (next, renews) = (wanted, true)
        }
    }

    /// The subscription itself, with the same products.
    private struct Real {
        static let start = Timestamp(milliseconds: 1_767_225_600_000)
        var subscription: Subscription?
        var events: [SubscriptionEvent] = []
        var now = start
        var canBill = true
        var lastID: Int64 = 0

        static func plan(_ level: Int) -> SubscriptionPlan {
            SubscriptionPlan(
                productID: ProductID("\(level)"), groupID: "g", level: level,
                period: Period(30, .day),
                price: Money(
                    Amount(milliunits: Int64(10_000 - level * 1000)), SubscriptionStory.dollar))
        }

        mutating func pass(_ days: Int64) {
            let target = now.adding(seconds: days * 86_400)
            while let known = subscription, let step = known.nextStep(.production),
                step.at <= target
            {
                now = max(now, step.at)
                lastID += 1
                let facts = RenewalFacts(
                    plan: Self.plan(Int(known.renewal.productID.value) ?? 0), canBill: canBill,
                    grace: .off, newID: TransactionID(lastID))
                add(known.events(of: step.kind, facts, at: now))
            }
            now = target
        }

        private mutating func add(_ new: [SubscriptionEvent]) {
            for event in new {
                if subscription?.apply(event) == nil { subscription = Subscription(first: event) }
            }
            events += new
        }

        mutating func obey(_ command: Command) {
            switch command {
            case .buy: buy(2)
            case .upgrade: buy(1)
            case .downgrade: buy(3)
            case .off: turn(false)
            case .on: turn(true)
            case .month: pass(30)
            case .fortnight: pass(14)
            case .fail: canBill = false
            case .pay: canBill = true
            }
        }

        private mutating func turn(_ isOn: Bool) {
            guard let known = subscription else { return }
            add((try? known.switching(on: isOn, at: now, cause: .customer)) ?? [])
        }

        private mutating func buy(_ level: Int) {
            lastID += 1
            let sale = SubscriptionSale(
                SubscriptionFacts(
                    plan: Self.plan(level), current: subscription,
                    currentPlan: subscription.flatMap {
                        Int($0.current.productID.value).map(Self.plan)
                    }), at: now)
            add(sale.events(as: TransactionID(lastID)))
        }

        /// What was charged for periods that were used, or are still to come: the
        /// properties that hold in every history.
        func check() {
            let ids = events.compactMap(\.change.sold?.transaction)
            #expect(Set(ids).count == ids.count)
            #expect(events.map(\.at) == events.map(\.at).sorted())
            #expect(Subscription(events) == subscription)
            var periods: [SubscribedPeriod] = []
            for event in events {
                guard let period = event.change.sold else { continue }
                #expect(period.end > period.start)
                // Paid periods do not overlap. An upgrade cuts one off, and where
                // the next one was charged ahead, up to a day of the one before.
                var overlap: Int64 = 0
                if case .upgraded = event.change {
                    periods.removeLast()
                    overlap = RenewalRules.production.leadMilliseconds
                }
                if let last = periods.last {
                    #expect(last.end.milliseconds(since: period.start) <= overlap)
                }
                periods.append(period)
            }
        }
    }

    @Test func `extensions end with the years of clocks`() throws {
        var real = Real()
        real.obey(.buy)
        var subscription = try #require(real.subscription)
        var count = 0
        let refusal = #expect(throws: SubscriptionRefusal.self) {
            while true {
                let events = try subscription.extended(days: 90, at: real.now, cause: .operator)
                for event in events { subscription.apply(event) }
                count += 1
            }
        }
        #expect(refusal == .daysOutOfRange && (300..<330).contains(count))
    }

    private static func period(
        _ id: Int64, from day: Int64, offer: AppliedOffer? = nil
    ) -> SubscribedPeriod {
        let start = Timestamp(milliseconds: 1_775_001_600_000).adding(seconds: day * 86_400)
        return SubscribedPeriod(
            transaction: TransactionID(id), productID: "yearly", start: start,
            end: start.adding(seconds: 365 * 86_400), length: Period(1, .year), anchorDay: 1,
            price: Money(Amount(milliunits: 49_990), SubscriptionStory.dollar), offer: offer)
    }

    private static func subscribed(_ period: SubscribedPeriod) -> SubscriptionEvent {
        SubscriptionEvent(
            at: period.start, cause: .customer,
            change: .subscribed(
                period: period, groupID: "g", regularPrice: period.price, isFirst: false))
    }

    @Test(arguments: [(59, 0), (62, 62)] as [(Int64, Int64)])
    func `after a refund the pause begins at the refund`(day: Int64, begin: Int64) throws {
        let first = Self.period(1, from: 0)
        let refund = SubscriptionEvent(
            at: first.start.adding(seconds: 86_400), cause: .operator, change: .refunded)

        let known = try #require(
            Subscription([
                Self.subscribed(first), refund, Self.subscribed(Self.period(2, from: day)),
            ]))

        #expect(known.recentStart == Self.period(1, from: begin).start)
    }

    /// Time may be set back before a period's start.
    @Test func `a period that is ended before its start ends at its start`() throws {
        let period = Self.period(1, from: 10)
        let ended = SubscriptionEvent(
            at: period.start.adding(seconds: -3600), cause: .tester,
            change: .expired(reason: .other))

        let known = try #require(Subscription([Self.subscribed(period), ended]))

        #expect(known.current.end == period.start)
    }

    /// The increase applies between the end of the last paid period and the payment,
    /// and the period that is paid begins at that end.
    @Test func `a renewal that is paid by hand in its grace period costs what its period says`()
        throws
    {
        var real = Real()
        real.obey(.buy)
        var known = try #require(real.subscription)
        let end = known.end
        let raised = Money(Amount(milliunits: 9900), SubscriptionStory.dollar)
        for event in try known.raised(
            to: raised, from: end.adding(seconds: 86_400), needsConsent: false, over: nil,
            at: real.now, cause: .operator)
        { known.apply(event) }
        known.apply(
            SubscriptionEvent(
                at: end, cause: .time,
                change: .failed(graceUntil: end.adding(seconds: 16 * 86_400))))

        let sale = SubscriptionSale(
            SubscriptionFacts(
                plan: Real.plan(2), current: known, currentPlan: Real.plan(2)),
            at: end.adding(seconds: 2 * 86_400))

        let period = try #require(sale.period(as: TransactionID(9)))
        #expect(period.start == end && period.price == sale.price)
        #expect(sale.price == Real.plan(2).price)
    }

    /// The commands of the longest stories.
    private static let few: [Command] = [.buy, .upgrade, .downgrade, .off, .month, .fail, .pay]

    @Test(arguments: few)
    func `every story of six commands ends as the model says`(first: Command) throws {
        #expect(try Self.play(first, length: 6, of: Self.few) == 7 * 7 * 7 * 7 * 7)
    }

    @Test(arguments: Command.allCases)
    func `every story of four of all commands ends as the model says`(first: Command) throws {
        #expect(try Self.play(first, length: 4, of: Command.allCases) == 9 * 9 * 9)
    }

    /// Plays all stories that begin with a command. Returns their number.
    private static func play(
        _ first: Command, length: Int, of commands: [Command]
    ) throws -> Int {
        var (model, real) = (Model(), Real())
        model.obey(first)
        real.obey(first)
        return play(model, real, length - 1, [first], commands)
    }

    private static func play(
        _ model: Model, _ real: Real, _ left: Int, _ words: [Command], _ commands: [Command]
    ) -> Int {
        let known = real.subscription
        let label = words.map(\.rawValue).joined(separator: " ")
        #expect(known.map { $0.mayUse(at: real.now) } ?? false == model.isUsable, "\(label)")
        #expect((known.map { !$0.hasEnded } ?? false) == (model.level != nil), "\(label)")
        if let known, let level = model.level {
            #expect(known.current.productID.value == "\(level)", "\(label)")
            #expect(known.renewal.isOn == model.renews, "\(label)")
        }
        guard left > 0 else {
            real.check()
            return 1
        }
        return commands.reduce(0) { stories, command in
            var (model, real) = (model, real)
            model.obey(command)
            real.obey(command)
            return stories + play(model, real, left - 1, words + [command], commands)
        }
    }
}
