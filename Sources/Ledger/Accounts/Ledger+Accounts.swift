// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// What accounts have to do with each other.
extension Ledger {
    /// Presents a purchase that may belong to another account. The ledger's policy
    /// (``AccountRules/restore``) decides. It is one commit, in the lines of both
    /// accounts: what was redeemed stays redeemed, and credits' books balance.
    ///
    /// A purchase with an app account token is restored to that account only. One that the
    /// store has revoked is kept by the account that has it, until that is taken back. What
    /// the store has signed since is booked for the account that has the purchase, also if the
    /// restore is refused then. A dry run does the same and undoes it. Refusals, in order:
    /// as for a signed transaction up to `purchaseContradicts`, `accountMerged`,
    /// `accountContradicts`, `restoreRefused`, `purchaseReserved`, `creditsOwed`,
    /// `sharesTooMany`.
    public func restore(
        _ request: RestoreRequest, account: String, requestID: String = ""
    ) async throws -> RestoreOutcome {
        let account = try Edge.account(account)
        let proven = try prover.purchase(request.signedTransaction, wall: ports.wall.now)
        try await ports.status?.admit(request.signedTransaction, "signedTransaction")
        let wish = RestoreWish(
            booking: booking(proven, account: nil, at: ports.wall.now), account: account,
            policy: configuration.accounts.restore)
        if request.dryRun == true { return try await rehearse(wish) }
        _ = try await book(proven, by: .restore(to: account, proven))
        let outbox = outbox
        let id = proven.key.transactionID
        let claimed = note(.purchaseTaken, account: account, id)
        let restored = note(.restored, account: account, id, by: .account)
        let plan = try await commit { writing in
            let plan = try wish.carryOut(writing)
            switch plan.outcome {
            case .claimed: try claimed?.write(writing)
            case .transferred, .shared:
                guard plan.isChange else { break }
                try restored?.write(writing)
                try outbox.post(
                    .purchaseRestored, account: account, plan.wire(wish, isDryRun: false),
                    at: wish.now, writing)
            case .owned, .kept: break
            }
            return plan
        }
        if plan.isChange {
            for account in [plan.purchase.account, account] { news.tell(account, storage) }
            tell("restored a purchase", plan.purchase, requestID)
        }
        return plan.wire(wish, isDryRun: false)
    }

    /// Undoes a commit once it is known what it changes.
    private struct Rehearsal: Error {
        let plan: RestorePlan
    }

    private func rehearse(_ wish: RestoreWish) async throws -> RestoreOutcome {
        do {
            return try await storage.write { writing -> RestoreOutcome in
                throw Rehearsal(plan: try wish.carryOut(writing))
            }
        } catch let rehearsal as Rehearsal {
            return rehearsal.plan.wire(wish, isDryRun: true)
        }
    }

    /// Makes an account part of another, in one commit: its purchases, grants, credits,
    /// shares and waiting proofs become the other's, and later news for it go there. A
    /// repeat changes nothing. What it has redeemed and spent keeps its account and its
    /// idempotency keys, so a repeated redemption still gets its answer. Refusals:
    /// `textInvalid`, `mergeInvalid`, `mergeContradicts`, `accountMerged`,
    /// `accountReserved`.
    public func merge(
        _ request: MergeAccountRequest, account: String, requestID: String = ""
    ) async throws -> AccountMerge {
        let from = try Edge.account(account)
        let into = try Edge.account(request.into, "into")
        guard !from.isSame(as: into) else {
            throw LedgerRefusal(
                .badRequest, code: "mergeInvalid", "An account is no part of itself.",
                field: "into", rule: "another account", remedy: "name the account that stays")
        }
        let now = ports.wall.now
        let outbox = outbox
        let note = note(.merged, account: into, "from \(from)")
        let (merge, isNew) = try await commit { writing in
            let merged = try Self.merge(from, into, at: now, writing)
            if merged.isNew {
                try note?.write(writing)
                try outbox.post(
                    .accountMerged, account: into, merged.merge, at: now, writing)
            }
            return merged
        }
        if isNew {
            for account in [from, into] { news.tell(account, storage) }
            ports.log("merged an account", ["requestId": requestID])
        }
        return merge
    }

    /// Runs in a commit, possibly twice.
    private static func merge(
        _ from: String, _ into: String, at now: Timestamp, _ writing: any Writing
    ) throws -> (merge: AccountMerge, isNew: Bool) {
        let revision = try Merges.lock([from, into], writing)[AccountName(into)] ?? 0
        if let row = try writing.first(Statement.Merges.into, [.text(from)]) {
            let known = try row.text("into_account")
            guard known.isSame(as: into) else {
                throw LedgerRefusal(
                    .conflict, code: "mergeContradicts",
                    "This account became part of another one already.", field: "into",
                    rule: "an account becomes part of one other", remedy: "name \(known)")
            }
            let date = Timestamp(milliseconds: try row.integer("merged_at"))
            return (AccountMerge(account: from, into: into, mergedDate: date), false)
        }
        try Merges.refuse(into, writing)
        try Merges.refuseReserved(from, at: now, writing)
        for row in try writing.query(Statement.Moves.credits, [.text(from)]) {
            try MovedCredits(row).move(from: from, to: into, at: now, writing)
        }
        let both: [SQLValue] = [.text(from), .text(into)]
        let originals = try Original.move(from: from, to: into, writing)
        try writing.execute(Statement.Moves.allPurchases, both + [.integer(revision)])
        try writing.execute(Statement.Moves.allGrants, both)
        try writing.execute(Statement.Shares.move, both)
        try writing.execute(Statement.Shares.removeAll, [.text(from)])
        try writing.execute(Statement.Shares.removeOwn, [.text(into)])
        try writing.execute(Statement.Merges.moveProofs, both)
        try writing.execute(Statement.Merges.removeProofs, [.text(from)])
        try writing.execute(Statement.Merges.move, both)
        try writing.execute(Statement.Merges.insert, both + [.integer(now.milliseconds)])
        try Original.touch(originals, writing)
        return (AccountMerge(account: from, into: into, mergedDate: now), true)
    }
}
