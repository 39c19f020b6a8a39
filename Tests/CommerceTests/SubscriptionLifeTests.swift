// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

/// The life of a subscription: when, what somebody does, which events follow
/// (also those that fell due since the line before), and the three answers.
/// Everything happens at 10:00 if no time is given. Renewals are charged a day
/// ahead.
@Suite struct SubscriptionLifeTests {
    struct Life: CustomTestStringConvertible, Sendable {
        struct Step: Sendable {
            let when: String
            let command: String
            var events: [String]
            var answers: String
        }

        let testDescription: String
        let steps: [Step]

        init(_ title: String, _ table: String) {
            testDescription = title
            var steps: [Step] = []
            for line in table.split(separator: "\n") {
                let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
                    $0.split(separator: " ").joined(separator: " ")
                }
                if cells[0].isEmpty, let last = steps.indices.last {
                    steps[last].events.append(cells[2])
                    steps[last].answers = cells[3]
                } else {
                    steps.append(
                        Step(
                            when: cells[0], command: cells[1], events: [cells[2]],
                            answers: cells[3]))
                }
            }
            self.steps = steps
        }

        /// Plays it, and compares every line. The events make the same
        /// subscription again.
        func check() throws {
            var story = SubscriptionStory()
            for step in steps {
                let day = String(step.when.prefix(10))
                var found: [String]
                do {
                    found = try story.play(step.when, step.command).map {
                        SubscriptionStory.text($0, on: day)
                    }
                } catch let refusal as SubscriptionRefusal {
                    found = ["refused \(refusal)"]
                } catch let refusal as PurchaseRefusal { found = ["refused \(refusal)"] }
                if found.isEmpty { found = ["-"] }
                #expect(found == step.events, "\(step.when) \(step.command)")
                #expect(story.answers == step.answers, "\(step.when) \(step.command)")
            }
            #expect(Subscription(story.events) == story.subscription)
        }
    }

    @Test(arguments: lives)
    func `a life`(life: Life) throws { try life.check() }

    // The columns: when, command, event, answers. A line without the first two has
    // one more event.
    static let lives: [Life] = [
        Life(
            "renews for ever, on the day on which it began",
            """
            2026-01-31       | buy monthly | subscribed monthly 4.99 2026-01-31..2026-02-28          | active, uses, monthly 4.99 2026-02-27
            2026-02-26       | wait        | -                                                       | active, uses, monthly 4.99 2026-02-27
            2026-02-27       | wait        | renewed monthly 4.99 2026-02-28..2026-03-31             | active, uses, monthly 4.99 2026-03-30
            2026-02-28 09:59 | wait        | -                                                       | active, uses, monthly 4.99 2026-03-30
            2026-05-01       | wait        | 2026-03-30: renewed monthly 4.99 2026-03-31..2026-04-30 |
                             |             | 2026-04-29: renewed monthly 4.99 2026-04-30..2026-05-31 | active, uses, monthly 4.99 2026-05-30
            2026-08-01       | wait        | 2026-05-30: renewed monthly 4.99 2026-05-31..2026-06-30 |
                             |             | 2026-06-29: renewed monthly 4.99 2026-06-30..2026-07-31 |
                             |             | 2026-07-30: renewed monthly 4.99 2026-07-31..2026-08-31 | active, uses, monthly 4.99 2026-08-30
            """),
        Life(
            "ends when the customer switches it off",
            """
            2026-01-10       | buy monthly | subscribed monthly 4.99 2026-01-10..2026-02-10 | active, uses, monthly 4.99 2026-02-09
            2026-01-12       | off         | off                                            | active, uses, no charge
            2026-01-13       | off         | -                                              | active, uses, no charge
            2026-01-14       | on          | on                                             | active, uses, monthly 4.99 2026-02-09
            2026-02-08       | off         | off                                            | active, uses, no charge
            2026-02-10 09:59 | wait        | -                                              | active, uses, no charge
            2026-02-10       | wait        | expired cancelled                              | expired, no use, no charge
            2026-02-11       | on          | refused ended                                  | expired, no use, no charge
            2026-02-11       | off         | refused ended                                  | expired, no use, no charge
            """),
        Life(
            "is subscribed again after a pause",
            """
            2026-01-10 | buy monthly | subscribed monthly 4.99 2026-01-10..2026-02-10   | active, uses, monthly 4.99 2026-02-09
            2026-01-10 | off         | off                                              | active, uses, no charge
            2026-03-10 | buy rival   | 2026-02-10: expired cancelled                    |
                       |             | resubscribed rival 3.99 2026-03-10..2026-04-10   | active, uses, rival 3.99 2026-04-09
            2026-03-10 | off         | off                                              | active, uses, no charge
            2026-08-10 | buy monthly | 2026-04-10: expired cancelled                    |
                       |             | resubscribed monthly 4.99 2026-08-10..2026-09-10 | active, uses, monthly 4.99 2026-09-09
            """),
        Life(
            "a free trial becomes a paid subscription, once",
            """
            2026-01-10 | buy trial | subscribed trial 0.00 2026-01-10..2026-01-17          | active, uses, trial 4.99 2026-01-16
            2026-01-16 | wait      | renewed trial 4.99 2026-01-17..2026-02-17             | active, uses, trial 4.99 2026-02-16
            2026-02-17 | off       | 2026-02-16: renewed trial 4.99 2026-02-17..2026-03-17 |
                       |           | off                                                   | active, uses, no charge
            2026-03-20 | buy trial | 2026-03-17: expired cancelled                         |
                       |           | resubscribed trial 4.99 2026-03-20..2026-04-20        | active, uses, trial 4.99 2026-04-19
            """),
        Life(
            "an offer paid up front",
            """
            2026-01-31 | buy upfront | subscribed upfront 8.99 2026-01-31..2026-04-30 | active, uses, upfront 4.99 2026-04-29
            2026-04-29 | wait        | renewed upfront 4.99 2026-04-30..2026-05-31    | active, uses, upfront 4.99 2026-05-30
            2026-05-30 | wait        | renewed upfront 4.99 2026-05-31..2026-06-30    | active, uses, upfront 4.99 2026-06-29
            """),
        Life(
            "an offer paid as you go",
            """
            2026-01-31 | buy slow | subscribed slow 0.99 2026-01-31..2026-02-28 | active, uses, slow 0.99 2026-02-27
            2026-02-27 | wait     | renewed slow 0.99 2026-02-28..2026-03-31    | active, uses, slow 4.99 2026-03-30
            2026-03-30 | wait     | renewed slow 4.99 2026-03-31..2026-04-30    | active, uses, slow 4.99 2026-04-29
            2026-04-29 | wait     | renewed slow 4.99 2026-04-30..2026-05-31    | active, uses, slow 4.99 2026-05-30
            """),
        Life(
            "an upgrade begins at once",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01          | active, uses, monthly 4.99 2026-04-30
            2026-04-16 | buy premium | upgraded premium 9.99 2026-04-16..2026-05-16 back 2.49  | active, uses, premium 9.99 2026-05-15
            2026-05-15 | wait        | renewed premium 9.99 2026-05-16..2026-06-16             | active, uses, premium 9.99 2026-06-15
            2026-05-16 | wait        | -                                                       | active, uses, premium 9.99 2026-06-15
            """),
        Life(
            "a product alike begins at once",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01        | active, uses, monthly 4.99 2026-04-30
            2026-04-16 | buy rival   | upgraded rival 3.99 2026-04-16..2026-05-16 back 2.49  | active, uses, rival 3.99 2026-05-15
            """),
        Life(
            "a product with another length begins at the renewal",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-16 | buy yearly  | next yearly 49.99                              | active, uses, yearly 49.99 2026-04-30
            2026-04-30 | wait        | renewed yearly 49.99 2026-05-01..2027-05-01    | active, uses, yearly 49.99 2027-04-30
            """),
        Life(
            "a downgrade begins at the renewal",
            """
            2026-04-01 | buy premium | subscribed premium 9.99 2026-04-01..2026-05-01 | active, uses, premium 9.99 2026-04-30
            2026-04-16 | buy basic   | next basic 1.99                                | active, uses, basic 1.99 2026-04-30
            2026-04-17 | buy monthly | next monthly 4.99                              | active, uses, monthly 4.99 2026-04-30
            2026-04-30 | wait        | renewed monthly 4.99 2026-05-01..2026-06-01    | active, uses, monthly 4.99 2026-05-31
            2026-05-01 | wait        | -                                              | active, uses, monthly 4.99 2026-05-31
            """),
        Life(
            "a downgrade is reversed",
            """
            2026-04-01 | buy premium | subscribed premium 9.99 2026-04-01..2026-05-01 | active, uses, premium 9.99 2026-04-30
            2026-04-16 | buy basic   | next basic 1.99                                | active, uses, basic 1.99 2026-04-30
            2026-04-17 | buy premium | keeps premium 9.99                             | active, uses, premium 9.99 2026-04-30
            2026-04-18 | buy premium | -                                              | active, uses, premium 9.99 2026-04-30
            2026-04-30 | wait        | renewed premium 9.99 2026-05-01..2026-06-01    | active, uses, premium 9.99 2026-05-31
            """),
        Life(
            "buying again switches the renewal on",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | off         | off                                            | active, uses, no charge
            2026-04-03 | buy monthly | on                                             | active, uses, monthly 4.99 2026-04-30
            """),
        Life(
            "choosing the next product switches the renewal on",
            """
            2026-04-01 | buy premium | subscribed premium 9.99 2026-04-01..2026-05-01 | active, uses, premium 9.99 2026-04-30
            2026-04-02 | off         | off                                            | active, uses, no charge
            2026-04-03 | buy basic   | on                                             |
                       |             | next basic 1.99                                | active, uses, basic 1.99 2026-04-30
            """),
        Life(
            "a renewal fails and is given up",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | bill fails  | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-04-30 | wait        | failedAhead                                    | active, uses, monthly 4.99 2026-05-01
            2026-05-01 | wait        | failed                                         | retry, no use, monthly 4.99 2026-05-02
            2026-05-02 | wait        | failedAgain                                    | retry, no use, monthly 4.99 2026-05-03
            2026-05-30 | wait        | 2026-05-03: failedAgain                        |
                       |             | 2026-05-05: failedAgain                        |
                       |             | 2026-05-08: failedAgain                        |
                       |             | 2026-05-13: failedAgain                        |
                       |             | 2026-05-20: failedAgain                        |
                       |             | 2026-05-29: failedAgain                        | retry, no use, monthly 4.99 2026-06-10
            2026-06-29 | wait        | 2026-06-10: failedAgain                        |
                       |             | 2026-06-22: failedAgain                        | retry, no use, no charge
            2026-06-30 | wait        | expired billing                                | expired, no use, no charge
            """),
        Life(
            "a renewal recovers from retry, and begins anew",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | bill fails  | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-05-06 | bill works  | 2026-04-30: failedAhead                        |
                       |             | 2026-05-01: failed                             |
                       |             | 2026-05-02: failedAgain                        |
                       |             | 2026-05-03: failedAgain                        |
                       |             | 2026-05-05: failedAgain                        | retry, no use, monthly 4.99 2026-05-08
            2026-05-08 | wait        | recovered monthly 4.99 2026-05-08..2026-06-08  | active, uses, monthly 4.99 2026-06-07
            2026-06-07 | wait        | renewed monthly 4.99 2026-06-08..2026-07-08    | active, uses, monthly 4.99 2026-07-07
            """),
        Life(
            "a renewal recovers before the end, unnoticed",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | bill fails  | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-04-30 | bill works  | failedAhead                                    | active, uses, monthly 4.99 2026-05-01
            2026-05-01 | wait        | renewed monthly 4.99 2026-05-01..2026-06-01    | active, uses, monthly 4.99 2026-05-31
            """),
        Life(
            "a renewal recovers in its grace period, and keeps its dates",
            """
            2026-04-01 | grace 16    | -                                              | -
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | bill fails  | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-05-01 | wait        | 2026-04-30: failedAhead                        |
                       |             | failed grace 2026-05-17                        | grace, uses, monthly 4.99 2026-05-02
            2026-05-06 | bill works  | 2026-05-02: failedAgain                        |
                       |             | 2026-05-03: failedAgain                        |
                       |             | 2026-05-05: failedAgain                        | grace, uses, monthly 4.99 2026-05-08
            2026-05-08 | wait        | recovered monthly 4.99 2026-05-01..2026-06-01  | active, uses, monthly 4.99 2026-05-31
            2026-05-31 | wait        | renewed monthly 4.99 2026-06-01..2026-07-01    | active, uses, monthly 4.99 2026-06-30
            """),
        Life(
            "a grace period ends",
            """
            2026-04-01       | grace 16    | -                                              | -
            2026-04-01       | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02       | bill fails  | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-05-17 09:59 | wait        | 2026-04-30: failedAhead                        |
                             |             | 2026-05-01: failed grace 2026-05-17            |
                             |             | 2026-05-02: failedAgain                        |
                             |             | 2026-05-03: failedAgain                        |
                             |             | 2026-05-05: failedAgain                        |
                             |             | 2026-05-08: failedAgain                        |
                             |             | 2026-05-13: failedAgain                        | grace, uses, monthly 4.99 2026-05-20
            2026-05-17       | wait        | graceEnded                                     | retry, no use, monthly 4.99 2026-05-20
            2026-07-01       | wait        | 2026-05-20: failedAgain                        |
                             |             | 2026-05-29: failedAgain                        |
                             |             | 2026-06-10: failedAgain                        |
                             |             | 2026-06-22: failedAgain                        |
                             |             | 2026-06-30: expired billing                    | expired, no use, no charge
            """),
        Life(
            "a grace period of 3 days",
            """
            2026-04-01 | grace 3     | -                                              | -
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | bill fails  | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-05-01 | wait        | 2026-04-30: failedAhead                        |
                       |             | failed grace 2026-05-04                        | grace, uses, monthly 4.99 2026-05-02
            2026-05-04 | wait        | 2026-05-02: failedAgain                        |
                       |             | 2026-05-03: failedAgain                        |
                       |             | graceEnded                                     | retry, no use, monthly 4.99 2026-05-05
            """),
        Life(
            "a grace period of 28 days",
            """
            2026-04-01 | grace 28    | -                                              | -
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | bill fails  | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-05-01 | wait        | 2026-04-30: failedAhead                        |
                       |             | failed grace 2026-05-29                        | grace, uses, monthly 4.99 2026-05-02
            """),
        Life(
            "a weekly subscription has at most 6 days of grace",
            """
            2026-04-01 | grace 28   | -                                             | -
            2026-04-01 | buy weekly | subscribed weekly 1.49 2026-04-01..2026-04-08 | active, uses, weekly 1.49 2026-04-07
            2026-04-02 | bill fails | -                                             | active, uses, weekly 1.49 2026-04-07
            2026-04-08 | wait       | 2026-04-07: failedAhead                       |
                       |            | failed grace 2026-04-14                       | grace, uses, weekly 1.49 2026-04-09
            2026-04-14 | wait       | 2026-04-09: failedAgain                       |
                       |            | 2026-04-10: failedAgain                       |
                       |            | 2026-04-12: failedAgain                       |
                       |            | graceEnded                                    | retry, no use, weekly 1.49 2026-04-15
            """),
        Life(
            "cancelling while unpaid ends it at once",
            """
            2026-04-01 | grace 16    | -                                              | -
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | bill fails  | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-05-03 | off         | 2026-04-30: failedAhead                        |
                       |             | 2026-05-01: failed grace 2026-05-17            |
                       |             | 2026-05-02: failedAgain                        |
                       |             | failedAgain                                    |
                       |             | off                                            |
                       |             | expired cancelled                              | expired, no use, no charge
            """),
        Life(
            "cancelling in retry ends it at once",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | bill fails  | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-05-03 | off         | 2026-04-30: failedAhead                        |
                       |             | 2026-05-01: failed                             |
                       |             | 2026-05-02: failedAgain                        |
                       |             | failedAgain                                    |
                       |             | off                                            |
                       |             | expired cancelled                              | expired, no use, no charge
            """),
        Life(
            "paying by hand in retry",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | bill fails  | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-05-03 | retry       | 2026-04-30: failedAhead                        |
                       |             | 2026-05-01: failed                             |
                       |             | 2026-05-02: failedAgain                        |
                       |             | failedAgain                                    |
                       |             | failedAgain                                    | retry, no use, monthly 4.99 2026-05-05
            2026-05-03 | bill works  | -                                              | retry, no use, monthly 4.99 2026-05-05
            2026-05-03 | retry       | recovered monthly 4.99 2026-05-03..2026-06-03  | active, uses, monthly 4.99 2026-06-02
            """),
        Life(
            "buying the product in retry pays it",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | bill fails  | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-05-03 | buy monthly | 2026-04-30: failedAhead                        |
                       |             | 2026-05-01: failed                             |
                       |             | 2026-05-02: failedAgain                        |
                       |             | failedAgain                                    |
                       |             | recovered monthly 4.99 2026-05-03..2026-06-03  | active, uses, monthly 4.99 2026-06-02
            """),
        Life(
            "buying another product in retry subscribes to it",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | bill fails  | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-05-03 | buy basic   | 2026-04-30: failedAhead                        |
                       |             | 2026-05-01: failed                             |
                       |             | 2026-05-02: failedAgain                        |
                       |             | failedAgain                                    |
                       |             | resubscribed basic 1.99 2026-05-03..2026-06-03 | active, uses, basic 1.99 2026-06-02
            """),
        Life(
            "an increase with consent",
            """
            2026-04-01 | buy monthly                       | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | price monthly 5.99                | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-04-03 | raise 5.99 from 2026-05-15 asking | asked 5.99                                     | active, uses, monthly 4.99 2026-04-30
            2026-04-03 | raise 5.99 from 2026-05-15 asking | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-04-30 | wait                              | renewed monthly 4.99 2026-05-01..2026-06-01    | active, uses, no charge
            2026-05-02 | agree                             | agreed                                         | active, uses, monthly 5.99 2026-05-31
            2026-05-03 | agree                             | -                                              | active, uses, monthly 5.99 2026-05-31
            2026-05-31 | wait                              | renewed monthly 5.99 2026-06-01..2026-07-01    | active, uses, monthly 5.99 2026-06-30
            2026-06-30 | wait                              | renewed monthly 5.99 2026-07-01..2026-08-01    | active, uses, monthly 5.99 2026-07-31
            """),
        Life(
            "an increase that is refused",
            """
            2026-04-01 | buy monthly                       | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | price monthly 5.99                | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-04-03 | raise 5.99 from 2026-04-15 asking | asked 5.99                                     | active, uses, no charge
            2026-04-04 | disagree                          | stopped priceIncrease                          | active, uses, no charge
            2026-05-01 | wait                              | expired priceIncrease                          | expired, no use, no charge
            """),
        Life(
            "an increase that is never answered",
            """
            2026-04-01 | buy monthly                       | subscribed monthly 4.99 2026-04-01..2026-05-01          | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | price monthly 5.99                | -                                                       | active, uses, monthly 4.99 2026-04-30
            2026-04-03 | raise 5.99 from 2026-05-15 asking | asked 5.99                                              | active, uses, monthly 4.99 2026-04-30
            2026-05-31 | wait                              | 2026-04-30: renewed monthly 4.99 2026-05-01..2026-06-01 | active, uses, no charge
            2026-06-01 | wait                              | expired priceIncrease                                   | expired, no use, no charge
            """),
        Life(
            "an increase that needs no consent",
            """
            2026-04-01 | buy monthly                        | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | price monthly 5.99                 | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-04-03 | raise 5.99 from 2026-04-15 telling | announced 5.99                                 | active, uses, monthly 5.99 2026-04-30
            2026-04-30 | wait                               | renewed monthly 5.99 2026-05-01..2026-06-01    | active, uses, monthly 5.99 2026-05-31
            2026-05-01 | agree                              | refused noIncrease                             | active, uses, monthly 5.99 2026-05-31
            """),
        Life(
            "a price is kept for who already subscribes",
            """
            2026-04-01 | buy monthly        | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | price monthly 5.99 | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-04-30 | wait               | renewed monthly 4.99 2026-05-01..2026-06-01    | active, uses, monthly 4.99 2026-05-31
            """),
        Life(
            "a lower price applies at once",
            """
            2026-04-01 | buy monthly        | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | price monthly 3.99 | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-04-30 | wait               | renewed monthly 3.99 2026-05-01..2026-06-01    | active, uses, monthly 3.99 2026-05-31
            2026-05-02 | price monthly 4.99 | -                                              | active, uses, monthly 3.99 2026-05-31
            2026-05-31 | wait               | renewed monthly 3.99 2026-06-01..2026-07-01    | active, uses, monthly 3.99 2026-06-30
            """),
        Life(
            "a price that is not higher is no increase",
            """
            2026-04-01 | buy monthly                       | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | raise 4.99 from 2026-05-15 asking | refused notHigher                              | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | agree                             | refused noIncrease                             | active, uses, monthly 4.99 2026-04-30
            """),
        Life(
            "a product is withdrawn",
            """
            2026-04-01 | buy monthly      | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | withdraw monthly | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-04-30 | wait             | stopped unavailable                            | active, uses, no charge
            2026-05-01 | wait             | expired unavailable                            | expired, no use, no charge
            """),
        Life(
            "a refund ends it, and is reversed",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | refund      | refunded                                       | revoked, no use, no charge
            2026-04-02 | refund      | -                                              | revoked, no use, no charge
            2026-04-03 | off         | refused ended                                  | revoked, no use, no charge
            2026-04-04 | reverse     | reversed                                       | active, uses, no charge
            2026-04-05 | on          | on                                             | active, uses, monthly 4.99 2026-04-30
            2026-04-30 | wait        | renewed monthly 4.99 2026-05-01..2026-06-01    | active, uses, monthly 4.99 2026-05-31
            """),
        Life(
            "a refund is reversed after the end",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | refund      | refunded                                       | revoked, no use, no charge
            2026-06-01 | reverse     | reversed                                       | expired, no use, no charge
            2026-06-02 | reverse     | refused notRefunded                            | expired, no use, no charge
            """),
        Life(
            "after a refund it is bought again",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01   | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | refund      | refunded                                         | revoked, no use, no charge
            2026-04-03 | buy monthly | resubscribed monthly 4.99 2026-04-03..2026-05-03 | active, uses, monthly 4.99 2026-05-02
            """),
        Life(
            "a renewal is extended",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | extend 90   | extended 2026-07-30                            | active, uses, monthly 4.99 2026-07-29
            2026-04-03 | extend 91   | refused daysOutOfRange                         | active, uses, monthly 4.99 2026-07-29
            2026-05-01 | wait        | -                                              | active, uses, monthly 4.99 2026-07-29
            2026-07-29 | wait        | renewed monthly 4.99 2026-07-30..2026-08-30    | active, uses, monthly 4.99 2026-08-29
            """),
        Life(
            "what costs nothing cannot fail",
            """
            2026-04-01 | buy gift   | subscribed gift 0.00 2026-04-01..2026-05-01 | active, uses, gift 0.00 2026-04-30
            2026-04-02 | bill fails | -                                           | active, uses, gift 0.00 2026-04-30
            2026-04-30 | wait       | renewed gift 0.00 2026-05-01..2026-06-01    | active, uses, gift 0.00 2026-05-31
            """),
        Life(
            "an increase without consent is never charged",
            """
            2026-04-01 | buy monthly                       | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | price monthly 9.99                | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-04-03 | bill fails                        | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-05-06 | raise 8.99 from 2026-05-06 asking | 2026-04-30: failedAhead                        |
                       |                                   | 2026-05-01: failed                             |
                       |                                   | 2026-05-02: failedAgain                        |
                       |                                   | 2026-05-03: failedAgain                        |
                       |                                   | 2026-05-05: failedAgain                        |
                       |                                   | asked 8.99                                     | retry, no use, monthly 4.99 2026-05-08
            2026-05-07 | bill works                        | -                                              | retry, no use, monthly 4.99 2026-05-08
            2026-05-07 | retry                             | recovered monthly 4.99 2026-05-07..2026-06-07  | active, uses, no charge
            2026-06-06 | wait                              | -                                              | active, uses, no charge
            2026-06-07 | wait                              | expired priceIncrease                          | expired, no use, no charge
            """),
        Life(
            "a change that is dropped leaves price and offer as they were",
            """
            2026-04-01 | buy slow         | subscribed slow 0.99 2026-04-01..2026-05-01 | active, uses, slow 0.99 2026-04-30
            2026-04-02 | price slow 19.99 | -                                           | active, uses, slow 0.99 2026-04-30
            2026-04-03 | buy basic        | next basic 1.99                             | active, uses, basic 1.99 2026-04-30
            2026-04-05 | buy slow         | keeps slow 4.99                             | active, uses, slow 0.99 2026-04-30
            2026-04-30 | wait             | renewed slow 0.99 2026-05-01..2026-06-01    | active, uses, slow 4.99 2026-05-31
            2026-05-31 | wait             | renewed slow 4.99 2026-06-01..2026-07-01    | active, uses, slow 4.99 2026-06-30
            """),
        Life(
            "a change that is dropped leaves an increase as it was",
            """
            2026-04-01 | buy monthly                       | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | price monthly 9.99                | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-04-03 | raise 8.99 from 2026-04-20 asking | asked 8.99                                     | active, uses, no charge
            2026-04-04 | buy basic                         | next basic 1.99                                | active, uses, basic 1.99 2026-04-30
            2026-04-05 | buy monthly                       | keeps monthly 4.99                             | active, uses, no charge
            2026-05-01 | wait                              | expired priceIncrease                          | expired, no use, no charge
            """),
        Life(
            "an agreed increase applies, whatever the product costs",
            """
            2026-04-01 | buy monthly                        | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | raise 8.99 from 2026-04-20 telling | announced 8.99                                 | active, uses, monthly 8.99 2026-04-30
            2026-04-03 | raise 9.99 from 2026-06-20 telling | refused increasePending                        | active, uses, monthly 8.99 2026-04-30
            2026-04-30 | wait                               | renewed monthly 8.99 2026-05-01..2026-06-01    | active, uses, monthly 8.99 2026-05-31
            2026-05-02 | raise 9.99 from 2026-05-20 telling | announced 9.99                                 | active, uses, monthly 9.99 2026-05-31
            """),
        Life(
            "an increase stays the customer's, until the product is cheaper than it was then",
            """
            2026-04-01 | buy monthly                        | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | raise 8.99 from 2026-04-20 telling | announced 8.99                                 | active, uses, monthly 8.99 2026-04-30
            2026-04-30 | wait                               | renewed monthly 8.99 2026-05-01..2026-06-01    | active, uses, monthly 8.99 2026-05-31
            2026-05-31 | wait                               | renewed monthly 8.99 2026-06-01..2026-07-01    | active, uses, monthly 8.99 2026-06-30
            2026-06-02 | price monthly 5.99                 | -                                              | active, uses, monthly 8.99 2026-06-30
            2026-06-30 | wait                               | renewed monthly 8.99 2026-07-01..2026-08-01    | active, uses, monthly 8.99 2026-07-31
            2026-07-02 | price monthly 3.99                 | -                                              | active, uses, monthly 8.99 2026-07-31
            2026-07-31 | wait                               | renewed monthly 3.99 2026-08-01..2026-09-01    | active, uses, monthly 3.99 2026-08-31
            2026-08-02 | price monthly 5.99                 | -                                              | active, uses, monthly 3.99 2026-08-31
            2026-08-31 | wait                               | renewed monthly 3.99 2026-09-01..2026-10-01    | active, uses, monthly 3.99 2026-09-30
            """),
        Life(
            "an increase does not concern the product that the customer chose instead",
            """
            2026-04-01 | buy monthly                        | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | raise 8.99 from 2026-04-20 telling | announced 8.99                                 | active, uses, monthly 8.99 2026-04-30
            2026-04-03 | buy basic                          | next basic 1.99                                | active, uses, basic 1.99 2026-04-30
            2026-04-30 | wait                               | renewed basic 1.99 2026-05-01..2026-06-01      | active, uses, basic 1.99 2026-05-31
            """),
        Life(
            "a price is higher than the product's own, whatever was chosen for later",
            """
            2026-04-01 | buy premium                          | subscribed premium 9.99 2026-04-01..2026-05-01 | active, uses, premium 9.99 2026-04-30
            2026-04-02 | buy basic                            | next basic 1.99                                | active, uses, basic 1.99 2026-04-30
            2026-04-03 | raise 4.99 from 2026-04-20 telling   | refused notHigher                              | active, uses, basic 1.99 2026-04-30
            2026-04-04 | raise 10.99 from 2026-04-20 telling  | announced 10.99                                | active, uses, basic 1.99 2026-04-30
            2026-04-05 | buy premium                          | keeps premium 9.99                             | active, uses, premium 10.99 2026-04-30
            """),
        Life(
            "an increase begins while a renewal is unpaid",
            """
            2026-04-01 | buy monthly                        | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | raise 8.99 from 2026-05-03 telling | announced 8.99                                 | active, uses, monthly 4.99 2026-04-30
            2026-04-03 | bill fails                         | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-05-01 | wait                               | 2026-04-30: failedAhead                        |
                       |                                    | failed                                         | retry, no use, monthly 4.99 2026-05-02
            2026-05-02 | bill works                         | failedAgain                                    | retry, no use, monthly 8.99 2026-05-03
            2026-05-03 | wait                               | recovered monthly 8.99 2026-05-03..2026-06-03  | active, uses, monthly 8.99 2026-06-02
            """),
        Life(
            "a test renews once ahead, and only what renews",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | renew       | renewed monthly 4.99 2026-05-01..2026-06-01    | active, uses, monthly 4.99 2026-05-31
            2026-04-03 | renew       | refused renewedAlready                         | active, uses, monthly 4.99 2026-05-31
            2026-05-02 | off         | off                                            | active, uses, no charge
            2026-05-03 | renew       | refused notRenewing                            | active, uses, no charge
            2026-05-04 | expire      | expired other                                  | expired, no use, no charge
            2026-05-05 | renew       | refused ended                                  | expired, no use, no charge
            """),
        Life(
            "what is unpaid is not extended",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | bill fails  | -                                              | active, uses, monthly 4.99 2026-04-30
            2026-05-03 | extend 9    | refused unpaid                                 | retry, no use, monthly 4.99 2026-05-05
            """),
        Life(
            "a test expires it",
            """
            2026-04-01 | buy monthly | subscribed monthly 4.99 2026-04-01..2026-05-01 | active, uses, monthly 4.99 2026-04-30
            2026-04-02 | expire      | expired other                                  | expired, no use, no charge
            2026-04-02 | expire      | refused ended                                  | expired, no use, no charge
            2026-04-03 | extend 1    | refused ended                                  | expired, no use, no charge
            """),
    ]
}
