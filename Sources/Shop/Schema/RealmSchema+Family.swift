// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

/// Families, and what their members get from each other.
extension RealmSchema {
    /// At the home: each person who is or was in a family, once, so that nobody is in
    /// two. `organiser_id` names the family. `shares_since` is null for a person who
    /// does not share. `revision` counts the changes of the row.
    static let familyPeople = Table(
        "family_people", key: ["customer_id"],
        [
            "customer_id": .customer, "organiser_id": .customer.optional,
            "joined_at": .time.optional, "shares_since": .time.optional, "revision": .count,
        ],
        indexes: [
            .init("family_people_by_organiser", on: ["organiser_id", "customer_id"])
        ],
        references: [ofCustomer, .init(["organiser_id"], to: "family_people", ["customer_id"])])

    /// What a member got for the sale of another person: a transaction of the member's
    /// own. `turn` counts how often the member got the sale, from 1. `state` is the
    /// purchaser's subscription as JSON, and follows it until the share ends.
    static let familyShares = Table(
        "family_shares", key: ["customer_id", "sale_id", "turn"], as: .tree,
        [
            "customer_id": .customer, "sale_id": .number(.transaction),
            "turn": .integer(1...1 << 30), "transaction_id": .number(.transaction),
            "purchaser_id": .customer, "original_sale_id": .number(.transaction),
            "granted_at": .time, "ends_at": .time.optional,
            "ending": .word(FamilyShare.Ending.allCases.map(\.rawValue)).optional,
            "ended_at": .time.optional, "state": .json.optional, "revision": .count,
        ],
        indexes: [
            .unique("family_shares_by_transaction", on: ["customer_id", "transaction_id"]),
            .unique(
                "family_shares_open", on: ["customer_id", "sale_id"], where: "ending IS NULL"),
        ],
        references: [
            ofCustomer, .init(["purchaser_id"], to: "customers", ["customer_id"]),
            .init(["customer_id", "transaction_id"], to: "transactions"),
        ])

    /// Up to which state of a purchaser, and of both people's places, a member's shares
    /// are up to date. A process with an older state writes nothing.
    static let familyLinks = Table(
        "family_links", key: ["customer_id", "purchaser_id"], as: .tree,
        [
            "customer_id": .customer, "purchaser_id": .customer,
            "purchaser_revision": .count, "family_revision": .count,
        ],
        references: [ofCustomer, .init(["purchaser_id"], to: "customers", ["customer_id"])])

    /// What happened to a customer in families, in the order of commits. `body` is the
    /// event as JSON. `change` is the number of a change of the customer's place.
    static let familyEvents = Table(
        "family_events", key: ["customer_id", "revision", "event"], as: .tree,
        [
            "customer_id": .customer, "revision": .count, "event": .integer(1...1 << 30),
            "happened_at": .time,
            "cause": .word(SubscriptionEvent.Cause.allCases.map(\.rawValue)), "body": .json,
            "change": .count.optional,
        ],
        indexes: [
            .unique(
                "family_events_by_change", on: ["customer_id", "change"],
                where: "change IS NOT NULL")
        ],
        references: [ofCustomer])
}
