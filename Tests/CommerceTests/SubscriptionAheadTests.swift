// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

/// Lives in which a period is charged while the one before it still runs, and in
/// which an operator chooses for the customer.
@Suite struct SubscriptionAheadTests {
    typealias Life = SubscriptionLifeTests.Life

    @Test(arguments: lives)
    func `a life goes as its table says`(life: Life) throws { try life.check() }

    static let lives = [
        Life(
            "an upgrade gives back the period that runs and the one charged ahead",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01                  | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | renew       | renewed monthly 4.99 2026-05-01..2026-06-01                     | active, uses, monthly 4.99 2026-05-31
            2026-04-16 | buy premium | upgraded premium 9.99 2026-04-16..2026-05-16 back 4.99 and 2.49 | active, uses, premium 9.99 2026-05-15
            2026-04-17 | buy rival   | next rival 3.99                                                 | active, uses, rival 3.99 2026-05-15
            """),
        Life(
            "so does one within the day before the end",
            """
            2026-04-01       | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01                  | active, uses, monthly 4.99 2026-04-30
            2026-04-30 22:00 | buy premium | renewed monthly 4.99 2026-05-01..2026-06-01                     |
                             |             | upgraded premium 9.99 2026-04-30..2026-05-30 back 4.99 and 0.08 | active, uses, premium 9.99 2026-05-29
            """),
        Life(
            "once it has begun, only the rest of it is given back",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01         | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | renew       | renewed monthly 4.99 2026-05-01..2026-06-01            | active, uses, monthly 4.99 2026-05-31
            2026-05-01 | buy premium | upgraded premium 9.99 2026-05-01..2026-06-01 back 4.99 | active, uses, premium 9.99 2026-05-31
            """),
        Life(
            "the refund of the period that runs leaves the one charged ahead",
            """
            2026-04-01 | buy monthly     | subscribed monthly 4.99 2026-04-01..2026-05-01         | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | renew           | renewed monthly 4.99 2026-05-01..2026-06-01            | active, uses, monthly 4.99 2026-05-31
            2026-04-10 | refund-running  | runningRevoked                                         | revoked, no use, monthly 4.99 2026-05-31
            2026-04-11 | refund-running  | -                                                      | revoked, no use, monthly 4.99 2026-05-31
            2026-04-12 | reverse-running | runningReinstated                                      | active, uses, monthly 4.99 2026-05-31
            2026-04-12 | reverse-running | -                                                      | active, uses, monthly 4.99 2026-05-31
            2026-04-13 | refund-running  | runningRevoked                                         | revoked, no use, monthly 4.99 2026-05-31
            2026-05-01 | wait            | -                                                      | active, uses, monthly 4.99 2026-05-31
            2026-05-02 | reverse-running | -                                                      | active, uses, monthly 4.99 2026-05-31
            2026-05-16 | buy premium     | upgraded premium 9.99 2026-05-16..2026-06-16 back 2.57 | active, uses, premium 9.99 2026-06-15
            """),
        Life(
            "an upgrade gives back nothing of a period that was refunded",
            """
            2026-04-01 | buy monthly    | subscribed monthly 4.99 2026-04-01..2026-05-01         | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | renew          | renewed monthly 4.99 2026-05-01..2026-06-01            | active, uses, monthly 4.99 2026-05-31
            2026-04-10 | refund-running | runningRevoked                                         | revoked, no use, monthly 4.99 2026-05-31
            2026-04-16 | buy premium    | upgraded premium 9.99 2026-04-16..2026-05-16 back 4.99 | active, uses, premium 9.99 2026-05-15
            """),
        Life(
            "the refund of the period charged ahead leaves the one that runs",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | renew       | renewed monthly 4.99 2026-05-01..2026-06-01    | active, uses, monthly 4.99 2026-05-31
            2026-04-10 | refund      | aheadRevoked                                   | active, uses, no charge
            2026-04-11 | refund-ahead | -                                             | active, uses, no charge
            2026-04-30 | wait        | -                                              | active, uses, no charge
            2026-05-01 | wait        | expired other                                  | expired, no use, no charge
            2026-05-02 | reverse-ahead | aheadReinstated                              | active, uses, no charge
            2026-06-01 | wait        | expired other                                  | expired, no use, no charge
            """),
        Life(
            "an increase stays with its product when a period that was charged ahead comes back",
            """
            2026-04-01 | buy premium   | subscribed premium 9.99 2026-04-01..2026-05-01   | active, uses, premium 9.99 2026-04-30
            2026-04-02 | buy basic     | next basic 1.99                                  | active, uses, basic 1.99 2026-04-30
            2026-04-03 | renew         | renewed basic 1.99 2026-05-01..2026-06-01        | active, uses, basic 1.99 2026-05-31
            2026-04-04 | refund        | aheadRevoked                                     | active, uses, no charge
            2026-04-05 | raise 2.99 from 2026-04-20 telling  | refused notHigher          | active, uses, no charge
            2026-04-05 | raise 10.99 from 2026-04-20 telling | announced 10.99            | active, uses, no charge
            2026-04-06 | reverse-ahead | aheadReinstated                                  | active, uses, no charge
            2026-04-07 | on            | on                                               | active, uses, basic 1.99 2026-05-31
            2026-04-08 | raise 2.99 from 2026-04-20 telling  | announced 2.99             | active, uses, basic 2.99 2026-05-31
            2026-05-31 | wait          | renewed basic 2.99 2026-06-01..2026-07-01        | active, uses, basic 2.99 2026-06-30
            """),
        Life(
            "a product that is chosen anew costs what it costs then",
            """
            2026-04-01 | buy premium   | subscribed premium 9.99 2026-04-01..2026-05-01   | active, uses, premium 9.99 2026-04-30
            2026-04-02 | buy basic     | next basic 1.99                                  | active, uses, basic 1.99 2026-04-30
            2026-04-03 | renew         | renewed basic 1.99 2026-05-01..2026-06-01        | active, uses, basic 1.99 2026-05-31
            2026-04-04 | raise 2.99 from 2026-04-20 asking | asked 2.99                   | active, uses, no charge
            2026-04-05 | refund        | aheadRevoked                                     | active, uses, no charge
            2026-04-06 | buy basic     | on                                               |
                       |               | next basic 1.99                                  | active, uses, basic 1.99 2026-04-30
            2026-04-30 | wait          | renewed basic 1.99 2026-05-01..2026-06-01        | active, uses, basic 1.99 2026-05-31
            """),
        Life(
            "a renewal that was kept for another product is not restored",
            """
            2026-04-01 | buy premium   | subscribed premium 9.99 2026-04-01..2026-05-01   | active, uses, premium 9.99 2026-04-30
            2026-04-02 | buy monthly   | next monthly 4.99                                | active, uses, monthly 4.99 2026-04-30
            2026-04-03 | renew         | renewed monthly 4.99 2026-05-01..2026-06-01      | active, uses, monthly 4.99 2026-05-31
            2026-04-04 | buy basic     | next basic 1.99                                  | active, uses, basic 1.99 2026-05-31
            2026-04-05 | refund        | aheadRevoked                                     | active, uses, no charge
            2026-04-06 | buy premium   | on                                               |
                       |               | keeps premium 9.99                               | active, uses, premium 9.99 2026-04-30
            2026-04-30 | wait          | renewed premium 9.99 2026-05-01..2026-06-01      | active, uses, premium 9.99 2026-05-31
            """),
        Life(
            "what is chosen after a period that was charged ahead was given back keeps no price of it",
            """
            2026-04-01 | buy premium   | subscribed premium 9.99 2026-04-01..2026-05-01   | active, uses, premium 9.99 2026-04-30
            2026-04-02 | buy basic     | next basic 1.99                                  | active, uses, basic 1.99 2026-04-30
            2026-04-03 | renew         | renewed basic 1.99 2026-05-01..2026-06-01        | active, uses, basic 1.99 2026-05-31
            2026-04-04 | raise 2.99 from 2026-04-20 telling  | announced 2.99             | active, uses, basic 2.99 2026-05-31
            2026-04-05 | refund        | aheadRevoked                                     | active, uses, no charge
            2026-04-06 | buy monthly   | on                                               |
                       |               | next monthly 4.99                                | active, uses, monthly 4.99 2026-04-30
            2026-04-07 | buy premium   | keeps premium 9.99                               | active, uses, premium 9.99 2026-04-30
            2026-04-30 | wait          | renewed premium 9.99 2026-05-01..2026-06-01      | active, uses, premium 9.99 2026-05-31
            """),
        Life(
            "which can be extended, and cancelled for a reason of the customer's",
            """
            2026-04-01 | buy monthly   | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | renew         | renewed monthly 4.99 2026-05-01..2026-06-01    | active, uses, monthly 4.99 2026-05-31
            2026-04-03 | off           | off                                            | active, uses, no charge
            2026-04-10 | refund        | aheadRevoked                                   | active, uses, no charge
            2026-04-11 | reverse-ahead | aheadReinstated                                | active, uses, no charge
            2026-04-12 | refund        | aheadRevoked                                   | active, uses, no charge
            2026-04-13 | extend 7      | extended 2026-05-08                            | active, uses, no charge
            2026-05-08 | wait          | expired cancelled                              | expired, no use, no charge
            """),
        Life(
            "and continues if the renewal is switched on again",
            """
            2026-04-01 | buy monthly  | subscribed monthly 4.99 2026-04-01..2026-05-01         | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | renew        | renewed monthly 4.99 2026-05-01..2026-06-01            | active, uses, monthly 4.99 2026-05-31
            2026-04-10 | refund       | aheadRevoked                                           | active, uses, no charge
            2026-04-16 | buy monthly  | on                                                     | active, uses, monthly 4.99 2026-04-30
            2026-04-17 | bill fails   | -                                                      | active, uses, monthly 4.99 2026-04-30
            2026-05-02 | wait         | 2026-04-30: failedAhead                                |
                       |              | 2026-05-01: failed                                     |
                       |              | failedAgain                                            | retry, no use, monthly 4.99 2026-05-03
            2026-05-03 | bill works   | failedAgain                                            | retry, no use, monthly 4.99 2026-05-05
            2026-05-03 | reverse-ahead | aheadReinstated                                       | active, uses, monthly 4.99 2026-05-31
            2026-05-16 | buy premium  | upgraded premium 9.99 2026-05-16..2026-06-16 back 2.57 | active, uses, premium 9.99 2026-06-15
            """),
        Life(
            "an upgrade then gives back the period that runs only",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01         | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | renew       | renewed monthly 4.99 2026-05-01..2026-06-01            | active, uses, monthly 4.99 2026-05-31
            2026-04-10 | refund      | aheadRevoked                                           | active, uses, no charge
            2026-04-16 | buy premium | upgraded premium 9.99 2026-04-16..2026-05-16 back 2.49 | active, uses, premium 9.99 2026-05-15
            """),
        Life(
            "parts of a commitment end as well",
            """
            2026-04-01 | buy yearly/month | subscribed yearly 4.49 2026-04-01..2026-05-01 1/12 | active, uses, yearly 4.49 2026-04-30
            2026-04-02 | renew            | renewed yearly 4.49 2026-05-01..2026-06-01 2/12    | active, uses, yearly 4.49 2026-05-31
            2026-04-10 | refund           | aheadRevoked                                       | active, uses, no charge
            2026-05-01 | wait             | expired other                                      | expired, no use, no charge
            """),
        Life(
            "and once that has ended, a new one begins",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01   | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | renew       | renewed monthly 4.99 2026-05-01..2026-06-01      | active, uses, monthly 4.99 2026-05-31
            2026-04-10 | refund      | aheadRevoked                                     | active, uses, no charge
            2026-05-01 | wait        | expired other                                    | expired, no use, no charge
            2026-05-02 | buy monthly | resubscribed monthly 4.99 2026-05-02..2026-06-02 | active, uses, monthly 4.99 2026-06-01
            """),
        Life(
            "and its return begins it at its date",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | renew       | renewed monthly 4.99 2026-05-01..2026-06-01    | active, uses, monthly 4.99 2026-05-31
            2026-04-10 | refund      | aheadRevoked                                   | active, uses, no charge
            2026-04-11 | reverse-ahead | aheadReinstated                              | active, uses, no charge
            2026-04-11 | reverse-ahead | -                                            | active, uses, no charge
            2026-05-02 | wait        | -                                              | active, uses, no charge
            2026-06-01 | wait        | expired other                                  | expired, no use, no charge
            """),
        Life(
            "after both refunds nothing can be used",
            """
            2026-04-01 | buy monthly    | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | renew          | renewed monthly 4.99 2026-05-01..2026-06-01    | active, uses, monthly 4.99 2026-05-31
            2026-04-10 | refund-running | runningRevoked                                 | revoked, no use, monthly 4.99 2026-05-31
            2026-04-11 | refund-ahead   | refunded                                       | revoked, no use, no charge
            2026-04-12 | reverse-running | runningReinstated                             | active, uses, no charge
            2026-04-13 | refund         | refunded                                       | revoked, no use, no charge
            2026-04-14 | reverse-ahead  | aheadReinstated                                | revoked, no use, no charge
            2026-04-15 | reverse-running | runningReinstated                             | active, uses, no charge
            """),
        Life(
            "a test that ends it ends both periods",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | renew       | renewed monthly 4.99 2026-05-01..2026-06-01    | active, uses, monthly 4.99 2026-05-31
            2026-04-10 | refund-running | runningRevoked                              | revoked, no use, monthly 4.99 2026-05-31
            2026-04-10 | expire      | expired other                                  | expired, no use, no charge
            2026-04-10 | reverse-running | -                                          | expired, no use, no charge
            2026-05-02 | buy basic   | resubscribed basic 1.99 2026-05-02..2026-06-02 | active, uses, basic 1.99 2026-06-01
            """),
        Life(
            "an operator chooses any product of the group for the next period",
            """
            2026-04-01 | buy monthly    | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | choose premium | next premium 9.99                              | active, uses, premium 9.99 2026-04-30
            2026-04-03 | choose premium | -                                              | active, uses, premium 9.99 2026-04-30
            2026-04-04 | off            | off                                            | active, uses, no charge
            2026-04-05 | choose monthly | on                                             |
                       |                | keeps monthly 4.99                             | active, uses, monthly 4.99 2026-04-30
            2026-04-06 | choose basic   | next basic 1.99                                | active, uses, basic 1.99 2026-04-30
            2026-04-30 | wait           | renewed basic 1.99 2026-05-01..2026-06-01      | active, uses, basic 1.99 2026-05-31
            2026-05-02 | bill fails     | -                                              | active, uses, basic 1.99 2026-05-31
            2026-06-02 | choose premium | refused unpaid                                 | retry, no use, basic 1.99 2026-06-03
            """),
    ]

    @Test func `a period that had not begun when it was ended never runs`() throws {
        var story = SubscriptionStory()
        _ = try story.play("2026-04-01", "buy monthly")
        _ = try story.play("2026-04-02", "renew")
        _ = try story.play("2026-04-10", "expire")
        let ended = try #require(story.subscription)

        #expect(ended.current.end == story.now && ended.current.start > story.now)
        #expect(ended.running?.period.end == story.now)
        #expect(ended.usableUntil == nil && ended.status(at: story.now) == .expired)
    }

    @Test func `a renewal that is off ends before the event says so, and another does not`()
        throws
    {
        var story = SubscriptionStory()
        _ = try story.play("2026-04-01", "buy monthly")
        let renewing = try #require(story.subscription)
        _ = try story.play("2026-04-02", "off")
        let off = try #require(story.subscription)
        let end = off.current.end

        #expect(off.status(at: end.adding(milliseconds: -1)) == .active)
        #expect(off.status(at: end) == .expired && off.status == .active)
        #expect(off.state(at: end) == .expired(reason: .cancelled, at: end))
        #expect(renewing.status(at: end) == .active)
    }

    @Test func `the period that the customer may use is shown`() throws {
        var story = SubscriptionStory()
        _ = try story.play("2026-04-01", "buy monthly")
        let first = try #require(story.subscription?.current)
        _ = try story.play("2026-04-02", "renew")
        _ = try story.play("2026-04-09", "refund-running")
        let waiting = try #require(story.subscription)
        _ = try story.play("2026-04-10", "reverse-running")
        _ = try story.play("2026-04-10", "refund")
        let kept = try #require(story.subscription)

        #expect(waiting.shownTransaction(at: story.now) == first.transaction)
        #expect(waiting.shownTransaction(at: first.end) == waiting.current.transaction)
        #expect(waiting.status(at: first.end) == .active)
        #expect(kept.current == first && kept.renewals == 0)
    }

    @Test func `a change of many concerns those who subscribed before it, in its storefronts`()
        throws
    {
        var story = SubscriptionStory()
        _ = try story.play("2026-04-01", "buy monthly")
        let subscribed = try #require(story.subscription)
        func change(
            _ kind: BulkChange.Kind = .extend(days: 7), of product: String = "monthly",
            in storefronts: [String]? = nil, on day: String = "2026-04-02"
        ) throws -> Bool {
            let at = try #require(Timestamp(iso8601: "\(day)T10:00:00Z"))
            return BulkChange(
                kind, productID: ProductID(product), storefronts: storefronts, requestedAt: at
            ).concerns(subscribed, in: "USA")
        }
        func price(_ code: String, isCommitted: Bool? = nil) throws -> BulkChange.Kind {
            .raisePrice(
                to: Money(Amount(milliunits: 9990), try #require(Currency(code: code))),
                from: Timestamp(milliseconds: 0), needsConsent: true, isCommitted: isCommitted)
        }

        #expect(try change() && change(in: ["DEU", "USA"]) && change(price("USD")))
        #expect(try !change(of: "premium") && !change(in: ["DEU"]) && !change(in: []))
        #expect(try !change(on: "2026-03-31") && !change(price("EUR")))
        #expect(
            try change(price("USD", isCommitted: false))
                && !change(price("USD", isCommitted: true)))
        _ = try story.play("2026-04-03", "expire")
        let ended = try #require(story.subscription)
        #expect(
            !BulkChange(
                .extend(days: 7), productID: ProductID("monthly"),
                requestedAt: ended.recentStart
            ).concerns(ended, in: "USA"))
    }
}
