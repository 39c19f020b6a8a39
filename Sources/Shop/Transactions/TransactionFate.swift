// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// What happens to a transaction after its sale. Its facts stay; dates beside
/// them, and its record in receipts, show what happened.
extension TransactionFacts {
    /// Writes that the transaction grants nothing any more, in the customer's
    /// line. Returns the transaction as it is then, or nil if it was revoked
    /// before. Signed forms and receipts state it from then on, and devices read
    /// it again.
    func revoke(
        for reason: RevocationReason, as type: RevocationType? = nil, percentage: Int? = nil,
        _ line: CustomerLine
    ) throws -> TransactionFacts? {
        var revoked = self
        revoked.revokedAt = line.now
        revoked.revocationReason = reason.rawValue
        revoked.revocationType = type
        revoked.revocationPercentage = percentage
        revoked.revision = line.revision
        let row = try line.writing.first(
            Statement.Transactions.revoke,
            [
                .integer(customer.value), .integer(id.value), .integer(line.now.milliseconds),
                .integer(Int64(reason.rawValue)), .blob(revoked.record),
                .integer(line.revision), .optional(type?.rawValue),
                .optional(percentage.map(Int64.init)),
            ])
        return row == nil ? nil : revoked
    }

    /// Writes that a revocation was taken back.
    func reinstate(_ line: CustomerLine) throws {
        var restored = self
        (restored.revokedAt, restored.revocationReason) = (nil, nil)
        try line.writing.execute(
            Statement.Transactions.reinstate,
            [
                .integer(customer.value), .integer(id.value), .blob(restored.record),
                .integer(line.now.milliseconds), .integer(line.revision),
            ])
    }

    /// Writes that a subscription's period ends later, or was cut short. Its purchase
    /// date, which devices know, stays, also if that is later.
    /// `period`: as it is then. If its commitment ends at another date, too, that is written.
    func extend(
        to end: Timestamp, of period: SubscribedPeriod? = nil, _ line: CustomerLine
    ) throws {
        var extended = self
        extended.period?.expiresAt = end
        if let later = period?.commitmentEnd { extended.period?.commitment?.endsAt = later }
        try line.writing.execute(
            Statement.Transactions.extend,
            [
                .integer(customer.value), .integer(id.value), .integer(end.milliseconds),
                .blob(extended.record), .integer(line.now.milliseconds),
                .integer(line.revision), .optional(extended.period?.storedCommitment),
            ])
    }
}
