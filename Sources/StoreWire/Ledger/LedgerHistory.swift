// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A page of what has happened in an account:
/// `GET /ledger/v1/accounts/{account}/history`.
public struct AccountHistory: Hashable, Sendable, Codable {
    public let account: String
    public let environment: String
    /// The newest first.
    public let events: [LedgerEvent]
    /// The `after` of the next page's request. Absent on the last page.
    public let next: String?

    public init(account: String, environment: String, events: [LedgerEvent], next: String?) {
        self.account = account
        self.environment = environment
        self.events = events
        self.next = next
    }
}

/// One line of an account's history.
public struct LedgerEvent: Hashable, Sendable, Codable {
    /// When the ledger recorded it. A revocation has the store's date.
    public let date: Timestamp
    /// `purchase`, `revocation`, `redemption`, `grant`, `spending`, `reversal` or
    /// `restoration`.
    public let kind: String
    /// A sentence for people.
    public let text: String
    /// Absent for a spending.
    public let transactionId: String?
    /// Of a spending and a redemption.
    public let idempotencyKey: String?

    public init(
        date: Timestamp, kind: String, text: String, transactionId: String?,
        idempotencyKey: String?
    ) {
        self.date = date
        self.kind = kind
        self.text = text
        self.transactionId = transactionId
        self.idempotencyKey = idempotencyKey
    }
}

/// What the books have of one product in one environment.
public struct LedgerProduct: Hashable, Sendable, Codable {
    public let productId: String
    public let environment: String
    public let purchases: Int64
    /// Purchases that belong to an account.
    public let claimed: Int64
    /// Purchases that have granted something.
    public let granted: Int64
    /// Whether the rules say what it grants.
    public let isConfigured: Bool

    public init(
        productId: String, environment: String, purchases: Int64, claimed: Int64,
        granted: Int64, isConfigured: Bool
    ) {
        self.productId = productId
        self.environment = environment
        self.purchases = purchases
        self.claimed = claimed
        self.granted = granted
        self.isConfigured = isConfigured
    }
}

/// The products in the books: `GET /ledger/v1/products`.
public struct LedgerProducts: Hashable, Sendable, Codable {
    public let products: [LedgerProduct]

    public init(products: [LedgerProduct]) { self.products = products }
}

/// The result of granting what was missing: `POST /ledger/v1/apply`.
public struct GrantsApplied: Hashable, Sendable, Codable {
    /// The number of new grants.
    public let granted: Int
    /// Purchases that were left because units of them are redeemed or reserved.
    public let left: Int

    public init(granted: Int, left: Int) {
        self.granted = granted
        self.left = left
    }
}
