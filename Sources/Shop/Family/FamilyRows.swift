// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// A person's row at the home.
struct FamilyPersonRow: Sendable {
    var person: FamilyPerson
    /// How often it was changed. 0 for a person without a row.
    var revision: Int64 = 0

    var row: [SQLValue] {
        RealmSchema.familyPeople.row([
            "customer_id": .integer(person.customer.value),
            "organiser_id": .optional(person.organiser?.value),
            "joined_at": .optional(person.joinedAt),
            "shares_since": .optional(person.sharesSince), "revision": .integer(revision),
        ])
    }

    init(_ person: FamilyPerson) { self.person = person }

    init(row: Row) throws {
        func date(_ column: String) throws -> Timestamp? {
            try row.optionalInteger(column).map(Timestamp.init(milliseconds:))
        }
        person = FamilyPerson(
            customer: CustomerID(try row.integer("customer_id")),
            organiser: try row.optionalInteger("organiser_id").map(CustomerID.init),
            joinedAt: try date("joined_at"), sharesSince: try date("shares_since"))
        revision = try row.integer("revision")
    }

    /// A person without a row is in no family.
    static func find(_ customer: CustomerID, _ reading: any Reading) throws -> FamilyPersonRow {
        try reading.first(Statement.Families.person, [.integer(customer.value)])
            .map(FamilyPersonRow.init(row:)) ?? FamilyPersonRow(FamilyPerson(customer: customer))
    }

    /// The people of a family, by number.
    static func all(
        of organiser: CustomerID, _ reading: any Reading
    ) throws -> [FamilyPersonRow] {
        try reading.query(Statement.Families.people, [.integer(organiser.value)])
            .map(FamilyPersonRow.init(row:))
    }
}

/// What a member got for another person's sale, as its row contains it.
struct FamilyShareRow: Sendable {
    let customer: CustomerID
    let purchaser: CustomerID
    /// The member's own transaction.
    let transaction: TransactionID
    let grantedAt: Timestamp
    var share: FamilyShare
    var endedAt: Timestamp?
    /// The purchaser's subscription when this was last written.
    var subscription: Subscription?
    var revision: Int64

    var row: [SQLValue] {
        RealmSchema.familyShares.row([
            "customer_id": .integer(customer.value), "sale_id": .integer(share.saleID.value),
            "turn": .integer(share.turn), "transaction_id": .integer(transaction.value),
            "purchaser_id": .integer(purchaser.value),
            "original_sale_id": .integer(share.originalID.value),
            "granted_at": .integer(grantedAt.milliseconds), "ends_at": .optional(share.endsAt),
            "ending": .optional(share.ending?.rawValue), "ended_at": .optional(endedAt),
            "state": .optional(subscription.map { StoredJSON.text($0) }),
            "revision": .integer(revision),
        ])
    }
}

extension FamilyShareRow {
    init(row: Row) throws {
        func date(_ column: String) throws -> Timestamp? {
            try row.optionalInteger(column).map(Timestamp.init(milliseconds:))
        }
        self.init(
            customer: CustomerID(try row.integer("customer_id")),
            purchaser: CustomerID(try row.integer("purchaser_id")),
            transaction: TransactionID(try row.integer("transaction_id")),
            grantedAt: Timestamp(milliseconds: try row.integer("granted_at")),
            share: FamilyShare(
                saleID: TransactionID(try row.integer("sale_id")),
                originalID: TransactionID(try row.integer("original_sale_id")),
                endsAt: try date("ends_at"),
                ending: try row.optionalText("ending").flatMap(FamilyShare.Ending.init),
                turn: try row.integer("turn")),
            endedAt: try date("ended_at"),
            subscription: try row.optionalText("state").map {
                try StoredJSON.value($0, "a shared subscription that cannot be read")
            },
            revision: try row.integer("revision"))
    }

    /// What a member has and had from one purchaser, in the order in which it was
    /// given.
    static func all(
        of member: CustomerID, from purchaser: CustomerID, _ reading: any Reading
    ) throws -> [FamilyShareRow] {
        try reading.query(
            Statement.Families.shares, [.integer(member.value), .integer(purchaser.value)]
        ).map(FamilyShareRow.init(row:))
    }

    /// The share that gave a member's transaction. Nil if the member bought it.
    static func find(
        _ transaction: TransactionID, of member: CustomerID, _ reading: any Reading
    ) throws -> FamilyShareRow? {
        try reading.first(
            Statement.Families.share, [.integer(member.value), .integer(transaction.value)]
        ).map(FamilyShareRow.init(row:))
    }
}

extension FamilyShareRow {
    /// The member's subscription for signed renewals, whose transaction is `facts`.
    /// Nil for other products. It has no price, because the member pays nothing.
    func subscriptionRow(of facts: TransactionFacts) -> SubscriptionRow? {
        guard let subscription, let end = facts.period?.expiresAt else { return nil }
        let period = SharedPeriod(
            transaction: transaction, productID: facts.productID, start: facts.purchasedAt,
            end: end)
        return SubscriptionRow(
            customer: customer, bundleID: facts.bundleID,
            subscription: subscription.shared(
                as: facts.originalID, period, of: share, endedAt: endedAt),
            beganAt: facts.originalPurchasedAt, appAccountToken: nil,
            appTransactionID: facts.appTransactionID, failsBilling: false, events: 1,
            revision: revision, isShared: true)
    }
}

extension Statement {
    enum Families {
        private static let people_ = RealmSchema.familyPeople.list("p")
        private static let shares_ = RealmSchema.familyShares.list("s")

        static let put = Statement.put("families.put", into: RealmSchema.familyPeople)

        static let person = Statement(
            "families.person", [.integer],
            "SELECT \(people_) FROM family_people p WHERE p.customer_id = $1")

        static let people = Statement(
            "families.people", [.integer],
            """
            SELECT \(people_) FROM family_people p
            WHERE p.organiser_id = $1 ORDER BY p.customer_id
            """)

        static let organisers = Statement(
            "families.organisers", [],
            """
            SELECT DISTINCT organiser_id FROM family_people WHERE organiser_id IS NOT NULL
            ORDER BY organiser_id
            """)

        /// A page of everyone in a family.
        static let everyone = Statement(
            "families.everyone", [.integer, .integer],
            """
            SELECT \(people_) FROM family_people p
            WHERE p.customer_id > $1 AND p.organiser_id IS NOT NULL
            ORDER BY p.customer_id LIMIT $2
            """)

        /// The purchasers from whom a member has or had anything.
        static let purchasers = Statement(
            "families.purchasers", [.integer],
            """
            SELECT l.purchaser_id FROM family_links l
            WHERE l.customer_id = $1 ORDER BY l.purchaser_id
            """)

        static let link = Statement(
            "families.link", [.integer, .integer],
            """
            SELECT l.purchaser_revision, l.family_revision FROM family_links l
            WHERE l.customer_id = $1 AND l.purchaser_id = $2
            """)

        /// Returns a row unless a later state was written before.
        static let advance = Statement.insert(
            "families.advance", into: RealmSchema.familyLinks,
            """
            ON CONFLICT (customer_id, purchaser_id) DO UPDATE SET
                purchaser_revision = excluded.purchaser_revision,
                family_revision = excluded.family_revision
            WHERE family_links.purchaser_revision <= excluded.purchaser_revision
                AND family_links.family_revision <= excluded.family_revision
            RETURNING purchaser_revision
            """)

        static let shares = Statement(
            "families.shares", [.integer, .integer],
            """
            SELECT \(shares_) FROM family_shares s
            WHERE s.customer_id = $1 AND s.purchaser_id = $2
            ORDER BY s.granted_at, s.sale_id, s.turn
            """)

        static let share = Statement(
            "families.share", [.integer, .integer],
            """
            SELECT \(shares_) FROM family_shares s
            WHERE s.customer_id = $1 AND s.transaction_id = $2
            """)

        /// The periods of subscriptions that a member got in an app. `CROSS JOIN` makes
        /// SQLite begin with the shares, because most customers have none and many
        /// transactions.
        static let periods = Statement(
            "families.periods", [.integer, .text],
            """
            SELECT s.transaction_id, s.sale_id, s.turn, s.original_sale_id, s.revision,
                s.ending, s.ended_at, t.purchased_at
            FROM family_shares s CROSS JOIN transactions t
            WHERE s.customer_id = $1 AND t.customer_id = s.customer_id
                AND t.transaction_id = s.transaction_id AND t.bundle_id = $2
                AND t.product_type = '\(ProductType.autoRenewable.rawValue)'
            """)

        static let putShare = Statement.put(
            "families.putShare", into: RealmSchema.familyShares)

        /// The revision, and what a customer bought that could be shared.
        static let sales = Statement(
            "families.sales", [.integer],
            """
            SELECT \(RealmSchema.transactions.list("t", without: ["record"]))
            FROM transactions t
            WHERE t.customer_id = $1 AND t.ownership = 'purchased'
                AND t.product_type IN ('non-consumable', 'auto-renewable')
            ORDER BY t.transaction_id
            """)

        static let revision = Statement(
            "families.revision", [.integer],
            "SELECT revision, family_revision FROM customers WHERE customer_id = $1")

        static let subscriptions = Statement(
            "families.subscriptions", [.integer],
            """
            SELECT \(RealmSchema.subscriptions.list("s")) FROM subscriptions s
            WHERE s.customer_id = $1 ORDER BY s.subscription_id
            """)

        /// The events of a customer's subscriptions between two revisions.
        static let news = Statement(
            "families.news", [.integer, .integer, .integer],
            """
            SELECT e.subscription_id, e.revision, e.body FROM subscription_events e
            WHERE e.customer_id = $1 AND e.revision > $2 AND e.revision <= $3
            ORDER BY e.subscription_id, e.event
            """)

        static let accounts = Statement(
            "families.accounts", [.integer],
            """
            SELECT a.bundle_id, a.app_transaction_id FROM app_accounts a
            WHERE a.customer_id = $1
            """)

        static let generation = Statement(
            "families.generation", [], "SELECT generation FROM realm")

        static let owned = Statement(
            "families.owned", [.integer],
            """
            SELECT t.bundle_id, t.product_id FROM transactions t
            WHERE t.customer_id = $1 AND t.product_type = 'non-consumable'
                AND t.ownership = 'purchased' AND t.revoked_at IS NULL
            """)

        static let begin = Statement(
            "families.begin", [.integer, .integer],
            """
            UPDATE customers SET family_revision = $2
            WHERE customer_id = $1 AND family_revision IS NULL
            """)

        static let addEvent = Statement.insert(
            "families.addEvent", into: RealmSchema.familyEvents)

        static let change = Statement(
            "families.change", [.integer, .integer],
            """
            SELECT e.event FROM family_events e WHERE e.customer_id = $1 AND e.change = $2
            """)

        /// The changes of places whose errands are not done.
        static let pending = Statement(
            "families.pending", [],
            """
            SELECT e.subject FROM errands e
            WHERE e.customer_id = 0 AND e.kind = '\(WorkKind.familyChange)'
            """)

        static let all = [
            pending, put, person, people, everyone, organisers, purchasers, link, advance, shares,
            share, periods, putShare, sales, revision, subscriptions, news, accounts, owned,
            generation, begin, addEvent, change,
        ]
    }
}
