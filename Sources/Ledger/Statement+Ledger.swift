// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    /// Every statement of a ledger's database, for the test that prepares all
    /// of them.
    enum LedgerBook {
        static let all =
            Accounts.all + Booked.all + Redemptions.all + Upkeep.all + Grants.all
            + Credits.all + History.all + Waiting.all + News.all + Forwards.all
            + APIKeys.all + Audit.all + Moves.all + Shares.all + Merges.all + PersonalData.all
            + Webhooks.all + Originals.all + Holdings.all
    }

    enum Accounts {
        /// Locks the account's line, and creates it if it does not exist. The
        /// first statement of every write for an account.
        static let takeLine = Statement(
            "accounts.takeLine", [.text],
            """
            INSERT INTO accounts (account, revision) VALUES ($1, 1)
            ON CONFLICT (account) DO UPDATE SET revision = accounts.revision + 1
            RETURNING revision
            """)

        /// Locks the line of an account that has purchases. Returns no row for
        /// an account without any.
        static let takeKnownLine = Statement(
            "accounts.takeKnownLine", [.text],
            "UPDATE accounts SET revision = revision + 1 WHERE account = $1 RETURNING revision")

        static let insertKey = Statement.insert(
            "keys.insert", into: LedgerSchema.keys, "ON CONFLICT (door) DO NOTHING")

        static let key = Statement.one("keys.one", of: LedgerSchema.keys)

        /// The first account after another one.
        static let next = Statement(
            "accounts.next", [.text],
            "SELECT account FROM accounts WHERE account > $1 ORDER BY account LIMIT 1")

        static let all = [takeLine, takeKnownLine, insertKey, key, next]
    }

    /// Statements about the purchases in the books.
    enum Booked {
        private static let columns =
            LedgerSchema.purchases.list("p")
            + ", t.expires_at, t.is_upgraded, v.signed_at AS reversed_at"
        private static let purchases = """
            purchases p LEFT JOIN terms t ON t.root = p.root
                AND t.environment = p.environment AND t.bundle_id = p.bundle_id
                AND t.transaction_id = p.transaction_id
            LEFT JOIN refund_reversals v ON v.root = p.root
                AND v.environment = p.environment AND v.bundle_id = p.bundle_id
                AND v.transaction_id = p.transaction_id
            """

        /// Whether the purchase `p` has granted something, so that its units are not
        /// redeemed one by one.
        private static func granted(_ p: String) -> String {
            """
            EXISTS (SELECT 1 FROM grants g
                WHERE g.root = \(p).root AND g.environment = \(p).environment
                    AND g.bundle_id = \(p).bundle_id AND g.transaction_id = \(p).transaction_id)
            """
        }

        /// The units of the purchase `p` that are reserved at the time `now`, which
        /// is a parameter. Reservations end by their dates: no program has to end
        /// them.
        private static func held(_ p: String, _ now: String) -> String {
            """
            (SELECT COUNT(*) FROM redemptions h
                WHERE h.root = \(p).root AND h.environment = \(p).environment
                    AND h.bundle_id = \(p).bundle_id AND h.transaction_id = \(p).transaction_id
                    AND h.unit IS NULL AND h.released_at IS NULL AND h.expires_at > \(now))
            """
        }

        /// Which purchases can still be spent at the time `now`. The only place for
        /// this rule in SQL.
        private static func unspent(_ p: String, _ now: String) -> String {
            """
            \(p).revoked_at IS NULL AND \(p).spent < \(p).quantity
                AND \(p).spent + \(held(p, now)) < \(p).quantity
                AND \(p).product_type IN ('Consumable', 'Non-Renewing Subscription')
                AND NOT \(granted(p))
            """
        }

        private static let isKey = """
            root = $1 AND environment = $2 AND bundle_id = $3 AND transaction_id = $4
            """

        static let byKey = Statement(
            "purchases.byKey", [.text, .text, .text, .text, .integer],
            """
            SELECT \(columns), \(held("p", "$5")) AS held, \(granted("p")) AS granted
            FROM \(purchases)
            WHERE p.root = $1 AND p.environment = $2 AND p.bundle_id = $3
                AND p.transaction_id = $4
            """)

        /// The account of a purchase, which may be null.
        static let owner = Statement(
            "purchases.owner", [.text, .text, .text, .text],
            "SELECT account, purchased_at FROM purchases WHERE \(isKey)")

        /// Returns no row if the purchase is in the books already.
        static let insert = Statement.insert(
            "purchases.insert", into: LedgerSchema.purchases,
            """
            ON CONFLICT (root, environment, bundle_id, transaction_id) DO NOTHING
            RETURNING transaction_id
            """)

        /// Locks a purchase that belongs to no account, and so has no account's line to
        /// lock.
        static let lockUnclaimed = Statement(
            "purchases.lockUnclaimed", [.text, .text, .text, .text],
            "UPDATE purchases SET revision = revision WHERE \(isKey) AND account IS NULL")

        static let putReversal = Statement.put(
            "purchases.putReversal", into: LedgerSchema.refundReversals)

        /// The account of a subscription's newest purchase that has one, unless it was
        /// erased. The original transaction is the subscription's.
        static let ownerOfSubscription = Statement(
            "purchases.ownerOfSubscription", [.text, .text, .text, .text],
            """
            SELECT account FROM purchases
            WHERE root = $1 AND environment = $2 AND bundle_id = $3
                AND original_transaction_id = $4 AND account IS NOT NULL
                AND substr(account, 1, \(ErasedAccount.prefix.utf8.count))
                    <> '\(ErasedAccount.prefix)'
                AND product_type = '\(BookedFacts.subscription)'
            ORDER BY \(PeriodOrder.newestFirst) LIMIT 1
            """)

        private static let unclaimed = """
            SELECT root, environment, bundle_id, transaction_id FROM purchases
            WHERE root = $1 AND environment = $2 AND bundle_id = $3
                AND original_transaction_id = $4 AND account IS NULL
                AND product_type = '\(BookedFacts.subscription)'
            """
        private static let inOrder = "ORDER BY purchased_at, transaction_id"

        /// The periods of a subscription that belong to no account.
        static let unclaimedPeriods = Statement(
            "purchases.unclaimedPeriods", [.text, .text, .text, .text],
            "\(unclaimed) \(inOrder)")

        /// The same if `$5` has the newest of those that have an account.
        static let claimablePeriods = Statement(
            "purchases.claimablePeriods", [.text, .text, .text, .text, .text],
            """
            \(unclaimed)
                AND $5 = (
                    \(ownerOfSubscription.sql))
            \(inOrder)
            """)

        /// Assigns a purchase without an account to one. Returns no row if it
        /// has one already.
        static let claim = Statement(
            "purchases.claim", [.text, .text, .text, .text, .text, .integer],
            """
            UPDATE purchases SET account = $5, revision = $6
            WHERE root = $1 AND environment = $2 AND bundle_id = $3 AND transaction_id = $4
                AND account IS NULL
            RETURNING transaction_id
            """)

        /// Writes the fate of a purchase, if the row and its account have not
        /// changed since they were read.
        static let setFate = Statement(
            "purchases.setFate",
            [
                .text, .text, .text, .text, .text, .integer, .integer, .integer, .integer,
                .integer,
            ],
            """
            UPDATE purchases
            SET signed_at = $6, revoked_at = $7, revocation_reason = $8, revision = $9
            WHERE root = $1 AND environment = $2 AND bundle_id = $3 AND transaction_id = $4
                AND account IS NOT DISTINCT FROM CAST($5 AS TEXT) AND signed_at = $10
            RETURNING transaction_id
            """)

        /// Writes the facts of a signed transaction over those of a receipt.
        static let setFacts = Statement(
            "purchases.setFacts",
            [.text, .text, .text, .text, .text, .integer, .integer, .text, .integer],
            """
            UPDATE purchases
            SET purchased_at = $6, price = $7, currency = $8, from_receipt = FALSE, revision = $9
            WHERE \(isKey) AND account IS NOT DISTINCT FROM CAST($5 AS TEXT) AND from_receipt
            RETURNING transaction_id
            """)

        static let unspentPage = Statement(
            "purchases.unspentPage",
            [.text, .text, .integer, .text, .text, .text, .integer, .integer],
            """
            SELECT \(columns), \(held("p", "$8")) AS held, FALSE AS granted
            FROM \(purchases)
            WHERE p.account = $1 AND p.environment = $2
                AND (p.revision, p.transaction_id, p.root, p.bundle_id) > ($3, $4, $5, $6)
                AND \(unspent("p", "$8"))
            ORDER BY p.revision, p.transaction_id, p.root, p.bundle_id LIMIT $7
            """)

        /// An account's purchases, spendable or not.
        static let ofAccount = Statement(
            "purchases.ofAccount", [.text, .integer, .integer],
            """
            SELECT \(columns), \(held("p", "$3")) AS held, \(granted("p")) AS granted
            FROM \(purchases)
            WHERE p.account = $1
            ORDER BY p.environment, p.transaction_id, p.root, p.bundle_id LIMIT $2
            """)

        private static let ofProduct = "p.product_id = $4"
        private static let named =
            "p.transaction_id = $4 AND (CAST($5 AS TEXT) IS NULL OR p.product_id = $5)"

        /// The oldest purchase of an account that a redemption may spend, by the index of
        /// these.
        private static func oldest(
            _ columns: String, _ condition: String, from purchases: String, now: String
        ) -> String {
            """
            SELECT \(columns) FROM \(purchases)
            WHERE p.account = $1 AND p.environment = $2 AND p.bundle_id = $3
                AND \(condition) AND \(unspent("p", now))
            ORDER BY p.purchased_at, p.transaction_id, p.root LIMIT 1
            """
        }

        private static func oldest(_ condition: String, now: String) -> String {
            oldest(
                "\(columns), \(held("p", now)) AS held, FALSE AS granted", condition,
                from: purchases, now: now)
        }

        /// The oldest purchase of a product that a redemption may spend.
        static let oldestOfProduct = Statement(
            "purchases.oldestOfProduct", [.text, .text, .text, .text, .integer],
            oldest(ofProduct, now: "$5"))

        /// A named purchase, if a redemption may spend it.
        static let oldestNamed = Statement(
            "purchases.oldestNamed", [.text, .text, .text, .text, .text, .integer],
            oldest(named, now: "$6"))

        /// Finds the purchase and spends one unit of it, unless the idempotency key was used
        /// before. One statement, which is sent with that which locks the account's line:
        /// others wait for the line meanwhile.
        private static func spendOldest(
            _ condition: String, now: String, idempotencyKey: String
        ) -> String {
            let key = LedgerSchema.purchases.key.map { "p.\($0)" }.joined(separator: ", ")
            return """
                UPDATE purchases SET spent = spent + 1,
                    revision = (SELECT a.revision FROM accounts a WHERE a.account = $1)
                WHERE (root, environment, bundle_id, transaction_id) IN (
                        \(oldest(key, condition, from: "purchases p", now: now)))
                    AND account = $1 AND \(unspent("purchases", now))
                    AND NOT EXISTS (SELECT 1 FROM redemptions r
                        WHERE r.account = $1 AND r.idempotency_key = \(idempotencyKey))
                RETURNING root, environment, bundle_id, transaction_id, product_id, spent
                """
        }

        /// Spends a unit of a product's oldest purchase. Returns no row if none can be
        /// spent.
        static let spendOfProduct = Statement(
            "purchases.spendOfProduct", [.text, .text, .text, .text, .integer, .text],
            spendOldest(ofProduct, now: "$5", idempotencyKey: "$6"))

        /// Spends a unit of a named purchase. Returns no row if none can be spent.
        static let spendNamed = Statement(
            "purchases.spendNamed", [.text, .text, .text, .text, .text, .integer, .text],
            spendOldest(named, now: "$6", idempotencyKey: "$7"))

        /// The purchases that a redemption names, spendable or not, to find out why none can
        /// be spent.
        static let candidates = Statement(
            "purchases.candidates", [.text, .text, .text, .text, .text, .integer],
            """
            SELECT \(columns), \(held("p", "$6")) AS held, \(granted("p")) AS granted
            FROM \(purchases)
            WHERE p.account = $1 AND p.environment = $2 AND p.bundle_id = $3
                AND (CAST($4 AS TEXT) IS NULL OR p.transaction_id = $4)
                AND (CAST($5 AS TEXT) IS NULL OR p.product_id = $5)
            ORDER BY CASE WHEN \(unspent("p", "$6")) THEN 0 ELSE 1 END,
                p.purchased_at, p.transaction_id, p.root
            LIMIT 1
            """)

        /// Spends one unit. Returns no row if none is left or all others are
        /// reserved, the purchase was revoked, or it belongs to another account.
        static let spend = Statement(
            "purchases.spend", [.text, .text, .text, .text, .text, .integer, .integer],
            """
            UPDATE purchases SET spent = spent + 1, revision = $6
            WHERE \(isKey) AND account = $5 AND \(unspent("purchases", "$7"))
            RETURNING spent
            """)

        /// Notes that the number of free units has changed, if there was one at the
        /// time `$7`.
        static let hold = Statement(
            "purchases.hold", [.text, .text, .text, .text, .text, .integer, .integer],
            """
            UPDATE purchases SET revision = $6
            WHERE \(isKey) AND account = $5 AND \(unspent("purchases", "$7"))
            RETURNING spent
            """)

        /// Spends the unit that a reservation holds at the time `$7`. A reservation is a
        /// promise: it is kept even if the store has revoked the purchase since.
        ///
        /// A unit that was reserved after the end `$8` of this reservation may be the same
        /// one. Then a clock was set back, or another server's is ahead, and every unit
        /// that is held must be left. By such a clock the reservation had expired, so that the
        /// purchase may have granted what it is worth.
        static let spendHeld = Statement(
            "purchases.spendHeld",
            [.text, .text, .text, .text, .text, .integer, .integer, .integer],
            """
            UPDATE purchases SET spent = spent + 1, revision = $6
            WHERE \(isKey) AND account = $5 AND spent < quantity
                AND NOT \(granted("purchases"))
                AND (spent + \(held("purchases", "$7")) <= quantity
                    OR NOT EXISTS (SELECT 1 FROM redemptions l
                        WHERE l.root = purchases.root AND l.environment = purchases.environment
                            AND l.bundle_id = purchases.bundle_id
                            AND l.transaction_id = purchases.transaction_id
                            AND l.unit IS NULL AND l.released_at IS NULL
                            AND l.reserved_at >= $8))
            RETURNING spent
            """)

        /// Notes that a reservation has given its unit back.
        static let giveBack = Statement(
            "purchases.giveBack", [.text, .text, .text, .text, .text, .integer],
            "UPDATE purchases SET revision = $6 WHERE \(isKey) AND account = $5")

        static let all = [
            byKey, owner, insert, lockUnclaimed, putReversal, ownerOfSubscription, unclaimedPeriods,
            claimablePeriods, claim, setFate, setFacts, unspentPage, ofAccount, oldestOfProduct,
            oldestNamed,
            spendOfProduct, spendNamed, candidates, spend, hold, spendHeld, giveBack,
        ]
    }

    enum Redemptions {
        static let byKey = Statement.one("redemptions.byKey", of: LedgerSchema.redemptions)

        static let insert = Statement.insert(
            "redemptions.insert", into: LedgerSchema.redemptions)

        /// Turns a reservation into a redemption. Returns no row if it is none any
        /// more.
        static let confirm = Statement(
            "redemptions.confirm", [.text, .text, .integer, .integer],
            """
            UPDATE redemptions SET unit = $3, redeemed_at = $4
            WHERE account = $1 AND idempotency_key = $2 AND unit IS NULL
                AND released_at IS NULL
            RETURNING idempotency_key
            """)

        /// Returns no row if it is no reservation any more.
        static let release = Statement(
            "redemptions.release", [.text, .text, .integer],
            """
            UPDATE redemptions SET released_at = $3
            WHERE account = $1 AND idempotency_key = $2 AND unit IS NULL
                AND released_at IS NULL
            RETURNING idempotency_key
            """)

        static let all = [byKey, insert, confirm, release]
    }
}
