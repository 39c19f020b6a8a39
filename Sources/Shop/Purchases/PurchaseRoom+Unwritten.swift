// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Work

/// Settlements that cannot be written: the processor has answered, but the
/// database rejects the row.
extension PurchaseRoom {
    /// How often a settlement that the database rejects is tried before the sum
    /// is given back. With the pauses of ``RetryTimetable/processor`` this
    /// takes more than an hour.
    static let unwrittenAttemptsMax = RetryTimetable.processor.attemptsMax

    /// Handles a settlement that could not be written. Throws the fault.
    ///
    /// If the database did not answer, the errand is postponed. If it rejected
    /// the rows, an immediate retry would only call the processor again for
    /// nothing. The errand then gets the kind `unwritten`, which callers do not
    /// take and operators can see. It is retried a few times. Then the sum is
    /// given back and the purchase is refused and returned.
    func unwritten(
        _ fault: StorageFault, _ said: ChargeOutcome, _ commit: PurchaseCommit, _ charge: Charge,
        _ errand: Errand, _ context: RequestContext
    ) async throws -> PurchaseOutcome {
        let (isSetAside, customer) = (errand.kind == SettleErrands.unwritten, errand.customer)
        guard fault.isRefusal else {
            try? await putOff(errand)
            throw fault
        }
        realm.ports.log(
            .error, "a settlement cannot be written", context,
            [
                "charge": charge.key,
                "attempt": "\(errand.attempt)",
                "fault": "\(fault)",
            ])
        if isSetAside, errand.attempt >= Self.unwrittenAttemptsMax,
            case .approved(let reference) = said
        {
            return try await giveBack(commit, charge, reference, errand, context)
        }
        if isSetAside {
            try? await putOff(errand)
        } else {
            try? await setAside(errand, commit)
        }
        realm.ring(customer)
        throw fault
    }

    /// Replaces the errand by one of the kind `unwritten`.
    private func setAside(_ errand: Errand, _ commit: PurchaseCommit) async throws {
        let wall = realm.ports.wall.now
        try await realm.uncancelledBookkeeping(of: errand.customer) { writing in
            let now = try Realm.now(writing, wall: wall)
            try Errands.settle(errand, RealmReport(.done), writing)
            let due = RetryTimetable.processor.nextForEver(afterAttempts: 1, at: now)
            try commit.owe(SettleErrands.unwritten, due, writing)
        }
    }

    private func giveBack(
        _ commit: PurchaseCommit, _ charge: Charge, _ reference: String, _ errand: Errand,
        _ context: RequestContext
    ) async throws -> PurchaseOutcome {
        let ending = try await finish(errand, of: commit, context) {
            try commit.giveBack(reference, $0)
        }
        if case .commit = ending {
            realm.ports.log(
                .error, "a sum is given back, since its sale cannot be written", context,
                ["charge": charge.key])
        }
        return ending.answer
    }
}
