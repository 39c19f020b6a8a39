// SPDX-License-Identifier: Apache-2.0

import Testing

/// Lives of a year that is paid for in monthly parts. The columns are those of
/// ``SubscriptionLifeTests``.
@Suite struct SubscriptionCommitmentTests {
    @Test(arguments: lives)
    func `a life`(life: SubscriptionLifeTests.Life) throws { try life.check() }

    static let lives: [SubscriptionLifeTests.Life] = [
        SubscriptionLifeTests.Life(
            "a year in monthly parts ends at its end, also if it is switched off",
            """
            2026-01-31 | buy yearly/month | subscribed yearly 4.49 2026-01-31..2026-02-28 1/12           | active, uses, yearly 4.49 2026-02-27
            2026-02-15 | off              | off                                                          | active, uses, yearly 4.49 2026-02-27
            2026-03-05 | wait             | 2026-02-27: renewed yearly 4.49 2026-02-28..2026-03-31 2/12  | active, uses, yearly 4.49 2026-03-30
            2026-12-31 | wait             | 2026-03-30: renewed yearly 4.49 2026-03-31..2026-04-30 3/12  |
                       |                  | 2026-04-29: renewed yearly 4.49 2026-04-30..2026-05-31 4/12  |
                       |                  | 2026-05-30: renewed yearly 4.49 2026-05-31..2026-06-30 5/12  |
                       |                  | 2026-06-29: renewed yearly 4.49 2026-06-30..2026-07-31 6/12  |
                       |                  | 2026-07-30: renewed yearly 4.49 2026-07-31..2026-08-31 7/12  |
                       |                  | 2026-08-30: renewed yearly 4.49 2026-08-31..2026-09-30 8/12  |
                       |                  | 2026-09-29: renewed yearly 4.49 2026-09-30..2026-10-31 9/12  |
                       |                  | 2026-10-30: renewed yearly 4.49 2026-10-31..2026-11-30 10/12 |
                       |                  | 2026-11-29: renewed yearly 4.49 2026-11-30..2026-12-31 11/12 |
                       |                  | 2026-12-30: renewed yearly 4.49 2026-12-31..2027-01-31 12/12 | active, uses, no charge
            2027-01-31 | wait             | expired cancelled                                            | expired, no use, no charge
            """),
        SubscriptionLifeTests.Life(
            "a commitment begins again if nothing is changed",
            """
            2026-01-10 | buy yearly/month | subscribed yearly 4.49 2026-01-10..2026-02-10 1/12           | active, uses, yearly 4.49 2026-02-09
            2026-12-20 | wait             | 2026-02-09: renewed yearly 4.49 2026-02-10..2026-03-10 2/12  |
                       |                  | 2026-03-09: renewed yearly 4.49 2026-03-10..2026-04-10 3/12  |
                       |                  | 2026-04-09: renewed yearly 4.49 2026-04-10..2026-05-10 4/12  |
                       |                  | 2026-05-09: renewed yearly 4.49 2026-05-10..2026-06-10 5/12  |
                       |                  | 2026-06-09: renewed yearly 4.49 2026-06-10..2026-07-10 6/12  |
                       |                  | 2026-07-09: renewed yearly 4.49 2026-07-10..2026-08-10 7/12  |
                       |                  | 2026-08-09: renewed yearly 4.49 2026-08-10..2026-09-10 8/12  |
                       |                  | 2026-09-09: renewed yearly 4.49 2026-09-10..2026-10-10 9/12  |
                       |                  | 2026-10-09: renewed yearly 4.49 2026-10-10..2026-11-10 10/12 |
                       |                  | 2026-11-09: renewed yearly 4.49 2026-11-10..2026-12-10 11/12 |
                       |                  | 2026-12-09: renewed yearly 4.49 2026-12-10..2027-01-10 12/12 | active, uses, yearly 4.49 2027-01-09
            2027-01-09 | wait             | renewed yearly 4.49 2027-01-10..2027-02-10 1/12              | active, uses, yearly 4.49 2027-02-09
            2027-02-09 | wait             | renewed yearly 4.49 2027-02-10..2027-03-10 2/12              | active, uses, yearly 4.49 2027-03-09
            """),
        SubscriptionLifeTests.Life(
            "a product that is withdrawn, and a price that changes, do not concern what was committed to",
            """
            2026-01-10 | buy yearly/month        | subscribed yearly 4.49 2026-01-10..2026-02-10 1/12           | active, uses, yearly 4.49 2026-02-09
            2026-02-01 | price yearly/month 9.99 | -                                                            | active, uses, yearly 4.49 2026-02-09
            2026-06-01 | withdraw yearly/month   | 2026-02-09: renewed yearly 4.49 2026-02-10..2026-03-10 2/12  |
                       |                         | 2026-03-09: renewed yearly 4.49 2026-03-10..2026-04-10 3/12  |
                       |                         | 2026-04-09: renewed yearly 4.49 2026-04-10..2026-05-10 4/12  |
                       |                         | 2026-05-09: renewed yearly 4.49 2026-05-10..2026-06-10 5/12  | active, uses, yearly 4.49 2026-06-09
            2026-08-15 | wait                    | 2026-06-09: renewed yearly 4.49 2026-06-10..2026-07-10 6/12  |
                       |                         | 2026-07-09: renewed yearly 4.49 2026-07-10..2026-08-10 7/12  |
                       |                         | 2026-08-09: renewed yearly 4.49 2026-08-10..2026-09-10 8/12  | active, uses, yearly 4.49 2026-09-09
            2027-01-10 | wait                    | 2026-09-09: renewed yearly 4.49 2026-09-10..2026-10-10 9/12  |
                       |                         | 2026-10-09: renewed yearly 4.49 2026-10-10..2026-11-10 10/12 |
                       |                         | 2026-11-09: renewed yearly 4.49 2026-11-10..2026-12-10 11/12 |
                       |                         | 2026-12-09: renewed yearly 4.49 2026-12-10..2027-01-10 12/12 |
                       |                         | 2027-01-09: stopped unavailable                              |
                       |                         | expired unavailable                                          | expired, no use, no charge
            """),
        SubscriptionLifeTests.Life(
            "the introductory offer is for the first parts",
            """
            2026-01-10 | buy try/month | subscribed try 0.99 2026-01-10..2026-02-10 1/12 | active, uses, try 0.99 2026-02-09
            2026-02-09 | wait          | renewed try 0.99 2026-02-10..2026-03-10 2/12    | active, uses, try 4.49 2026-03-09
            2026-03-09 | wait          | renewed try 4.49 2026-03-10..2026-04-10 3/12    | active, uses, try 4.49 2026-04-09
            2026-04-09 | wait          | renewed try 4.49 2026-04-10..2026-05-10 4/12    | active, uses, try 4.49 2026-05-09
            """),
        SubscriptionLifeTests.Life(
            "another product is chosen for the time after the commitment",
            """
            2026-01-10 | buy yearly/month | subscribed yearly 4.49 2026-01-10..2026-02-10 1/12           | active, uses, yearly 4.49 2026-02-09
            2026-03-01 | buy basic        | 2026-02-09: renewed yearly 4.49 2026-02-10..2026-03-10 2/12  |
                       |                  | next basic 1.99                                              | active, uses, yearly 4.49 2026-03-09
            2026-06-15 | wait             | 2026-03-09: renewed yearly 4.49 2026-03-10..2026-04-10 3/12  |
                       |                  | 2026-04-09: renewed yearly 4.49 2026-04-10..2026-05-10 4/12  |
                       |                  | 2026-05-09: renewed yearly 4.49 2026-05-10..2026-06-10 5/12  |
                       |                  | 2026-06-09: renewed yearly 4.49 2026-06-10..2026-07-10 6/12  | active, uses, yearly 4.49 2026-07-09
            2027-01-09 | wait             | 2026-07-09: renewed yearly 4.49 2026-07-10..2026-08-10 7/12  |
                       |                  | 2026-08-09: renewed yearly 4.49 2026-08-10..2026-09-10 8/12  |
                       |                  | 2026-09-09: renewed yearly 4.49 2026-09-10..2026-10-10 9/12  |
                       |                  | 2026-10-09: renewed yearly 4.49 2026-10-10..2026-11-10 10/12 |
                       |                  | 2026-11-09: renewed yearly 4.49 2026-11-10..2026-12-10 11/12 |
                       |                  | 2026-12-09: renewed yearly 4.49 2026-12-10..2027-01-10 12/12 |
                       |                  | renewed basic 1.99 2027-01-10..2027-02-10                    | active, uses, basic 1.99 2027-02-09
            2027-02-12 | wait             | 2027-02-09: renewed basic 1.99 2027-02-10..2027-03-10        | active, uses, basic 1.99 2027-03-09
            """),
        SubscriptionLifeTests.Life(
            "a better product begins at once, and with it another commitment",
            """
            2026-01-10 | buy yearly/month | subscribed yearly 4.49 2026-01-10..2026-02-10 1/12        | active, uses, yearly 4.49 2026-02-09
            2026-01-25 | buy gold/month   | upgraded gold 8.99 2026-01-25..2026-02-25 1/12 back 2.31  | active, uses, gold 8.99 2026-02-24
            2026-03-01 | wait             | 2026-02-24: renewed gold 8.99 2026-02-25..2026-03-25 2/12 | active, uses, gold 8.99 2026-03-24
            """),
        SubscriptionLifeTests.Life(
            "paying at once instead of monthly is a change for the time after the commitment",
            """
            2026-01-10 | buy yearly/month | subscribed yearly 4.49 2026-01-10..2026-02-10 1/12           | active, uses, yearly 4.49 2026-02-09
            2026-02-15 | buy yearly       | 2026-02-09: renewed yearly 4.49 2026-02-10..2026-03-10 2/12  |
                       |                  | next yearly 49.99                                            | active, uses, yearly 4.49 2026-03-09
            2027-01-10 | wait             | 2026-03-09: renewed yearly 4.49 2026-03-10..2026-04-10 3/12  |
                       |                  | 2026-04-09: renewed yearly 4.49 2026-04-10..2026-05-10 4/12  |
                       |                  | 2026-05-09: renewed yearly 4.49 2026-05-10..2026-06-10 5/12  |
                       |                  | 2026-06-09: renewed yearly 4.49 2026-06-10..2026-07-10 6/12  |
                       |                  | 2026-07-09: renewed yearly 4.49 2026-07-10..2026-08-10 7/12  |
                       |                  | 2026-08-09: renewed yearly 4.49 2026-08-10..2026-09-10 8/12  |
                       |                  | 2026-09-09: renewed yearly 4.49 2026-09-10..2026-10-10 9/12  |
                       |                  | 2026-10-09: renewed yearly 4.49 2026-10-10..2026-11-10 10/12 |
                       |                  | 2026-11-09: renewed yearly 4.49 2026-11-10..2026-12-10 11/12 |
                       |                  | 2026-12-09: renewed yearly 4.49 2026-12-10..2027-01-10 12/12 |
                       |                  | 2027-01-09: renewed yearly 49.99 2027-01-10..2028-01-10      | active, uses, yearly 49.99 2028-01-09
            """),
        SubscriptionLifeTests.Life(
            "paying monthly instead of at once is one for the next year",
            """
            2026-01-10 | buy yearly       | subscribed yearly 49.99 2026-01-10..2027-01-10              | active, uses, yearly 49.99 2027-01-09
            2026-02-15 | buy yearly/month | next yearly/month 4.49                                      | active, uses, yearly 4.49 2027-01-09
            2027-02-10 | wait             | 2027-01-09: renewed yearly 4.49 2027-01-10..2027-02-10 1/12 |
                       |                  | 2027-02-09: renewed yearly 4.49 2027-02-10..2027-03-10 2/12 | active, uses, yearly 4.49 2027-03-09
            """),
        SubscriptionLifeTests.Life(
            "a choice that is dropped leaves the commitment as it was",
            """
            2026-01-10 | buy yearly/month | subscribed yearly 4.49 2026-01-10..2026-02-10 1/12          | active, uses, yearly 4.49 2026-02-09
            2026-02-15 | buy yearly       | 2026-02-09: renewed yearly 4.49 2026-02-10..2026-03-10 2/12 |
                       |                  | next yearly 49.99                                           | active, uses, yearly 4.49 2026-03-09
            2026-02-16 | buy yearly/month | keeps yearly/month 4.49                                     | active, uses, yearly 4.49 2026-03-09
            2026-03-15 | wait             | 2026-03-09: renewed yearly 4.49 2026-03-10..2026-04-10 3/12 | active, uses, yearly 4.49 2026-04-09
            """),
        SubscriptionLifeTests.Life(
            "a part that cannot be charged is charged again, and the commitment lasts on",
            """
            2026-01-10 | grace 16         | -                                                             | -
            2026-01-10 | buy yearly/month | subscribed yearly 4.49 2026-01-10..2026-02-10 1/12            | active, uses, yearly 4.49 2026-02-09
            2026-02-01 | bill fails       | -                                                             | active, uses, yearly 4.49 2026-02-09
            2026-02-12 | wait             | 2026-02-09: failedAhead                                       |
                       |                  | 2026-02-10: failed grace 2026-02-26                           |
                       |                  | 2026-02-11: failedAgain                                       |
                       |                  | failedAgain                                                   | grace, uses, yearly 4.49 2026-02-14
            2026-02-13 | bill works       | -                                                             | grace, uses, yearly 4.49 2026-02-14
            2026-02-15 | wait             | 2026-02-14: recovered yearly 4.49 2026-02-10..2026-03-10 2/12 | active, uses, yearly 4.49 2026-03-09
            2026-03-12 | bill fails       | 2026-03-09: renewed yearly 4.49 2026-03-10..2026-04-10 3/12   | active, uses, yearly 4.49 2026-04-09
            2026-04-30 | wait             | 2026-04-09: failedAhead                                       |
                       |                  | 2026-04-10: failed grace 2026-04-26                           |
                       |                  | 2026-04-11: failedAgain                                       |
                       |                  | 2026-04-12: failedAgain                                       |
                       |                  | 2026-04-14: failedAgain                                       |
                       |                  | 2026-04-17: failedAgain                                       |
                       |                  | 2026-04-22: failedAgain                                       |
                       |                  | 2026-04-26: graceEnded                                        |
                       |                  | 2026-04-29: failedAgain                                       | retry, no use, yearly 4.49 2026-05-08
            2026-05-01 | buy yearly/month | recovered yearly 4.49 2026-05-01..2026-06-01 4/12             | active, uses, yearly 4.49 2026-05-31
            """),
        SubscriptionLifeTests.Life(
            "a customer who does not pay loses the product, commitment or not",
            """
            2026-01-10 | buy yearly/month | subscribed yearly 4.49 2026-01-10..2026-02-10 1/12 | active, uses, yearly 4.49 2026-02-09
            2026-02-01 | bill fails       | -                                                  | active, uses, yearly 4.49 2026-02-09
            2026-02-15 | off              | 2026-02-09: failedAhead                            |
                       |                  | 2026-02-10: failed                                 |
                       |                  | 2026-02-11: failedAgain                            |
                       |                  | 2026-02-12: failedAgain                            |
                       |                  | 2026-02-14: failedAgain                            |
                       |                  | off                                                |
                       |                  | expired cancelled                                  | expired, no use, no charge
            """),
        SubscriptionLifeTests.Life(
            "a price increase waits for the end of the commitment",
            """
            2026-01-10 | buy yearly/month               | subscribed yearly 4.49 2026-01-10..2026-02-10 1/12           | active, uses, yearly 4.49 2026-02-09
            2026-02-01 | raise 5.99 x 2026-03-01 asking | asked 5.99                                                   | active, uses, yearly 4.49 2026-02-09
            2026-06-12 | wait                           | 2026-02-09: renewed yearly 4.49 2026-02-10..2026-03-10 2/12  |
                       |                                | 2026-03-09: renewed yearly 4.49 2026-03-10..2026-04-10 3/12  |
                       |                                | 2026-04-09: renewed yearly 4.49 2026-04-10..2026-05-10 4/12  |
                       |                                | 2026-05-09: renewed yearly 4.49 2026-05-10..2026-06-10 5/12  |
                       |                                | 2026-06-09: renewed yearly 4.49 2026-06-10..2026-07-10 6/12  | active, uses, yearly 4.49 2026-07-09
            2027-01-12 | wait                           | 2026-07-09: renewed yearly 4.49 2026-07-10..2026-08-10 7/12  |
                       |                                | 2026-08-09: renewed yearly 4.49 2026-08-10..2026-09-10 8/12  |
                       |                                | 2026-09-09: renewed yearly 4.49 2026-09-10..2026-10-10 9/12  |
                       |                                | 2026-10-09: renewed yearly 4.49 2026-10-10..2026-11-10 10/12 |
                       |                                | 2026-11-09: renewed yearly 4.49 2026-11-10..2026-12-10 11/12 |
                       |                                | 2026-12-09: renewed yearly 4.49 2026-12-10..2027-01-10 12/12 |
                       |                                | 2027-01-10: expired priceIncrease                            | expired, no use, no charge
            """),
        SubscriptionLifeTests.Life(
            "an offer for the next period begins after the commitment",
            """
            2026-01-10 | buy yearly/month                  | subscribed yearly 4.49 2026-01-10..2026-02-10 1/12           | active, uses, yearly 4.49 2026-02-09
            2026-02-01 | buy yearly/month promotional half | redeemed half                                                | active, uses, yearly 4.49 2026-02-09
            2026-03-15 | wait                              | 2026-02-09: renewed yearly 4.49 2026-02-10..2026-03-10 2/12  |
                       |                                   | 2026-03-09: renewed yearly 4.49 2026-03-10..2026-04-10 3/12  | active, uses, yearly 4.49 2026-04-09
            2027-01-12 | wait                              | 2026-04-09: renewed yearly 4.49 2026-04-10..2026-05-10 4/12  |
                       |                                   | 2026-05-09: renewed yearly 4.49 2026-05-10..2026-06-10 5/12  |
                       |                                   | 2026-06-09: renewed yearly 4.49 2026-06-10..2026-07-10 6/12  |
                       |                                   | 2026-07-09: renewed yearly 4.49 2026-07-10..2026-08-10 7/12  |
                       |                                   | 2026-08-09: renewed yearly 4.49 2026-08-10..2026-09-10 8/12  |
                       |                                   | 2026-09-09: renewed yearly 4.49 2026-09-10..2026-10-10 9/12  |
                       |                                   | 2026-10-09: renewed yearly 4.49 2026-10-10..2026-11-10 10/12 |
                       |                                   | 2026-11-09: renewed yearly 4.49 2026-11-10..2026-12-10 11/12 |
                       |                                   | 2026-12-09: renewed yearly 4.49 2026-12-10..2027-01-10 12/12 |
                       |                                   | 2027-01-09: renewed yearly 2.49 2027-01-10..2027-02-10 1/12  | active, uses, yearly 2.49 2027-02-09
            """),
        SubscriptionLifeTests.Life(
            "a part is charged early by a test",
            """
            2026-01-10 | buy yearly/month | subscribed yearly 4.49 2026-01-10..2026-02-10 1/12 | active, uses, yearly 4.49 2026-02-09
            2026-01-11 | off              | off                                                | active, uses, yearly 4.49 2026-02-09
            2026-01-20 | renew            | renewed yearly 4.49 2026-02-10..2026-03-10 2/12    | active, uses, yearly 4.49 2026-03-09
            """),
        SubscriptionLifeTests.Life(
            "an increase concerns the billing plan that was paid by, and not the one chosen instead",
            """
            2026-01-10 | buy yearly                           | subscribed yearly 49.99 2026-01-10..2027-01-10 | active, uses, yearly 49.99 2027-01-09
            2026-02-01 | raise 59.99 from 2026-03-01 telling  | announced 59.99                                | active, uses, yearly 59.99 2027-01-09
            2026-02-02 | buy yearly/month                     | next yearly/month 4.49                         | active, uses, yearly 4.49 2027-01-09
            2026-02-03 | buy yearly                           | keeps yearly 49.99                             | active, uses, yearly 59.99 2027-01-09
            2026-02-04 | buy yearly/month                     | next yearly/month 4.49                         | active, uses, yearly 4.49 2027-01-09
            2027-01-09 | wait                                 | renewed yearly 4.49 2027-01-10..2027-02-10 1/12 | active, uses, yearly 4.49 2027-02-09
            """),
        SubscriptionLifeTests.Life(
            "choosing the present product drops another billing plan",
            """
            2026-01-10 | buy yearly       | subscribed yearly 49.99 2026-01-10..2027-01-10 | active, uses, yearly 49.99 2027-01-09
            2026-02-02 | buy yearly/month | next yearly/month 4.49                         | active, uses, yearly 4.49 2027-01-09
            2026-02-03 | choose yearly    | keeps yearly 49.99                             | active, uses, yearly 49.99 2027-01-09
            2026-02-04 | choose yearly    | -                                              | active, uses, yearly 49.99 2027-01-09
            """),
        SubscriptionLifeTests.Life(
            "without consent a subscription goes on by another billing plan",
            """
            2026-01-10 | buy yearly                           | subscribed yearly 49.99 2026-01-10..2027-01-10 | active, uses, yearly 49.99 2027-01-09
            2026-02-01 | raise 59.99 from 2026-03-01 asking   | asked 59.99                                    | active, uses, no charge
            2026-02-02 | buy yearly/month                     | next yearly/month 4.49                         | active, uses, yearly 4.49 2027-01-09
            2026-02-03 | agree                                | refused noIncrease                             | active, uses, yearly 4.49 2027-01-09
            2027-01-09 | wait                                 | renewed yearly 4.49 2027-01-10..2027-02-10 1/12 | active, uses, yearly 4.49 2027-02-09
            """),
        SubscriptionLifeTests.Life(
            "an agreed increase makes the next commitment dearer",
            """
            2026-01-10 | buy yearly/month               | subscribed yearly 4.49 2026-01-10..2026-02-10 1/12           | active, uses, yearly 4.49 2026-02-09
            2026-02-01 | raise 5.99 x 2026-03-01 silent | announced 5.99                                               | active, uses, yearly 4.49 2026-02-09
            2026-12-12 | wait                           | 2026-02-09: renewed yearly 4.49 2026-02-10..2026-03-10 2/12  |
                       |                                | 2026-03-09: renewed yearly 4.49 2026-03-10..2026-04-10 3/12  |
                       |                                | 2026-04-09: renewed yearly 4.49 2026-04-10..2026-05-10 4/12  |
                       |                                | 2026-05-09: renewed yearly 4.49 2026-05-10..2026-06-10 5/12  |
                       |                                | 2026-06-09: renewed yearly 4.49 2026-06-10..2026-07-10 6/12  |
                       |                                | 2026-07-09: renewed yearly 4.49 2026-07-10..2026-08-10 7/12  |
                       |                                | 2026-08-09: renewed yearly 4.49 2026-08-10..2026-09-10 8/12  |
                       |                                | 2026-09-09: renewed yearly 4.49 2026-09-10..2026-10-10 9/12  |
                       |                                | 2026-10-09: renewed yearly 4.49 2026-10-10..2026-11-10 10/12 |
                       |                                | 2026-11-09: renewed yearly 4.49 2026-11-10..2026-12-10 11/12 |
                       |                                | 2026-12-09: renewed yearly 4.49 2026-12-10..2027-01-10 12/12 | active, uses, yearly 5.99 2027-01-09
            2027-02-12 | wait                           | 2027-01-09: renewed yearly 5.99 2027-01-10..2027-02-10 1/12  |
                       |                                | 2027-02-09: renewed yearly 5.99 2027-02-10..2027-03-10 2/12  | active, uses, yearly 5.99 2027-03-09
            """),
    ]
}
