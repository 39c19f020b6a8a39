// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

extension Statement {
    /// The statements of a restore. The prefixes `registry` and `realm` name
    /// the database.
    enum Restores {
        static let unfinished = Statement(
            "restores.unfinished", [],
            "SELECT begun_at FROM restores WHERE finished_at IS NULL")

        static let begin = Statement(
            "restores.begin", [.integer, .integer],
            "INSERT INTO restores (singleton, made_at, begun_at) VALUES (1, $1, $2)")

        static let finish = Statement(
            "restores.finish", [.integer], "UPDATE restores SET finished_at = $1")

        static let allRealms = Statement("restores.allRealms", [], "SELECT id FROM realms")

        static let forgetSeeds = Statement(
            "restores.forgetSeeds", [], "UPDATE realms SET seed = NULL")

        static let setNumbers = Statement.put(
            "restores.setNumbers", into: RegistrySchema.numberBlocks)

        static let newGeneration = Statement(
            "restores.newGeneration", [.integer],
            "UPDATE realm SET seed = NULL, generation = $1")

        static let freeErrands = Statement(
            "restores.freeErrands", [], "UPDATE errands SET lease_until = NULL")

        static let generation = Statement(
            "restores.generation", [], "SELECT generation FROM realm")

        static let errands = Statement(
            "restores.errands", [],
            "SELECT count(*) AS errands, min(due_at) AS oldest FROM errands")

        static let aheadTransaction = Statement(
            "restores.aheadTransaction", [],
            """
            SELECT 1 AS wrong FROM transactions t JOIN customers c ON c.customer_id = t.customer_id
            WHERE t.revision > c.revision LIMIT 1
            """)

        static let aheadPurchase = Statement(
            "restores.aheadPurchase", [],
            """
            SELECT 1 AS wrong FROM purchases p JOIN customers c ON c.customer_id = p.customer_id
            WHERE p.revision > c.revision LIMIT 1
            """)

        /// A revision of a deletion that is still to come would give a later
        /// deletion the charge keys of this one.
        static let lateHistory = Statement(
            "restores.lateHistory", [],
            """
            SELECT 1 AS wrong FROM customers
            WHERE history_revision > revision OR cleared_revision > revision
                OR cleared_revision > coalesce(history_revision, -1) LIMIT 1
            """)

        /// A deletion leaves only declined purchases. An open charge must have
        /// its key.
        static let otherHistory = Statement(
            "restores.otherHistory", [],
            """
            SELECT 1 AS wrong FROM purchases p JOIN customers c ON c.customer_id = p.customer_id
            WHERE p.history_revision > coalesce(c.history_revision, -1)
                OR p.history_revision >= p.revision
                OR p.state <> 'refused' AND coalesce(p.history_revision, -1)
                    <> coalesce(c.history_revision, -1) LIMIT 1
            """)

        static let otherProduct = Statement(
            "restores.otherProduct", [],
            """
            SELECT 1 AS wrong FROM purchases p JOIN transactions t
                ON t.customer_id = p.customer_id AND t.transaction_id = p.transaction_id
            WHERE t.bundle_id <> p.bundle_id
                OR (t.product_id <> p.product_id AND t.product_type <> 'auto-renewable') LIMIT 1
            """)

        static let soldWithout = Statement(
            "restores.soldWithout", [],
            """
            SELECT 1 AS wrong FROM purchases
            WHERE (state = 'sold') <> (transaction_id IS NOT NULL)
                OR (state = 'refused') <> (refusal IS NOT NULL) LIMIT 1
            """)

        /// A product that is owned is sold again as the same transaction, which
        /// keeps the facts of its own purchase.
        static let otherSale = Statement(
            "restores.otherSale", [],
            """
            SELECT 1 AS wrong FROM transactions t JOIN purchases p
                ON p.customer_id = t.customer_id AND p.bundle_id = t.bundle_id
                    AND p.purchase_id = t.purchase_id
            WHERE p.state <> 'sold' OR p.transaction_id <> t.transaction_id
                OR p.quantity <> t.quantity
                OR (p.unit_price <> t.unit_price AND t.product_type <> 'auto-renewable')
                OR p.currency <> t.currency OR p.total_price <> t.total_price
                OR t.total_price <> t.unit_price * t.quantity LIMIT 1
            """)

        /// Nobody could sign in as such a customer.
        static let nameless = Statement(
            "restores.nameless", [],
            """
            SELECT 1 AS wrong FROM customers c WHERE NOT EXISTS (
                SELECT 1 FROM sign_in_names n WHERE n.customer_id = c.customer_id) LIMIT 1
            """)

        static let names = Statement(
            "restores.names", [.text, .integer],
            """
            SELECT n.name AS sign_in_name, c.name
            FROM sign_in_names n JOIN customers c ON c.customer_id = n.customer_id
            WHERE n.name > $1 ORDER BY n.name LIMIT $2
            """)

        static let strayErrand = Statement(
            "restores.strayErrand", [],
            stray(
                "errands",
                "kind NOT IN ('"
                    + ([WorkKind.notification] + WorkKind.refunds + WorkKind.renewals
                    + WorkKind.families)
                    .joined(separator: "', '") + "')"))

        /// Finds a call to the processor that concerns no refund through it.
        static let strayRefund = Statement(
            "restores.strayRefund", [],
            """
            SELECT 1 AS wrong FROM errands t
            WHERE t.kind IN ('\(WorkKind.refunds.joined(separator: "', '"))') AND NOT EXISTS (
                SELECT 1 FROM refunds r WHERE r.customer_id = t.customer_id
                    AND r.charge IS NOT NULL
                    AND t.subject = CAST(r.transaction_id AS TEXT) || '.' || CAST(r.refund AS TEXT))
            LIMIT 1
            """)

        /// A refund that was granted revokes its transaction, and nothing else does but
        /// a family that does not share it any more.
        static let otherFate = Statement(
            "restores.otherFate", [],
            """
            SELECT 1 AS wrong FROM transactions t
            WHERE t.ownership = 'purchased' AND (t.revoked_at IS NOT NULL) <> EXISTS (
                SELECT 1 FROM refunds r WHERE r.customer_id = t.customer_id
                    AND r.transaction_id = t.transaction_id AND r.state = 'granted'
                    AND r.kind <> '\(RefundGrant.Kind.upgrade.rawValue)') LIMIT 1
            """)

        private static let revoking = FamilyShare.Ending.allCases.filter(\.isRevoking)
            .map { "'\($0.rawValue)'" }.joined(separator: ", ")

        /// A transaction is shared by one share, and revoked if that was withdrawn.
        static let otherShare = Statement(
            "restores.otherShare", [],
            """
            SELECT 1 AS wrong FROM transactions t
            LEFT JOIN family_shares s
                ON s.customer_id = t.customer_id AND s.transaction_id = t.transaction_id
            WHERE (t.ownership = 'familyShared') <> (s.turn IS NOT NULL)
                OR (s.turn IS NOT NULL AND (t.revoked_at IS NOT NULL)
                    <> (s.ending IS NOT NULL AND s.ending IN (\(revoking))))
            LIMIT 1
            """)

        /// Nothing would be written for such a member any more.
        static let aheadLink = Statement(
            "restores.aheadLink", [],
            """
            SELECT 1 AS wrong FROM family_links l JOIN customers c
                ON c.customer_id = l.purchaser_id
            WHERE l.purchaser_revision > c.revision LIMIT 1
            """)

        static let aheadFamily = Statement(
            "restores.aheadFamily", [],
            """
            SELECT 1 AS wrong FROM customers WHERE family_revision > revision LIMIT 1
            """)

        static let otherEvents = Statement(
            "restores.otherEvents", [],
            """
            SELECT 1 AS wrong FROM refunds r WHERE r.events <> (
                SELECT count(*) FROM refund_events e WHERE e.customer_id = r.customer_id
                    AND e.transaction_id = r.transaction_id AND e.refund = r.refund) LIMIT 1
            """)

        static let aheadRefund = Statement(
            "restores.aheadRefund", [],
            """
            SELECT 1 AS wrong FROM refunds r JOIN customers c ON c.customer_id = r.customer_id
            WHERE r.revision > c.revision LIMIT 1
            """)

        private static let chargeSubject =
            "CAST(c.subscription_id AS TEXT) || '/' || CAST(c.period_end AS TEXT)"
            + " || '/' || CAST(c.attempt AS TEXT)"

        static let strayRenewal = Statement(
            "restores.strayRenewal", [],
            """
            SELECT 1 AS wrong FROM errands t
            WHERE t.kind IN ('\(WorkKind.renewals.joined(separator: "', '"))') AND NOT EXISTS (
                SELECT 1 FROM renewal_charges c WHERE c.customer_id = t.customer_id
                    AND t.subject = \(chargeSubject))
            LIMIT 1
            """)

        /// A charge that no errand settles would hold up its subscription for ever.
        static let chargeWithout = Statement(
            "restores.chargeWithout", [],
            """
            SELECT 1 AS wrong FROM renewal_charges c WHERE c.state = 'asked' AND NOT EXISTS (
                SELECT 1 FROM errands t WHERE t.customer_id = c.customer_id
                    AND t.kind IN ('\(WorkKind.renewalQuestions.joined(separator: "', '"))')
                    AND t.subject = \(chargeSubject))
            LIMIT 1
            """)

        static let strayDueWork = Statement(
            "restores.strayDueWork", [], stray("due_work", "kind = '\(WorkKind.approval)'"))

        /// Finds work that concerns a purchase which is not there.
        private static func stray(_ table: String, _ condition: String) -> String {
            """
            SELECT 1 AS wrong FROM \(table) t WHERE t.\(condition) AND NOT EXISTS (
                SELECT 1 FROM purchases p WHERE p.customer_id = t.customer_id
                    AND t.subject = p.bundle_id || '/' || p.purchase_id) LIMIT 1
            """
        }

        static let lateEntry = Statement(
            "restores.lateEntry", [],
            """
            SELECT 1 AS wrong FROM audit WHERE entry > (SELECT audit_count FROM realm) LIMIT 1
            """)

        static let lateStoreEntry = Statement(
            "restores.lateStoreEntry", [],
            """
            SELECT 1 AS wrong FROM store_audit WHERE entry >
                (SELECT coalesce(max(c.written), 0) FROM store_audit_counts c) LIMIT 1
            """)

        /// The same check in the registry: the next entry needs a free number.
        static let registryContradictions = [
            Contradiction("store_audit", "entry", "at most the count of entries", lateStoreEntry)
        ]

        /// What is checked once all rows are loaded, beside the references. A
        /// revision above its customer's would be news for ever.
        static let contradictions = [
            Contradiction("audit", "entry", "at most the realm's count of entries", lateEntry),
            Contradiction(
                "transactions", "revision", "at most its customer's", aheadTransaction),
            Contradiction("purchases", "revision", "at most its customer's", aheadPurchase),
            Contradiction(
                "customers", "history_revision",
                "at most the customer's revision, and at least its `cleared_revision`",
                lateHistory),
            Contradiction(
                "purchases", "history_revision",
                "its customer's, or an earlier one if it is refused", otherHistory),
            Contradiction(
                "purchases", "transaction_id", "a sale of the purchase's product", otherProduct),
            Contradiction(
                "transactions", "purchase_id",
                "a sold purchase of this transaction, with its quantity, price, sum and currency",
                otherSale),
            Contradiction(
                "sign_in_names", "customer_id", "each customer's, once", nameless),
            Contradiction(
                "sign_in_names", "name", "the name of its customer, as it is compared",
                isThere: hasForeignName),
            Contradiction("errands", "subject", "a purchase of the customer", strayErrand),
            Contradiction("errands", "subject", "a refund through the processor", strayRefund),
            Contradiction("refunds", "revision", "at most its customer's", aheadRefund),
            Contradiction("refunds", "events", "the number of its events", otherEvents),
            Contradiction(
                "transactions", "revoked_at", "present if a refund was granted, and only then",
                otherFate),
            Contradiction(
                "transactions", "ownership", "shared with a share, and revoked if it ended so",
                otherShare),
            Contradiction(
                "family_links", "purchaser_revision", "at most its purchaser's", aheadLink),
            Contradiction(
                "customers", "family_revision", "at most the customer's revision", aheadFamily),
            Contradiction("errands", "subject", "a charge of a renewal", strayRenewal),
            Contradiction("renewal_charges", "state", "asked with an errand", chargeWithout),
            Contradiction("due_work", "subject", "a purchase of the customer", strayDueWork),
            Contradiction(
                "purchases", "state", "sold with a transaction, refused with a reason",
                soldWithout),
        ]

        /// Whether a sign-in name is not that of its customer. Two customers
        /// could then show one name.
        @Sendable private static func hasForeignName(_ reading: any Reading) throws -> Bool {
            var last = ""
            while true {
                let page = try reading.query(names, [.text(last), .integer(namesPage)])
                for row in page {
                    last = try row.text("sign_in_name")
                    if CustomerRoom.signInKey(try row.text("name")) != last { return true }
                }
                if page.count < Int(namesPage) { return false }
            }
        }

        private static let namesPage: Int64 = 500

        /// The references that are checked once all rows are loaded.
        static let registryReferences = RegistrySchema.tables.filter(\.isInBackup)
            .flatMap(\.missing)
        static let realmReferences = RealmSchema.tables.map(\.table).filter(\.isInBackup)
            .flatMap(\.missing)

        static let registry =
            [unfinished, begin, finish, allRealms, forgetSeeds, setNumbers, lateStoreEntry]
            + registryReferences.map(\.statement)
        static let realm =
            [
                newGeneration, freeErrands, generation, errands, aheadTransaction, aheadPurchase,
                lateHistory, otherHistory, otherProduct, otherSale, soldWithout, lateEntry,
                nameless, names, strayErrand,
                strayDueWork, strayRefund, aheadRefund, strayRenewal, chargeWithout,
                otherEvents, otherFate, otherShare, aheadLink, aheadFamily,
            ] + realmReferences.map(\.statement)
    }
}
