// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// The credits of an account in one environment:
/// `GET /ledger/v1/accounts/{account}/balances`.
public struct AccountBalances: Hashable, Sendable, Codable {
    public let account: String
    public let environment: String
    /// In the order of the currencies.
    public let balances: [LedgerBalance]

    public init(account: String, environment: String, balances: [LedgerBalance]) {
        self.account = account
        self.environment = environment
        self.balances = balances
    }
}

/// The book of one currency. `balance` is `granted` minus `spent` plus
/// `writtenOff`.
public struct LedgerBalance: Hashable, Sendable, Codable {
    /// The name in `ledger.yaml`.
    public let currency: String
    /// What can be spent. Below zero only if a refund took it there by `debt`.
    public let balance: Int64
    /// What purchases have brought in that the store has not revoked.
    public let granted: Int64
    public let spent: Int64
    /// What was spent or kept of revoked purchases.
    public let writtenOff: Int64

    public init(
        currency: String, balance: Int64, granted: Int64, spent: Int64, writtenOff: Int64
    ) {
        self.currency = currency
        self.balance = balance
        self.granted = granted
        self.spent = spent
        self.writtenOff = writtenOff
    }
}

/// Spends credits: `POST /ledger/v1/accounts/{account}/spendings`.
public struct SpendRequest: Hashable, Sendable, Codable {
    /// The account's own key for this spending. A repeated request with the same
    /// key is the same spending.
    public let idempotencyKey: String
    public let currency: String
    /// A whole number, at least 1.
    public let amount: Int64
    /// What they are spent for, in the merchant's own terms.
    public let purpose: String
    /// Required if the ledger accepts more than one environment.
    public let environment: String?

    public init(
        idempotencyKey: String, currency: String, amount: Int64, purpose: String,
        environment: String? = nil
    ) {
        self.idempotencyKey = idempotencyKey
        self.currency = currency
        self.amount = amount
        self.purpose = purpose
        self.environment = environment
    }
}

/// Credits that were spent. A repeated request gets the same answer.
public struct LedgerSpending: Hashable, Sendable, Codable {
    public let account: String
    public let environment: String
    public let idempotencyKey: String
    public let currency: String
    public let amount: Int64
    public let purpose: String
    /// The number of its entry in the book of the currency, from 1.
    public let entry: Int64
    /// What was left after it.
    public let balance: Int64
    /// By the ledger's wall clock.
    public let spentDate: Timestamp

    public init(
        account: String, environment: String, idempotencyKey: String, currency: String,
        amount: Int64, purpose: String, entry: Int64, balance: Int64, spentDate: Timestamp
    ) {
        self.account = account
        self.environment = environment
        self.idempotencyKey = idempotencyKey
        self.currency = currency
        self.amount = amount
        self.purpose = purpose
        self.entry = entry
        self.balance = balance
        self.spentDate = spentDate
    }
}
