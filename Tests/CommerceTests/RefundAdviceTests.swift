// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

/// What a request for a refund should come to.
@Suite struct RefundAdviceTests {
    /// The customer's reason, the delivery, the merchant's preference, whether there was
    /// a sample, and how much is left in percent. `-`: not said. `none`: no report.
    static let table = """
        LEGAL                     | DELIVERED                 | DECLINE        | sample | 0   | full
        UNINTENDED_PURCHASE       | none                      | -              | -      | -   | full
        FULFILLMENT_ISSUE         | none                      | -              | -      | -   | full
        UNSATISFIED_WITH_PURCHASE | UNDELIVERED_WRONG_ITEM    | DECLINE        | sample | 0   | full
        UNINTENDED_PURCHASE       | UNDELIVERED_SERVER_OUTAGE | GRANT_PRORATED | -      | 40  | full
        UNSATISFIED_WITH_PURCHASE | DELIVERED                 | DECLINE        | -      | 100 | declined
        FULFILLMENT_ISSUE         | DELIVERED                 | DECLINE        | -      | -   | declined
        OTHER                     | DELIVERED                 | GRANT_FULL     | sample | 0   | full
        OTHER                     | DELIVERED                 | GRANT_PRORATED | sample | 40  | prorated
        OTHER                     | DELIVERED                 | GRANT_PRORATED | -      | -   | full
        OTHER                     | DELIVERED                 | GRANT_PRORATED | -      | 100 | full
        OTHER                     | DELIVERED                 | GRANT_PRORATED | -      | 0   | declined
        UNINTENDED_PURCHASE       | DELIVERED                 | -              | -      | 100 | full
        UNINTENDED_PURCHASE       | DELIVERED                 | -              | sample | 100 | full
        UNINTENDED_PURCHASE       | DELIVERED                 | -              | -      | 0   | declined
        UNINTENDED_PURCHASE       | DELIVERED                 | -              | -      | 40  | prorated
        UNINTENDED_PURCHASE       | DELIVERED                 | -              | sample | 40  | declined
        UNINTENDED_PURCHASE       | DELIVERED                 | -              | -      | -   | full
        UNINTENDED_PURCHASE       | DELIVERED                 | -              | sample | -   | declined
        """

    @Test(arguments: table.split(separator: "\n").map(String.init))
    func `the reason and the report decide`(line: String) throws {
        let words = line.split(separator: "|").map {
            String($0).trimmed
        }
        let wish = try #require(RefundWish(rawValue: words[0]))
        let report = ConsumptionReport.Delivery(rawValue: words[1]).map { delivery in
            ConsumptionReport(
                version: 2, delivery: delivery, isSampleProvided: words[3] == "sample",
                preference: ConsumptionReport.Preference(rawValue: words[2]))
        }
        let left = Int64(words[4]).map { UnusedTime(left: $0, whole: 100) }

        #expect(RefundAdvice(for: wish, report, unused: left).rawValue == words[5])
    }

    private static func sale(_ refunds: [Refund], isPeriod: Bool = false) throws -> RefundableSale {
        let dollar = try #require(Currency(code: "USD"))
        return RefundableSale(
            total: Money(Amount(milliunits: 9990), dollar), isPeriod: isPeriod,
            unused: isPeriod ? UnusedTime(left: 1, whole: 2) : nil, refunds: refunds)
    }

    private static func requested(_ report: ConsumptionReport?) throws -> Refund {
        var events = [
            RefundEvent(
                at: Timestamp(milliseconds: 1), cause: .customer,
                change: .requested(wish: .unsatisfied))
        ]
        if let report {
            events.append(
                RefundEvent(
                    at: Timestamp(milliseconds: 2), cause: .merchant,
                    change: .informed(report: report)))
        }
        return try #require(Refund(events))
    }

    private static let partly = ConsumptionReport(
        version: 2, delivery: .delivered, isSampleProvided: false, used: 75_000)
    private static let now = Timestamp(milliseconds: 3)

    @Test func `what the merchant reports as unused is given back of any product`() throws {
        let sale = try Self.sale([try Self.requested(Self.partly)])

        let step = try #require(try sale.following(.other, at: Self.now, cause: .operator))

        guard case .granted(let grant) = step.event.change else {
            Issue.record("\(step.event)")
            return
        }
        #expect(grant.kind == .prorated && grant.percentage == 25_000)
        #expect(grant.sum.amount == Amount(milliunits: 2490))
    }

    @Test(arguments: [nil, .prorated] as [ConsumptionReport.Preference?])
    func `a rest that is worth less than the smallest unit is declined`(
        preference: ConsumptionReport.Preference?
    ) throws {
        func advice(used: Int) throws -> RefundAdvice? {
            let report = ConsumptionReport(
                version: 2, delivery: .delivered, isSampleProvided: false, used: used,
                preference: preference)
            return try Self.sale([try Self.requested(report)]).advice
        }
        // Of 9.99, a tenth of a percent is less than a cent.
        #expect(try advice(used: 99_999) == .declined)
        #expect(try advice(used: 99_900) == .declined)
        #expect(try advice(used: 99_800) == .prorated)
    }

    @Test func `without a report only a period is prorated`() throws {
        let sale = try Self.sale([try Self.requested(nil)])
        #expect(throws: RefundRefusal.notProratable) {
            try sale.granting(.prorated, for: .other, at: Self.now, cause: .operator)
        }
        #expect(sale.advice == .full)
    }

    @Test func `a request that was decided as advised is not decided again`() throws {
        var refund = try Self.requested(nil)
        let step = try #require(
            try Self.sale([refund]).following(.other, at: Self.now, cause: .operator))
        refund.apply(step.event)

        let again = try Self.sale([refund]).following(.other, at: Self.now, cause: .operator)

        #expect(again == nil)
    }

    @Test func `a period is advised by its own time`() throws {
        let report = ConsumptionReport(
            version: 2, delivery: .delivered, isSampleProvided: false, used: 100_000)
        let sale = try Self.sale([try Self.requested(report)], isPeriod: true)
        #expect(sale.advice == .prorated)
    }

    @Test func `only a request that waits is reported about, and a repetition is none`() throws {
        let none = try Self.sale([])
        #expect(none.informing(Self.partly, at: Self.now, cause: .merchant) == nil)
        #expect(none.advice == nil)
        #expect(throws: RefundRefusal.notRequested) {
            try none.following(.other, at: Self.now, cause: .operator)
        }
        let told = try Self.sale([try Self.requested(Self.partly)])
        #expect(told.informing(Self.partly, at: Self.now, cause: .merchant) == nil)
        let waiting = try Self.sale([try Self.requested(nil)])
        #expect(waiting.informing(Self.partly, at: Self.now, cause: .merchant)?.number == 1)
    }
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
