// SPDX-License-Identifier: Apache-2.0

import Testing

/// Lives with offers that a payment asks for. The columns are those of
/// ``SubscriptionLifeTests``.
@Suite struct SubscriptionOfferLifeTests {
    @Test(arguments: lives)
    func `a life`(life: SubscriptionLifeTests.Life) throws { try life.check() }

    static let lives: [SubscriptionLifeTests.Life] = [
        SubscriptionLifeTests.Life(
            "a promotional offer is for customers who subscribe or did",
            """
            2026-01-10 | buy monthly promotional half    | refused offerNotEligible                                | -
            2026-01-10 | buy monthly                     | subscribed monthly 4.99 2026-01-10..2026-02-10          | active, uses, monthly 4.99 2026-02-09
            2026-01-12 | buy monthly promotional unknown | refused offerUnknown                                    | active, uses, monthly 4.99 2026-02-09
            2026-01-12 | buy monthly promotional half    | redeemed half                                           | active, uses, monthly 2.49 2026-02-09
            2026-02-12 | wait                            | 2026-02-09: renewed monthly 2.49 2026-02-10..2026-03-10 | active, uses, monthly 2.49 2026-03-09
            2026-04-12 | wait                            | 2026-03-09: renewed monthly 2.49 2026-03-10..2026-04-10 |
                       |                                 | 2026-04-09: renewed monthly 4.99 2026-04-10..2026-05-10 | active, uses, monthly 4.99 2026-05-09
            """),
        SubscriptionLifeTests.Life(
            "an offer for the present product begins with the next period, and the last one counts",
            """
            2026-01-10 | buy monthly                  | subscribed monthly 4.99 2026-01-10..2026-02-10          | active, uses, monthly 4.99 2026-02-09
            2026-01-11 | off                          | off                                                     | active, uses, no charge
            2026-01-12 | buy monthly promotional half | on                                                      |
                       |                              | redeemed half                                           | active, uses, monthly 2.49 2026-02-09
            2026-01-13 | buy monthly promotional free | redeemed free                                           | active, uses, monthly 0.00 2026-02-09
            2026-02-20 | wait                         | 2026-02-09: renewed monthly 0.00 2026-02-10..2026-03-10 | active, uses, monthly 4.99 2026-03-09
            2026-03-20 | wait                         | 2026-03-09: renewed monthly 4.99 2026-03-10..2026-04-10 | active, uses, monthly 4.99 2026-04-09
            """),
        SubscriptionLifeTests.Life(
            "an offer of several months at once makes one long period",
            """
            2026-01-31 | buy monthly                     | subscribed monthly 4.99 2026-01-31..2026-02-28          | active, uses, monthly 4.99 2026-02-27
            2026-02-01 | buy monthly promotional quarter | redeemed quarter                                        | active, uses, monthly 7.99 2026-02-27
            2026-03-01 | wait                            | 2026-02-27: renewed monthly 7.99 2026-02-28..2026-05-31 | active, uses, monthly 4.99 2026-05-30
            2026-06-10 | wait                            | 2026-05-30: renewed monthly 4.99 2026-05-31..2026-06-30 | active, uses, monthly 4.99 2026-06-29
            """),
        SubscriptionLifeTests.Life(
            "an upgrade with an offer begins at once",
            """
            2026-01-10 | buy monthly                  | subscribed monthly 4.99 2026-01-10..2026-02-10          | active, uses, monthly 4.99 2026-02-09
            2026-01-25 | buy premium promotional half | upgraded premium 2.49 2026-01-25..2026-02-25 back 2.57  | active, uses, premium 2.49 2026-02-24
            2026-04-28 | wait                         | 2026-02-24: renewed premium 2.49 2026-02-25..2026-03-25 |
                       |                              | 2026-03-24: renewed premium 9.99 2026-03-25..2026-04-25 |
                       |                              | 2026-04-24: renewed premium 9.99 2026-04-25..2026-05-25 | active, uses, premium 9.99 2026-05-24
            """),
        SubscriptionLifeTests.Life(
            "a downgrade with an offer begins at the next period",
            """
            2026-01-10 | buy monthly                | subscribed monthly 4.99 2026-01-10..2026-02-10        | active, uses, monthly 4.99 2026-02-09
            2026-01-25 | buy basic promotional half | next basic 1.99 with half                             | active, uses, basic 2.49 2026-02-09
            2026-02-20 | wait                       | 2026-02-09: renewed basic 2.49 2026-02-10..2026-03-10 | active, uses, basic 2.49 2026-03-09
            2026-05-01 | wait                       | 2026-03-09: renewed basic 2.49 2026-03-10..2026-04-10 |
                       |                            | 2026-04-09: renewed basic 1.99 2026-04-10..2026-05-10 | active, uses, basic 1.99 2026-05-09
            """),
        SubscriptionLifeTests.Life(
            "a change with an offer that is dropped takes its offer along",
            """
            2026-01-10 | buy monthly                | subscribed monthly 4.99 2026-01-10..2026-02-10          | active, uses, monthly 4.99 2026-02-09
            2026-01-25 | buy basic promotional half | next basic 1.99 with half                               | active, uses, basic 2.49 2026-02-09
            2026-01-26 | buy monthly                | keeps monthly 4.99                                      | active, uses, monthly 4.99 2026-02-09
            2026-02-20 | wait                       | 2026-02-09: renewed monthly 4.99 2026-02-10..2026-03-10 | active, uses, monthly 4.99 2026-03-09
            """),
        SubscriptionLifeTests.Life(
            "an offer replaces what is left of another one",
            """
            2026-01-10 | buy slow                  | subscribed slow 0.99 2026-01-10..2026-02-10          | active, uses, slow 0.99 2026-02-09
            2026-01-20 | buy slow promotional half | redeemed half                                        | active, uses, slow 2.49 2026-02-09
            2026-05-01 | wait                      | 2026-02-09: renewed slow 2.49 2026-02-10..2026-03-10 |
                       |                           | 2026-03-09: renewed slow 2.49 2026-03-10..2026-04-10 |
                       |                           | 2026-04-09: renewed slow 4.99 2026-04-10..2026-05-10 | active, uses, slow 4.99 2026-05-09
            """),
        SubscriptionLifeTests.Life(
            "an unpaid renewal can be paid with an offer",
            """
            2026-01-10 | grace 16                     | -                                                       | -
            2026-01-10 | buy monthly                  | subscribed monthly 4.99 2026-01-10..2026-02-10          | active, uses, monthly 4.99 2026-02-09
            2026-01-10 | bill fails                   | -                                                       | active, uses, monthly 4.99 2026-02-09
            2026-02-15 | wait                         | 2026-02-09: failedAhead                                 |
                       |                              | 2026-02-10: failed grace 2026-02-26                     |
                       |                              | 2026-02-11: failedAgain                                 |
                       |                              | 2026-02-12: failedAgain                                 |
                       |                              | 2026-02-14: failedAgain                                 | grace, uses, monthly 4.99 2026-02-17
            2026-02-16 | buy monthly promotional half | recovered monthly 2.49 2026-02-10..2026-03-10           | active, uses, monthly 2.49 2026-03-09
            2026-02-16 | bill works                   | -                                                       | active, uses, monthly 2.49 2026-03-09
            2026-05-01 | wait                         | 2026-03-09: renewed monthly 2.49 2026-03-10..2026-04-10 |
                       |                              | 2026-04-09: renewed monthly 4.99 2026-04-10..2026-05-10 | active, uses, monthly 4.99 2026-05-09
            """),
        SubscriptionLifeTests.Life(
            "a win-back offer is for customers whose subscription has expired",
            """
            2026-01-10 | buy monthly               | subscribed monthly 4.99 2026-01-10..2026-02-10          | active, uses, monthly 4.99 2026-02-09
            2026-01-12 | buy monthly win-back back | refused offerNotEligible                                | active, uses, monthly 4.99 2026-02-09
            2026-01-12 | off                       | off                                                     | active, uses, no charge
            2026-02-10 | buy monthly win-back off  | refused offerNotEligible                                | expired, no use, no charge
            2026-02-11 | buy monthly win-back back | resubscribed monthly 1.99 2026-02-11..2026-03-11        | active, uses, monthly 1.99 2026-03-10
            2026-05-15 | wait                      | 2026-03-10: renewed monthly 1.99 2026-03-11..2026-04-11 |
                       |                           | 2026-04-10: renewed monthly 1.99 2026-04-11..2026-05-11 |
                       |                           | 2026-05-10: renewed monthly 4.99 2026-05-11..2026-06-11 | active, uses, monthly 4.99 2026-06-10
            2026-06-15 | wait                      | 2026-06-10: renewed monthly 4.99 2026-06-11..2026-07-11 | active, uses, monthly 4.99 2026-07-10
            """),
        SubscriptionLifeTests.Life(
            "a customer is not won back twice without paying in between",
            """
            2026-01-10 | buy monthly               | subscribed monthly 4.99 2026-01-10..2026-02-10   | active, uses, monthly 4.99 2026-02-09
            2026-01-12 | off                       | off                                              | active, uses, no charge
            2026-02-11 | buy monthly win-back gift | 2026-02-10: expired cancelled                    |
                       |                           | resubscribed monthly 0.00 2026-02-11..2026-03-11 | active, uses, monthly 4.99 2026-03-10
            2026-02-12 | off                       | off                                              | active, uses, no charge
            2026-03-12 | buy monthly win-back back | refused offerNotEligible                         | expired, no use, no charge
            2026-03-12 | buy monthly               | resubscribed monthly 4.99 2026-03-12..2026-04-12 | active, uses, monthly 4.99 2026-04-11
            2026-03-13 | off                       | off                                              | active, uses, no charge
            2026-04-20 | buy monthly win-back gift | 2026-04-12: expired cancelled                    |
                       |                           | resubscribed monthly 0.00 2026-04-20..2026-05-20 | active, uses, monthly 4.99 2026-05-19
            """),
        SubscriptionLifeTests.Life(
            "a win-back offer of another product",
            """
            2026-01-10 | buy monthly               | subscribed monthly 4.99 2026-01-10..2026-02-10          | active, uses, monthly 4.99 2026-02-09
            2026-01-12 | off                       | off                                                     | active, uses, no charge
            2026-02-11 | buy premium win-back gift | 2026-02-10: expired cancelled                           |
                       |                           | resubscribed premium 0.00 2026-02-11..2026-03-11        | active, uses, premium 9.99 2026-03-10
            2026-03-15 | wait                      | 2026-03-10: renewed premium 9.99 2026-03-11..2026-04-11 | active, uses, premium 9.99 2026-04-10
            """),
        SubscriptionLifeTests.Life(
            "a refunded customer is not won back",
            """
            2026-01-10 | buy monthly                  | subscribed monthly 4.99 2026-01-10..2026-02-10   | active, uses, monthly 4.99 2026-02-09
            2026-01-12 | refund                       | refunded                                         | revoked, no use, no charge
            2026-01-13 | buy monthly win-back back    | refused offerNotEligible                         | revoked, no use, no charge
            2026-01-13 | buy monthly promotional half | resubscribed monthly 2.49 2026-01-13..2026-02-13 | active, uses, monthly 2.49 2026-02-12
            """),
        SubscriptionLifeTests.Life(
            "a code says for whom it is: new customers",
            """
            2026-01-10 | buy monthly code expired  | refused offerNotEligible                                | -
            2026-01-10 | buy monthly code existing | refused offerNotEligible                                | -
            2026-01-10 | buy monthly code new      | subscribed monthly 0.00 2026-01-10..2026-02-10          | active, uses, monthly 4.99 2026-02-09
            2026-02-15 | wait                      | 2026-02-09: renewed monthly 4.99 2026-02-10..2026-03-10 | active, uses, monthly 4.99 2026-03-09
            2026-02-16 | buy monthly code new      | refused offerNotEligible                                | active, uses, monthly 4.99 2026-03-09
            """),
        SubscriptionLifeTests.Life(
            "a code says for whom it is: existing and expired ones",
            """
            2026-01-10 | buy monthly               | subscribed monthly 4.99 2026-01-10..2026-02-10          | active, uses, monthly 4.99 2026-02-09
            2026-01-11 | buy monthly code existing | redeemed existing                                       | active, uses, monthly 0.00 2026-02-09
            2026-01-11 | buy monthly code expired  | refused offerNotEligible                                | active, uses, monthly 0.00 2026-02-09
            2026-02-11 | off                       | 2026-02-09: renewed monthly 0.00 2026-02-10..2026-03-10 |
                       |                           | off                                                     | active, uses, no charge
            2026-03-11 | buy monthly code existing | refused offerNotEligible                                | expired, no use, no charge
            2026-03-11 | buy monthly code expired  | resubscribed monthly 0.00 2026-03-11..2026-04-11        | active, uses, monthly 4.99 2026-04-10
            """),
        SubscriptionLifeTests.Life(
            "a code takes the place of the introductory offer",
            """
            2026-01-10 | buy trial code new | subscribed trial 0.00 2026-01-10..2026-02-10          | active, uses, trial 4.99 2026-02-09
            2026-02-12 | wait               | 2026-02-09: renewed trial 4.99 2026-02-10..2026-03-10 | active, uses, trial 4.99 2026-03-09
            """),
        SubscriptionLifeTests.Life(
            "a code that may follow the introductory offer does",
            """
            2026-01-10 | buy trial code after | subscribed trial 0.00 2026-01-10..2026-01-17          | active, uses, trial 0.99 2026-01-16
            2026-01-17 | wait                 | 2026-01-16: renewed trial 0.99 2026-01-17..2026-02-17 | active, uses, trial 0.99 2026-02-16
            2026-04-12 | wait                 | 2026-02-16: renewed trial 0.99 2026-02-17..2026-03-17 |
                       |                      | 2026-03-16: renewed trial 4.99 2026-03-17..2026-04-17 | active, uses, trial 4.99 2026-04-16
            """),
        SubscriptionLifeTests.Life(
            "a code that follows an introductory offer of several charges",
            """
            2026-01-10 | buy slow code after | subscribed slow 0.99 2026-01-10..2026-02-10          | active, uses, slow 0.99 2026-02-09
            2026-02-12 | wait                | 2026-02-09: renewed slow 0.99 2026-02-10..2026-03-10 | active, uses, slow 0.99 2026-03-09
            2026-03-12 | wait                | 2026-03-09: renewed slow 0.99 2026-03-10..2026-04-10 | active, uses, slow 0.99 2026-04-09
            2026-06-12 | wait                | 2026-04-09: renewed slow 0.99 2026-04-10..2026-05-10 |
                       |                     | 2026-05-09: renewed slow 4.99 2026-05-10..2026-06-10 |
                       |                     | 2026-06-09: renewed slow 4.99 2026-06-10..2026-07-10 | active, uses, slow 4.99 2026-07-09
            """),
        SubscriptionLifeTests.Life(
            "a merchant's server withholds the introductory offer, and grants it",
            """
            2026-01-10 | decide trial no  | subscribed trial 4.99 2026-01-10..2026-02-10          | active, uses, trial 4.99 2026-02-09
            2026-01-11 | off              | off                                                   | active, uses, no charge
            2026-02-11 | decide trial yes | 2026-02-10: expired cancelled                         |
                       |                  | resubscribed trial 0.00 2026-02-11..2026-02-18        | active, uses, trial 4.99 2026-02-17
            2026-02-19 | wait             | 2026-02-17: renewed trial 4.99 2026-02-18..2026-03-18 | active, uses, trial 4.99 2026-03-17
            2026-02-20 | off              | off                                                   | active, uses, no charge
            2026-04-01 | decide trial yes | 2026-03-18: expired cancelled                         |
                       |                  | resubscribed trial 0.00 2026-04-01..2026-04-08        | active, uses, trial 4.99 2026-04-07
            """),
    ]
}
