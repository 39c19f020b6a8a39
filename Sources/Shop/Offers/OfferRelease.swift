// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Work

/// Releases the code of a payment that has failed, so that somebody else can
/// redeem it. An errand, because codes are at the home and the payment may be in
/// another cluster.
struct OfferRelease: ErrandHandler {
    var kind: String { WorkKind.offerRelease }
    var isFollowUp: Bool { true }

    /// Adds the errand in the commit that refuses a payment. `subject` names the
    /// purchase among its customer's: `app/purchase`.
    static func owe(_ subject: String, _ line: CustomerLine) throws {
        try Errands.add(
            kind: WorkKind.offerRelease, subject: subject, lane: WorkKind.offersLane,
            dueAt: line.owedNow, customer: line.customer, line.writing)
        line.followUps?.set()
    }

    func perform(_ errand: Errand, in realm: Realm) async throws -> RealmReport {
        guard let slash = errand.subject.lastIndex(of: "/") else {
            throw StorageFault(.malformedRow, "an errand that names no purchase")
        }
        let values: [SQLValue] = [
            .integer(errand.customer.value), .text(String(errand.subject[..<slash])),
            .text(String(errand.subject[errand.subject.index(after: slash)...])),
        ]
        try await realm.bookkeepingAtHome {
            .commit(try $0.execute(Statement.Offers.release, values))
        }
        return ErrandReport(.done)
    }
}
