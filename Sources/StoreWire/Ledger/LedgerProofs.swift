// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// Submits a transaction's number to a ledger, which looks it up in the store: `POST
/// /ledger/v1/transactions`.
public struct TakeTransactionRequest: Hashable, Sendable, Codable {
    public let transactionId: String
    /// The account of the purchase, if the transaction has no app account token.
    public let account: String?
    /// Only needed if the ledger books several apps.
    public let bundleId: String?
    /// Without it, production is asked first, and then the sandbox.
    public let environment: String?

    public init(
        transactionId: String, account: String? = nil, bundleId: String? = nil,
        environment: String? = nil
    ) {
        self.transactionId = transactionId
        self.account = account
        self.bundleId = bundleId
        self.environment = environment
    }
}

/// The store did not answer, so the ledger keeps a proof and settles it later. The
/// HTTP status is 202.
public struct ProofKept: Hashable, Sendable, Codable {
    /// SHA-256 over the proof, which names it in the account's list.
    public let proof: String
    public let keptDate: Timestamp
    /// What happens next, for people.
    public let message: String

    public init(proof: String, keptDate: Timestamp, message: String) {
        self.proof = proof
        self.keptDate = keptDate
        self.message = message
    }
}

/// A proof that waits for a store, or that was refused in the end.
public struct WaitingProofReport: Hashable, Sendable, Codable {
    public let proof: String
    /// `transaction` or `receipt`.
    public let kind: String
    public let bundleId: String
    public let keptDate: Timestamp
    /// How often the store was asked since it is kept.
    public let attempts: Int
    /// When it is asked again. Absent once the proof is refused.
    public let nextDate: Timestamp?
    /// Why the last attempt failed.
    public let trouble: String?
    /// The code of the refusal. The report is kept for 30 days.
    public let refusal: String?

    public init(
        proof: String, kind: String, bundleId: String, keptDate: Timestamp, attempts: Int,
        nextDate: Timestamp?, trouble: String?, refusal: String?
    ) {
        self.proof = proof
        self.kind = kind
        self.bundleId = bundleId
        self.keptDate = keptDate
        self.attempts = attempts
        self.nextDate = nextDate
        self.trouble = trouble
        self.refusal = refusal
    }
}

/// The proofs of an account that wait: `GET /ledger/v1/accounts/{account}/proofs`.
public struct WaitingProofs: Hashable, Sendable, Codable {
    public let account: String
    /// Oldest first.
    public let proofs: [WaitingProofReport]

    public init(account: String, proofs: [WaitingProofReport]) {
        self.account = account
        self.proofs = proofs
    }
}
