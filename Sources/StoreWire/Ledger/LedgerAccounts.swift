// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// Presents a purchase that may belong to another account: `POST
/// /ledger/v1/accounts/{account}/restores`.
public struct RestoreRequest: Hashable, Sendable, Codable {
    /// A compact JWS of a ``JWSTransactionDecodedPayload``.
    public let signedTransaction: String
    /// Whether to return what would change, and change nothing.
    public let dryRun: Bool?

    public init(signedTransaction: String, dryRun: Bool? = nil) {
        self.signedTransaction = signedTransaction
        self.dryRun = dryRun
    }
}

/// What a restore has changed, or would change.
public struct RestoreOutcome: Hashable, Sendable, Codable {
    /// Credits that change hands.
    public struct Credits: Hashable, Sendable, Codable {
        public let currency: String
        public let amount: Int64

        public init(currency: String, amount: Int64) {
            self.currency = currency
            self.amount = amount
        }
    }

    public let account: String
    /// The ledger's policy: `keep`, `transfer`, `share` or `refuse`.
    public let policy: String
    /// `claimed`: it belonged to no account. `owned`: it is the account's already.
    /// `kept`: it stays with its account. `transferred`. `shared`.
    public let outcome: String
    public let isDryRun: Bool
    public let environment: String
    public let transactionId: String
    public let productId: String
    /// The units that the account gains.
    public let units: Int
    /// The entitlements that it gains, as long as the purchase grants them.
    public let entitlements: [String]
    /// The credits that it gains.
    public let credits: [Credits]

    public init(
        account: String, policy: String, outcome: String, isDryRun: Bool, environment: String,
        transactionId: String, productId: String, units: Int, entitlements: [String],
        credits: [Credits]
    ) {
        self.account = account
        self.policy = policy
        self.outcome = outcome
        self.isDryRun = isDryRun
        self.environment = environment
        self.transactionId = transactionId
        self.productId = productId
        self.units = units
        self.entitlements = entitlements
        self.credits = credits
    }
}

/// Makes an account part of another: `POST /ledger/v1/accounts/{account}/merge`.
public struct MergeAccountRequest: Hashable, Sendable, Codable {
    /// The account that stays.
    public let into: String

    public init(into: String) { self.into = into }
}

/// An account that became part of another.
public struct AccountMerge: Hashable, Sendable, Codable {
    public let account: String
    public let into: String
    public let mergedDate: Timestamp

    public init(account: String, into: String, mergedDate: Timestamp) {
        self.account = account
        self.into = into
        self.mergedDate = mergedDate
    }
}

/// Everything that a ledger has about an account: `GET
/// /ledger/v1/accounts/{account}/export`.
public struct AccountExport: Hashable, Sendable, Codable {
    /// A value of a row.
    public enum Value: Hashable, Sendable, Codable {
        case text(String)
        case number(Int64)
        case flag(Bool)

        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else if let number = try? container.decode(Int64.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            case .flag(let flag): try container.encode(flag)
            }
        }
    }

    public let account: String
    public let exportedDate: Timestamp
    /// The rows by table. A value that is absent has no key. Dates are in milliseconds
    /// since 1970.
    public let tables: [String: [[String: Value]]]

    public init(
        account: String, exportedDate: Timestamp, tables: [String: [[String: Value]]]
    ) {
        self.account = account
        self.exportedDate = exportedDate
        self.tables = tables
    }
}

/// An account that was erased.
public struct AccountErasure: Hashable, Sendable, Codable {
    public let erasedDate: Timestamp
    /// How many accounts were erased: itself, and those that had become part of it.
    public let accounts: Int
    /// How many kept notifications lost their contents.
    public let notifications: Int

    public init(erasedDate: Timestamp, accounts: Int, notifications: Int) {
        self.erasedDate = erasedDate
        self.accounts = accounts
        self.notifications = notifications
    }
}
