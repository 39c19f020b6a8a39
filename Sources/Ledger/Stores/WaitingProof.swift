// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage

/// A proof about which a store is asked.
struct WaitingProof: Hashable, Sendable {
    enum Kind: String, CaseIterable, Sendable {
        /// A transaction's number, for Get Transaction Info.
        case transaction
        /// An app receipt in Base64, for verifyReceipt.
        case receipt
    }

    /// A receipt of three megabytes in Base64.
    static let bytesMax = 4_500_000
    /// The most proofs that wait for an account.
    static let perAccountMax: Int64 = 100
    /// The most that wait without an account.
    static let withoutAccountMax: Int64 = 10_000
    /// How long a refused proof is shown.
    static let refusedMilliseconds: Int64 = 30 * 86_400_000

    let kind: Kind
    let account: String?
    let bundleID: String
    /// Nil to try production and then the sandbox.
    let environment: Environment?
    let proof: String
    /// The digest of the row from which it was read. Nil if it is not kept.
    private var keptDigest: String?

    /// SHA-256 over everything but the account.
    var digest: String {
        let words = [kind.rawValue, bundleID, environment?.rawValue ?? "", proof]
        return CertificateAuthority.fingerprint(of: Array(words.joined(separator: "\n").utf8))
    }

    var key: [SQLValue] { [.text(account ?? ""), .text(digest)] }

    /// The key of the row from which it was read, whatever this program would compute.
    var keptKey: [SQLValue]? { keptDigest.map { [.text(account ?? ""), .text($0)] } }

    init(
        _ kind: Kind, _ proof: String, bundleID: String, environment: Environment?,
        account: String?
    ) {
        self.kind = kind
        self.proof = proof
        self.bundleID = bundleID
        self.environment = environment
        self.account = account
    }

    init(_ row: Row) throws {
        guard let kind = Kind(rawValue: try row.text("kind")) else {
            throw StorageFault(.malformedRow, "a waiting proof's kind is unknown")
        }
        let account = try row.text("account")
        self.init(
            kind, try row.text("proof"), bundleID: try row.text("bundle_id"),
            environment: try row.optionalText("environment").flatMap(Environment.init(named:)),
            account: account.isEmpty ? nil : account)
        keptDigest = try row.text("digest")
    }

    func row(at now: Timestamp, trouble: StoreTrouble) -> [SQLValue] {
        LedgerSchema.proofsWaiting.row([
            "account": .text(account ?? ""), "digest": .text(digest),
            "kind": .text(kind.rawValue), "bundle_id": .text(bundleID),
            "environment": .optional(environment?.rawValue), "proof": .text(proof),
            "kept_at": .integer(now.milliseconds),
            "due_at": .integer((trouble.until ?? Self.next(1, at: now)).milliseconds),
            "attempt": .integer(0), "trouble": .text(trouble.reason),
        ])
    }

    /// When to ask again after a number of attempts.
    static func next(_ attempts: Int, at now: Timestamp) -> Timestamp {
        RetryTimetable.processor.nextForEver(afterAttempts: attempts, at: now)
    }
}

/// A kept proof was deleted or moved while the store was asked about it, because its
/// account was erased or became part of another. Nothing is booked for its account.
struct WaitingProofGone: Error {}

extension Ledger {
    /// Keeps a proof until the store answers. The same proof is kept once for an
    /// account. Refusal: `proofsTooMany`.
    func keep(_ proof: WaitingProof, because trouble: StoreTrouble) async throws -> Timestamp {
        let now = ports.wall.now
        let kept = try await storage.write {
            try proof.keep(because: trouble, at: now, $0)
        }
        // It is due sooner than the worker looks again.
        errands.ring()
        return kept
    }
}

extension WaitingProof {
    /// Writes it to the proofs that wait, in a commit. Returns since when it is kept.
    /// Refusal: `proofsTooMany`.
    func keep(
        because trouble: StoreTrouble, at now: Timestamp, _ writing: any Writing
    ) throws -> Timestamp {
        if let account {
            // The account's line makes its proofs wait for each other.
            _ = try writing.first(Statement.Accounts.takeLine, [.text(account)])
        }
        let isKnown = try writing.first(Statement.Waiting.one, key) != nil
        let count = try writing.first(Statement.Waiting.count, [.text(account ?? "")])?
            .integer("waiting")
        let max = account == nil ? Self.withoutAccountMax : Self.perAccountMax
        guard isKnown || (count ?? 0) < max,
            let row = try writing.first(Statement.Waiting.keep, row(at: now, trouble: trouble))
        else {
            throw LedgerRefusal(
                .unavailable, code: "proofsTooMany",
                "The store does not answer, and too many proofs of this account wait for it.",
                field: "account", rule: "at most \(Self.perAccountMax) for an account",
                remedy: "send it again once the store answers")
        }
        return Timestamp(milliseconds: try row.integer("kept_at"))
    }
}
