// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// What a trusted root has signed about the renewal of a subscription.
struct ProvenRenewal: Hashable, Sendable {
    let signedAt: Timestamp
    /// The end of the grace period. Nil if there is none.
    let graceUntil: Timestamp?

    /// Keeps it if nothing newer is known. Runs in the commit that books the
    /// purchase.
    func write(of purchase: ProvenPurchase, _ writing: any Writing) throws {
        let (key, facts) = (purchase.key, purchase.facts)
        try writing.execute(
            Statement.Grants.putRenewal,
            LedgerSchema.renewals.row([
                "root": .text(key.root), "environment": .text(key.environment.rawValue),
                "bundle_id": .text(key.bundleID),
                "original_transaction_id": .text(facts.originalTransactionID),
                "signed_at": .integer(signedAt.milliseconds),
                "grace_until": .optional(graceUntil?.milliseconds),
            ]))
    }

    /// Returns whether ``write(of:_:)`` would change nothing.
    func isWritten(of purchase: ProvenPurchase, _ reading: any Reading) throws -> Bool {
        let kept = try reading.first(Statement.Grants.renewal, purchase.subscriptionValues)
        guard let kept else { return false }
        let keptAt = try kept.integer("signed_at")
        guard keptAt == signedAt.milliseconds else { return keptAt > signedAt.milliseconds }
        // The rule of `putRenewal`.
        let keptUntil = try kept.optionalInteger("grace_until") ?? 0
        return keptUntil <= graceUntil?.milliseconds ?? 0
    }
}
