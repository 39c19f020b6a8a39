// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Work

/// Asks the payment processor to charge a renewal, and writes the answer. Each
/// call contains the charge's key, so a repeated call has no effect.
///
/// If the database rejects an answer, the errand gets the kind `renewalUnwritten`,
/// and an operator can see it. It is retried as often as the settlement of a
/// purchase. Then the sum is given back, and the renewal counts as declined.
struct RenewalErrands: ErrandHandler {
    let processor: any Authoriser
    var kind = WorkKind.renewal

    private var isSetAside: Bool { kind == WorkKind.renewalUnwritten }
    /// The subscription's next step depends on the answer. A jump does not wait for
    /// one that cannot be written.
    var holdsUpDueWork: Bool { !isSetAside }

    static func handlers(_ processor: any Authoriser) -> [any ErrandHandler<Realm>] {
        [
            RenewalErrands(processor: processor),
            RenewalErrands(processor: processor, kind: WorkKind.renewalUnwritten),
            RenewalDebtErrands(
                kind: WorkKind.renewalCapture, state: .sold,
                statement: Statement.RenewalCharges.setCaptured
            ) { try await processor.capture($0) },
            RenewalDebtErrands(
                kind: WorkKind.renewalVoid, state: .dropped,
                statement: Statement.RenewalCharges.setVoided
            ) { try await processor.void($0) },
        ]
    }

    func perform(_ errand: Errand, in realm: Realm) async throws -> RealmReport {
        let asked = try await realm.subscriptions.charge(of: errand)
        guard let asked, asked.row.state == .asked else { return ErrandReport(.done) }
        let charge = asked.row.charge(in: realm.description.id, of: asked.app)
        guard let said = await realm.said(of: charge, errand, by: processor, nil) else {
            return .retry(errand, at: try await realm.now(for: errand.customer))
        }
        do {
            try await realm.subscriptions.settle(asked.row.key, said, errand)
        } catch let fault as StorageFault where fault.isRefusal {
            realm.ports.log(
                .error, "the answer to a renewal cannot be written", nil,
                ["charge": charge.key, "attempt": "\(errand.attempt)", "fault": "\(fault)"])
            return try await unwritten(said, asked.row.key, charge, errand, realm)
        }
        return ErrandReport(.settled(isDone: true))
    }

    private func unwritten(
        _ said: ChargeOutcome, _ key: RenewalChargeKey, _ charge: Charge, _ errand: Errand,
        _ realm: Realm
    ) async throws -> RealmReport {
        let now = try await realm.now(for: errand.customer)
        guard isSetAside else {
            let due = RetryTimetable.processor.nextForEver(afterAttempts: 1, at: now)
            return ErrandReport(.done) { writing in
                try Errands.add(
                    kind: WorkKind.renewalUnwritten, subject: errand.subject,
                    lane: errand.lane, dueAt: due, customer: errand.customer, writing)
            }
        }
        guard errand.attempt >= RetryTimetable.processor.attemptsMax, case .approved = said else {
            return .retry(errand, at: now)
        }
        try await realm.subscriptions.settle(key, said, errand, isGivenBack: true)
        realm.ports.log(
            .error, "a sum is given back, since its renewal cannot be written", nil,
            ["charge": charge.key])
        return ErrandReport(.settled(isDone: true))
    }
}

/// Captures or voids the sum of a renewal.
struct RenewalDebtErrands: ErrandHandler {
    let kind: String
    /// The state of a charge that owes it.
    let state: RenewalChargeState
    /// Writes its date.
    let statement: Statement
    let call: @Sendable (_ charge: String) async throws -> Void

    func perform(_ errand: Errand, in realm: Realm) async throws -> RealmReport {
        let owed = try await realm.subscriptions.charge(of: errand)
        guard let owed, owed.row.state == state else {
            realm.ports.log(
                .error, "an errand contradicts its renewal, and is dropped", nil,
                ["kind": kind, "customer": "\(errand.customer)", "charge": errand.subject])
            return ErrandReport(.done)
        }
        let charge = owed.row.key.charge(in: realm.description.id, of: owed.app)
        do { try await call(charge) } catch is CancellationError {
            throw CancellationError()
        } catch {
            realm.ports.log(
                .warning, "the payment processor gave no answer", nil,
                ["kind": kind, "charge": charge])
            return .retry(errand, at: try await realm.now(for: errand.customer))
        }
        let (statement, values) = (statement, owed.row.key.values)
        return ErrandReport(
            .done,
            inLine: { line in
                try line.writing.execute(statement, values + [.integer(line.now.milliseconds)])
            })
    }
}

extension SubscriptionRoom {
    /// Returns the charge that an errand is about, with its app. Nil if it is gone.
    fileprivate func charge(
        of errand: Errand
    ) async throws -> (row: RenewalChargeRow, app: BundleID)? {
        let key = try Self.key(of: errand)
        return try await realm.read(of: key.customer) { reading in
            guard let row = try RenewalChargeRow.find(key, reading),
                let subscription = try SubscriptionRow.find(
                    key.subscription, of: key.customer, reading)
            else { return nil }
            return (row, subscription.bundleID)
        }
    }

    private static func key(of errand: Errand) throws -> RenewalChargeKey {
        guard
            let key = RenewalChargeKey(customer: errand.customer, subject: errand.subject)
        else { throw StorageFault(.malformedRow, "an errand that names no renewal") }
        return key
    }

    /// Writes the processor's answer and removes its errand in the same commit,
    /// even if the caller is cancelled. Throws ``Errands/LeaseLost`` if another
    /// process has taken the errand over. Nothing was written then. `isGivenBack`:
    /// see ``SubscriptionCommit/settle(_:_:as:isGivenBack:_:_:_:)``.
    fileprivate func settle(
        _ key: RenewalChargeKey, _ said: ChargeOutcome, _ errand: Errand,
        isGivenBack: Bool = false
    ) async throws {
        let shelf = try await realm.loadShelf(for: key.customer)
        let number = try await realm.newNumber(.transaction, bucket: key.customer.bucket)
        let id = TransactionID(number)
        let commit = commit
        let isSold: Bool
        // After a fault it is unknown what was written, so nothing is given back.
        do {
            isSold = try await realm.uncancelledLine(of: key.customer) { line -> Ending<Bool> in
                try Errands.settle(errand, RealmReport(.done), line.writing)
                guard let asked = try RenewalChargeRow.find(key, line.writing),
                    asked.state == .asked,
                    let row = try SubscriptionRow.find(
                        key.subscription, of: key.customer, line.writing)
                else { return .commit(false) }
                return .commit(
                    try commit.settle(
                        asked, said, as: id, isGivenBack: isGivenBack, row, shelf, line))
            }.answer
        } catch let lost as Errands.LeaseLost {
            realm.giveBack(number)
            throw lost
        }
        if !isSold { realm.giveBack(number) }
        realm.wake(key.customer)
        realm.ring(key.customer)
    }
}
