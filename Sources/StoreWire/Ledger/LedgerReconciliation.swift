// SPDX-License-Identifier: Apache-2.0

/// Compares an account's purchases with the store: `POST /ledger/v1/reconciliations`.
public struct ReconcileRequest: Hashable, Sendable, Codable {
    /// Absent for the first account after ``after``.
    public let account: String?
    /// The `next` of the answer before.
    public let after: String?
    /// Whether to correct what differs.
    public let fix: Bool?

    public init(account: String? = nil, after: String? = nil, fix: Bool? = nil) {
        self.account = account
        self.after = after
        self.fix = fix
    }
}

/// What the books and the store have differently.
public struct LedgerDifference: Hashable, Sendable, Codable {
    /// `missingRevocation`: the store has revoked it. `staleRevocation`: the store
    /// grants it again. `staleTerms`: it has signed another end of the period, or an upgrade;
    /// see `field`. `unknownTransaction`: the store has sold it, and it is not in
    /// the books. `factsDiffer`: see `field`; never corrected. `notInStore`: the store
    /// does not list it; never corrected.
    public let kind: String
    public let environment: String
    public let bundleId: String
    public let transactionId: String
    public let field: String?
    /// Whether it is corrected now.
    public let isFixed: Bool
    /// Why it could not be corrected: the code of a refusal.
    public let refusal: String?

    public init(
        kind: String, environment: String, bundleId: String, transactionId: String,
        field: String? = nil, isFixed: Bool = false, refusal: String? = nil
    ) {
        self.kind = kind
        self.environment = environment
        self.bundleId = bundleId
        self.transactionId = transactionId
        self.field = field
        self.isFixed = isFixed
        self.refusal = refusal
    }
}

/// The result for one account.
public struct ReconcileReport: Hashable, Sendable, Codable {
    /// Absent if there is no account after `after`.
    public let account: String?
    /// The number of transactions that the store listed.
    public let checked: Int
    public let differences: [LedgerDifference]
    /// The `after` of the next account's request. Absent if one account was named, and
    /// at the end.
    public let next: String?

    public init(
        account: String?, checked: Int, differences: [LedgerDifference], next: String?
    ) {
        self.account = account
        self.checked = checked
        self.differences = differences
        self.next = next
    }
}
