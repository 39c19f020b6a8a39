// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

/// Rates that shorten periods, by Apple's tables.
@Suite struct TempoTests {
    /// The lengths of six periods, of the grace period after a week and after a month,
    /// and of the time for which a renewal is charged again. The row of three minutes
    /// has no graces and retries in Apple's table.
    static let table = """
        monthlyRenewalEveryHour           | 15:00 | 60:00 | 120:00 | 180:00 | 360:00 | 720:00 | 12:51 | 30:00 | 120:00
        monthlyRenewalEveryThirtyMinutes  | 10:00 | 30:00 |  60:00 |  90:00 | 180:00 | 360:00 |  8:34 | 15:00 |  60:00
        monthlyRenewalEveryFifteenMinutes |  5:00 | 15:00 |  30:00 |  45:00 |  90:00 | 180:00 |  4:17 |  7:30 |  30:00
        monthlyRenewalEveryFiveMinutes    |  3:00 |  5:00 |  10:00 |  15:00 |  30:00 |  60:00 |  2:34 |  2:30 |  10:00
        monthlyRenewalEveryThreeMinutes   |  3:00 |  3:00 |   6:00 |   9:00 |  18:00 |  36:00 |  2:34 |  1:30 |   6:00
        monthlyRenewalEveryThirtySeconds  |  0:10 |  0:30 |   1:00 |   1:30 |   3:00 |   6:00 |  0:09 |  0:15 |   1:00
        oneRenewalEveryFifteenMinutes     | 15:00 | 15:00 |  15:00 |  15:00 |  15:00 |  15:00 | 15:00 | 15:00 |  30:00
        oneRenewalEveryFiveMinutes        |  5:00 |  5:00 |   5:00 |   5:00 |   5:00 |   5:00 |  5:00 |  5:00 |  10:00
        oneRenewalEveryMinute             |  1:00 |  1:00 |   1:00 |   1:00 |   1:00 |   1:00 |  1:00 |  1:00 |   2:00
        oneRenewalEveryThirtySeconds      |  0:30 |  0:30 |   0:30 |   0:30 |   0:30 |   0:30 |  0:30 |  0:30 |   1:00
        oneRenewalEveryTenSeconds         |  0:10 |  0:10 |   0:10 |   0:10 |   0:10 |   0:10 |  0:10 |  0:10 |   0:20
        oneRenewalEveryTwoSeconds         |  0:02 |  0:02 |   0:02 |   0:02 |   0:02 |   0:02 |  0:02 |  0:02 |   0:04
        """

    struct Case: Sendable, CustomTestStringConvertible {
        let tempo: Tempo
        let period: Period
        /// Seconds.
        let length: Int64, grace: Int64, retry: Int64

        var testDescription: String { "\(tempo.rawValue) \(period)" }
    }

    private static let cases: [Case] = table.split(separator: "\n").flatMap { line in
        let cells = line.split(separator: "|").map {
            $0.split(separator: " ").joined()
        }
        let seconds = cells.dropFirst().map { cell in
            let parts = cell.split(separator: ":").compactMap { Int64($0) }
            return parts[0] * 60 + parts[1]
        }
        guard let tempo = Tempo(rawValue: cells[0]) else { return [Case]() }
        return zip(Period.ofSubscriptions, seconds).compactMap { text, length in
            Period(iso8601: text).map {
                Case(
                    tempo: tempo, period: $0, length: length,
                    grace: $0.unit == .week ? seconds[6] : seconds[7], retry: seconds[8])
            }
        }
    }

    @Test func `the table has every tempo and every period`() {
        #expect(Self.cases.count == Tempo.allCases.count * Period.ofSubscriptions.count)
        #expect(Set(Self.cases.map(\.tempo)) == Set(Tempo.allCases))
    }

    private static let start = Timestamp(milliseconds: 1_800_000_000_000)

    private func plan(_ period: Period) throws -> SubscriptionPlan {
        let dollar = try #require(Currency(code: "USD"))
        return SubscriptionPlan(
            productID: ProductID("p"), groupID: "g", level: 1, period: period,
            price: Money(Amount(milliunits: 4990), dollar))
    }

    private func begun(_ plan: SubscriptionPlan, at tempo: Tempo?) throws -> Subscription {
        let sale = SubscriptionSale(
            SubscriptionFacts(plan: plan, current: nil, currentPlan: nil, tempo: tempo),
            at: Self.start)
        return try #require(Subscription(sale.events(as: TransactionID(1))))
    }

    /// Works until nothing is left, or `most` steps are done.
    private func work(
        _ subscription: inout Subscription, _ facts: RenewalFacts, most: Int = .max
    ) -> [SubscriptionEvent] {
        var events: [SubscriptionEvent] = []
        while events.count < most, let step = subscription.nextStep(.sandbox) {
            let new = subscription.events(of: step.kind, facts, at: step.at)
            for event in new { subscription.apply(event) }
            events += new
        }
        return events
    }

    @Test(arguments: cases)
    func `periods, graces and retries are as long as in Apple's tables`(_ one: Case) throws {
        let plan = try plan(one.period)
        var subscription = try begun(plan, at: one.tempo)
        let first = Self.start.adding(seconds: one.length)
        #expect(subscription.end == first)

        let paid = RenewalFacts(
            plan: plan, canBill: true, grace: .sixteenDays, newID: TransactionID(2),
            tempo: one.tempo)
        _ = work(&subscription, paid, most: 1)
        let end = first.adding(seconds: one.length)
        #expect(subscription.end == end)

        let unpaid = RenewalFacts(
            plan: plan, canBill: false, grace: .sixteenDays, newID: TransactionID(3),
            tempo: one.tempo)
        let events = work(&subscription, unpaid)
        #expect(
            events.first { $0.change == .graceEnded }?.at == end.adding(seconds: one.grace))
        #expect(events.last?.change == .expired(reason: .billing))
        #expect(events.last?.at == end.adding(seconds: one.retry))
        #expect(
            events.count { $0.change == .failedAgain } == RenewalRules.retryDays.count)
        #expect(zip(events, events.dropFirst()).allSatisfy { $0.at <= $1.at })
    }

    @Test func `a change of the tempo counts from the next period on`() throws {
        let plan = try plan(Period(1, .month))
        var subscription = try begun(plan, at: .monthIsFiveMinutes)
        let real = RenewalFacts(
            plan: plan, canBill: true, grace: .off, newID: TransactionID(2))

        _ = work(&subscription, real, most: 1)

        let second = Self.start.adding(seconds: 300)
        #expect(subscription.current.start == second)
        #expect(subscription.end == second.adding(Period(1, .month)))
        #expect(subscription.current.anchorDay == CivilDate(second).day)
    }

    @Test(arguments: [
        ("P3D", 77_142), ("P2W", 360_000), ("P3M", 900_000), ("P2Y", 7_200_000),
    ])
    func `lengths that Apple's table lacks are in proportion`(
        text: String, milliseconds: Int64
    ) throws {
        let period = try #require(Period(iso8601: text))
        #expect(Tempo.monthIsFiveMinutes.milliseconds(of: period) == milliseconds)
        #expect(Tempo.everyMinute.milliseconds(of: period) == 60_000)
    }

    @Test(arguments: [(3, 28_000), (16, 150_000), (28, 263_000)])
    func `graces that Apple's table lacks are in proportion`(days: Int, milliseconds: Int64) {
        #expect(
            Tempo.monthIsFiveMinutes.graceMilliseconds(days: days, after: Period(1, .month))
                == milliseconds)
    }

    @Test func `every name is a rate, and no other`() {
        #expect(ClockPace(name: "realTime") == ClockPace())
        #expect(ClockPace(name: "oneMinuteIsOneDay") == ClockPace(speed: 1440))
        #expect(
            ClockPace(name: "oneRenewalEveryMinute") == ClockPace(tempo: .everyMinute))
        #expect(
            ClockPace(name: "monthlyRenewalEveryThreeMinutes")
                == ClockPace(tempo: .monthIsThreeMinutes))
        #expect(Set(ClockPace.names).count == TimeRate.allCases.count + 1)
        #expect(ClockPace.names.allSatisfy { ClockPace(name: $0) != nil })
        for name in ["", "real", "monthlyRenewalEveryOneHour"] {
            #expect(ClockPace(name: name) == nil)
        }
    }

    // MARK: A limit of renewals

    @Test(arguments: [0, 1, 12])
    func `after a number of renewals the next attempt switches them off`(most: Int) throws {
        let plan = try plan(Period(1, .month))
        var subscription = try begun(plan, at: .monthIsFiveMinutes)
        let facts = RenewalFacts(
            plan: plan, canBill: true, grace: .off, newID: TransactionID(2),
            tempo: .monthIsFiveMinutes, renewalsMax: most)

        let events = work(&subscription, facts)

        #expect(events.count { $0.change.sold != nil } == most)
        #expect(
            events.suffix(2).map(\.change) == [
                .stopped(reason: .cancelled), .expired(reason: .cancelled),
            ])
        #expect(events.last?.at == Self.start.adding(seconds: 300 * Int64(most + 1)))

        // It counts anew for a customer who returns.
        let again = SubscriptionSale(
            SubscriptionFacts(
                plan: plan, current: subscription, currentPlan: plan,
                tempo: .monthIsFiveMinutes),
            at: subscription.end)
        for event in again.events(as: TransactionID(9)) { subscription.apply(event) }
        #expect(subscription.renewals == 0)
        #expect(work(&subscription, facts).count { $0.change.sold != nil } == most)
    }

    @Test func `a commitment is kept, whatever the limit is`() throws {
        let part = try plan(Period(1, .month))
        let plan = SubscriptionPlan(
            productID: part.productID, groupID: "g", level: 1, period: part.period,
            price: part.price,
            commitment: CommitmentTerms(price: Money(part.price.amount * 12, part.price.currency)))
        var subscription = try begun(plan, at: nil)
        let facts = RenewalFacts(
            plan: plan, canBill: true, grace: .off, newID: TransactionID(2), renewalsMax: 3)

        #expect(work(&subscription, facts).count { $0.change.sold != nil } == 11)
    }
}
