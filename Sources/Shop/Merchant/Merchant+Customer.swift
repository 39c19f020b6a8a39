// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

extension Merchant {
    /// Finds the customer to whom a transaction, or the app's own transaction, of this app
    /// belongs, and looks up facts of them, in one read. Throws ``AppleRefusal``, in order:
    /// 4000006, 4040010 (also for another app's).
    func lookUp<Answer: Sendable>(
        ofCustomerOf id: String,
        _ body: @escaping @Sendable (CustomerID, any Reading) throws -> Answer
    ) async throws -> Answer {
        let number = try Self.number(id)
        let isOfApp = NumberLayout(number: number)?.kind == .appTransaction
        let (statement, bundleID) =
            (isOfApp ? Statement.Merchants.customerOfApp : .Merchants.customer, bundleID.value)
        let answer: Answer? = try await realm.lookUp(ofNumber: number) { reading in
            let values: [SQLValue] = [.integer(number), .text(bundleID)]
            return try reading.first(statement, values).map { row in
                try body(CustomerID(try row.integer("customer_id")), reading)
            }
        }
        guard let answer else { throw AppleRefusal(.transactionIdNotFound) }
        return answer
    }

    /// Returns the customer of a transaction, and the time of what is signed for them. Throws
    /// like ``lookUp(ofCustomerOf:_:)``.
    func customerAndTime(of id: String) async throws -> (CustomerID, Timestamp) {
        let wall = realm.ports.wall.now
        return try await lookUp(ofCustomerOf: id) { [now] customer, reading in
            (customer, try Realm.now(of: customer, wall: wall, reading) ?? now)
        }
    }

    /// The app's number, which answers of production contain.
    var officialID: Int64? {
        get async throws {
            realm.isProduction ? try await realm.loadShelf().apps[bundleID]?.appID : nil
        }
    }

    /// Returns one transaction of this app. Throws ``AppleRefusal``, in order:
    /// `invalid`, `unknown`.
    func transaction(
        _ id: String, invalid: AppleErrorResponse = .invalidTransactionId,
        unknown: AppleErrorResponse = .transactionIdNotFound
    ) async throws -> TransactionFacts {
        let number = try Self.number(id, invalid: invalid, unknown: unknown)
        let row = try await realm.find(
            ofNumber: number, Statement.Transactions.byID, [.integer(number)])
        guard let row, try row.text("bundle_id") == bundleID.value else {
            throw AppleRefusal(unknown)
        }
        return try TransactionFacts(row: row)
    }

    /// The commercial time of what is signed for a customer: not before the
    /// customer's last event.
    func now(of customer: CustomerID) async throws -> Timestamp {
        let wall = realm.ports.wall.now
        let now = try await realm.lookUp(of: customer) {
            try Realm.now(of: customer, wall: wall, $0)
        }
        return now ?? self.now
    }

    /// Parses a transaction's id. Throws ``AppleRefusal``, in order: `invalid` for a text
    /// that no store writes, `unknown` for a number that is too large.
    static func number(
        _ id: String, invalid: AppleErrorResponse = .invalidTransactionId,
        unknown: AppleErrorResponse = .transactionIdNotFound
    ) throws -> Int64 {
        guard Edge.isNumber(id) else { throw AppleRefusal(invalid) }
        guard let number = Edge.number(id) else { throw AppleRefusal(unknown) }
        return number
    }
}

extension SubscriptionRow {
    /// What a customer has subscribed to in an app, and what the customer's family shares.
    static func ownAndShared(
        of customer: CustomerID, _ bundleID: BundleID, at now: Timestamp, _ reading: any Reading
    ) throws -> [SubscriptionRow] {
        let values: [SQLValue] = [.integer(customer.value), .text(bundleID.value)]
        let own = try reading.query(Statement.Subscriptions.ofApp, values)
            .map(SubscriptionRow.init(row:))
        let shared = try SharedSubscription.all(of: customer, bundleID, reading)
            .compactMap { try $0.subscriptionRow(of: customer, at: now, reading) }
        return own + shared
    }
}

extension Statement {
    /// What a merchant's server asks about customers.
    enum Merchants {
        private static let columns = RealmSchema.transactions.list("t", without: ["record"])

        static let customer = Statement(
            "merchants.customer", [.integer, .text],
            """
            SELECT t.customer_id FROM transactions t
            WHERE t.transaction_id = $1 AND t.bundle_id = $2
            """)

        static let customerOfApp = Statement(
            "merchants.customerOfApp", [.integer, .text],
            """
            SELECT a.customer_id FROM app_accounts a
            WHERE a.app_transaction_id = $1 AND a.bundle_id = $2
            """)

        /// How far a customer's history has come, and the customer's time.
        static let reach = Statement(
            "merchants.reach", [.integer],
            """
            SELECT \(Lines.lineColumns), h.revision
            FROM \(Lines.withClocks) JOIN customers h ON h.customer_id = $1
            """)

        /// A customer's transactions before a place, the last changed first.
        static let historyBackwards = Statement(
            "merchants.historyBackwards", [.integer, .text, .integer, .integer, .integer],
            """
            SELECT \(columns) FROM transactions t
            WHERE t.customer_id = $1 AND t.bundle_id = $2
                AND (t.revision, t.transaction_id) < ($3, $4)
            ORDER BY t.revision DESC, t.transaction_id DESC LIMIT $5
            """)

        /// Sets the token of a transaction and of all that follow from it.
        static let setToken = Statement(
            "merchants.setToken", [.integer, .integer, .text, .integer, .integer],
            """
            UPDATE transactions SET app_account_token = $3, revision = $4, changed_at = $5
            WHERE customer_id = $1 AND original_transaction_id = $2
                AND (app_account_token IS NULL OR app_account_token <> $3)
            RETURNING transaction_id
            """)

        /// What verifyReceipt returns beside the receipt: what the newest receipt
        /// contains, the newest first.
        static let inReceipt = Statement(
            "merchants.inReceipt", [.integer, .text],
            """
            SELECT \(columns) FROM transactions t
            WHERE t.customer_id = $1 AND t.bundle_id = $2
                AND (t.finished_at IS NULL OR t.product_type <> 'consumable')
            ORDER BY t.purchased_at DESC, t.transaction_id DESC
            """)

        /// When a customer got the app, and the customer's last device.
        static let appTransaction = Statement(
            "merchants.appTransaction", [.integer, .text],
            """
            SELECT a.app_transaction_id, a.original_purchased_at, a.original_version,
                (SELECT d.app_version FROM devices d
                    WHERE d.customer_id = a.customer_id AND d.bundle_id = a.bundle_id
                    ORDER BY d.seen_at DESC, d.device_uuid LIMIT 1) AS app_version,
                (SELECT d.device_uuid FROM devices d
                    WHERE d.customer_id = a.customer_id AND d.bundle_id = a.bundle_id
                    ORDER BY d.seen_at DESC, d.device_uuid LIMIT 1) AS device_uuid
            FROM app_accounts a WHERE a.customer_id = $1 AND a.bundle_id = $2
            """)

        static let all = [
            customer, customerOfApp, reach, historyBackwards, setToken, appTransaction,
            inReceipt,
        ]
    }
}
