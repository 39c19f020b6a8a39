// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Work

/// Owes that families get what their people buy.
enum FamilyDebt {
    /// Adds the errand for what this commit changes of the customer's purchases, if
    /// the customer was ever in a family. Each commit has an errand of its own, because
    /// one that is under way may have read the state before. Returns whether there is
    /// work.
    @discardableResult
    static func owe(_ line: CustomerLine) throws -> Bool {
        guard line.familyRevision != nil else { return false }
        try Errands.add(
            kind: WorkKind.family, subject: "\(line.revision)", lane: WorkKind.familyLane,
            dueAt: line.owedNow, customer: line.customer, line.writing)
        line.followUps?.set()
        return true
    }

    /// Removes the errands of all commits up to a revision, which was read before the
    /// customer's state was followed. What another worker runs stays.
    static func settle(
        _ customer: CustomerID, through revision: Int64, _ writing: any Writing
    ) throws {
        try writing.execute(
            Statement.FamilyDebts.settle,
            [.integer(customer.value), .text(WorkKind.family), .integer(revision)])
    }

    /// Adds the errand that goes over all families, at the home. `cause` names the
    /// commit that makes it necessary.
    static func oweSweep(_ cause: String, at now: Timestamp, _ writing: any Writing) throws {
        guard try writing.first(Statement.FamilyDebts.anyone) != nil else { return }
        try Errands.add(
            kind: WorkKind.familySweep, subject: cause, lane: WorkKind.familyLane, dueAt: now,
            customer: OwedNotification.nobody, writing)
    }
}

extension HouseLine {
    /// Owes every family what may be shared since this change of the catalogue.
    func sweepFamilies() throws {
        guard let row = try writing.first(Statement.Houses.realm) else { return }
        try FamilyDebt.oweSweep(
            "catalogue/\(try row.integer("catalogue_revision"))",
            at: try Realm.now(writing, wall: wall), writing)
    }
}

extension Statement {
    enum FamilyDebts {
        static let anyone = Statement(
            "families.anyone", [],
            "SELECT customer_id FROM family_people WHERE organiser_id IS NOT NULL LIMIT 1")

        static let settle = Statement(
            "families.settle", [.integer, .text, .integer],
            """
            DELETE FROM errands
            WHERE customer_id = $1 AND kind = $2 AND lease_until IS NULL
                AND CASE WHEN kind = $2 THEN CAST(subject AS BIGINT) END <= $3
            """)

        static let all = [anyone, settle]
    }
}
