// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension Ledger {
    /// The most proofs that are settled in one go.
    static let settledMax = 20
    /// How often the store is asked about a receipt that it may not be able to read: for about
    /// two hours.
    static let unclearMax = 6
    /// How long a process has a proof for itself. If it dies, another one asks then.
    static let leaseMilliseconds: Int64 = 120_000

    /// Returns the proofs of an account that wait for a store. Refusal: `textInvalid`.
    public func waitingProofs(account: String) async throws -> WaitingProofs {
        let account = try Edge.account(account)
        let rows = try await storage.read {
            try $0.query(
                Statement.Waiting.ofAccount,
                [.text(account), .integer(WaitingProof.perAccountMax)])
        }
        let proofs = try rows.map { row in
            let refusal = try row.optionalText("refusal")
            return WaitingProofReport(
                proof: try row.text("digest"), kind: try row.text("kind"),
                bundleId: try row.text("bundle_id"),
                keptDate: Timestamp(milliseconds: try row.integer("kept_at")),
                attempts: Int(try row.integer("attempt")),
                nextDate: refusal == nil
                    ? Timestamp(milliseconds: try row.integer("due_at")) : nil,
                trouble: try row.optionalText("trouble"), refusal: refusal)
        }
        return WaitingProofs(account: account, proofs: proofs)
    }

    /// Asks the store about the kept proofs whose time has come. Returns how many were
    /// settled. Any number of processes may do this at once: each proof is leased, and
    /// booking is idempotent, so a process that dies in between costs a delay only.
    func settleProofs() async throws -> Int {
        // They wait for a process that has the merchant's key.
        guard let client, !client.places.isEmpty else { return 0 }
        let now = ports.wall.now
        let rows = try await storage.read {
            try $0.query(
                Statement.Waiting.due,
                [.integer(now.milliseconds), .integer(Int64(Self.settledMax))])
        }
        var count = 0
        for row in rows {
            try Task.checkCancellation()
            let proof = try WaitingProof(row)
            guard let key = proof.keptKey else { continue }
            let attempt = try row.integer("attempt")
            let until = ports.wall.now.adding(milliseconds: Self.leaseMilliseconds)
            let lease = try await storage.write {
                try $0.first(
                    Statement.Waiting.lease,
                    key + [.integer(attempt), .integer(until.milliseconds)])
            }
            guard lease != nil else { continue }
            if try await settle(proof, key + [.integer(attempt + 1)], Int(attempt + 1)) {
                count += 1
            }
        }
        return count
    }

    /// Settles a leased proof. Returns false if the store does not answer, or the proof is
    /// gone.
    private func settle(
        _ proof: WaitingProof, _ lease: [SQLValue], _ attempt: Int
    ) async throws -> Bool {
        do {
            switch proof.kind {
            case .transaction:
                tell("settled a proof", try await lookUp(proof, rule: .patient), "")
            case .receipt: _ = try await verify(proof, rule: .patient)
            }
        } catch is WaitingProofGone {
            return false
        } catch let refusal as LedgerRefusal where refusal.kind != .unavailable {
            try await refuse(lease, refusal.error.code)
            return true
        } catch let refusal as LedgerRefusal {
            let trouble = StoreTrouble(.unreachable, refusal.error.code)
            try await postpone(lease, attempt, trouble)
            return false
        } catch let trouble as StoreTrouble
            where trouble.kind == .unclear && attempt >= Self.unclearMax
        {
            try await refuse(lease, "proofInvalid")
            return true
        } catch let trouble as StoreTrouble {
            try await postpone(lease, attempt, trouble)
            return false
        }
        try await storage.write { try $0.execute(Statement.Waiting.settle, lease) }
        return true
    }

    private func refuse(_ lease: [SQLValue], _ code: String) async throws {
        ports.log("a kept proof was refused", ["code": code])
        try await storage.write {
            try $0.execute(Statement.Waiting.refuse, lease + [.text(code)])
        }
    }

    private func postpone(
        _ lease: [SQLValue], _ attempt: Int, _ trouble: StoreTrouble
    ) async throws {
        let now = ports.wall.now
        let next = max(WaitingProof.next(attempt, at: now), trouble.until ?? now)
        try await storage.write {
            try $0.execute(
                Statement.Waiting.postpone,
                lease + [.integer(next.milliseconds), .text(trouble.reason)])
        }
    }
}
