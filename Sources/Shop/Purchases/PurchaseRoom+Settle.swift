// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Work

extension PurchaseRoom {
    /// Continues a purchase that is `authorising`: calls the processor and
    /// writes its answer. Without an answer, the purchase stays unchanged. It
    /// is settled by the next request for it, at the next start, or by a
    /// worker, whichever comes first.
    ///
    /// No database transaction is open during the call. Only the process that
    /// has leased the purchase's errand makes it.
    func settle(
        _ commit: PurchaseCommit, _ outcome: PurchaseOutcome, _ context: RequestContext
    ) async throws -> PurchaseOutcome {
        guard realm.processor != nil, outcome.state == .authorising else { return outcome }
        guard let errand = try await held(outcome, commit) else { return outcome }
        do { return try await settle(commit, outcome, errand, context) } catch is Errands.LeaseLost
        {
            realm.ports.log(.warning, "a processor's answer came after its lease", context)
            return outcome
        }
    }

    /// Settles as the holder of the errand. Throws ``Errands/LeaseLost`` if
    /// another process has taken it over. Nothing was written then.
    func settle(
        _ commit: PurchaseCommit, _ outcome: PurchaseOutcome, _ errand: Errand,
        _ context: RequestContext
    ) async throws -> PurchaseOutcome {
        guard let processor = realm.processor, let charge = outcome.charge else { return outcome }
        guard let said = await realm.said(of: charge, errand, by: processor, context) else {
            try await putOff(errand)
            realm.ring(errand.customer)
            return outcome
        }
        do {
            return try await finish(errand, of: commit, context) { try commit.settle(said, $0) }
                .answer
        } catch let fault as StorageFault {
            return try await unwritten(fault, said, commit, charge, errand, context)
        }
    }

    /// Settles the purchases and renewals that an earlier process left, whether they are due
    /// or not. Called at start. What cannot be settled is retried when it is
    /// due.
    func settleAll(_ context: RequestContext) async throws {
        guard realm.processor != nil else { return }
        try await realm.eachCluster(
            ifAway: "what a cluster's customers owe is not settled yet", context
        ) { try await settleAll(in: $0, context) }
    }

    private func settleAll(in cluster: Int, _ context: RequestContext) async throws {
        for kind in [SettleErrands.asked, VoidErrands.kind, WorkKind.renewal] {
            var last: [SQLValue] = [.integer(-1), .text("")]
            while true {
                let values = [.text(kind)] + last + [.integer(Self.settlePage)]
                let rows = try await realm.read(in: cluster) {
                    try $0.query(Statement.Errands.page, values)
                }
                for row in rows {
                    guard !Task.isCancelled else { return }
                    let customer = CustomerID(try row.integer("customer_id"))
                    let subject = try row.text("subject")
                    await settleLeft(kind, subject, of: customer, context)
                    last = [.integer(customer.value), .text(subject)]
                }
                if rows.count < Int(Self.settlePage) { break }
            }
        }
    }

    /// Settles one purchase. If the database does not answer, this affects
    /// neither other purchases nor the start. A worker will try again.
    private func settleLeft(
        _ kind: String, _ subject: String, of customer: CustomerID, _ context: RequestContext
    ) async {
        do {
            try await realm.settle(kind, subject, customer)
        } catch {
            realm.ports.log(
                .error, "what was left is not settled yet", context,
                ["kind": kind, "customer": customer.description, "fault": "\(error)"])
        }
    }

    /// The number of errands on one page at start.
    static let settlePage: Int64 = 100

    /// Returns the commits of a purchase that an earlier call began.
    func commit(of row: PurchaseRow) async throws -> PurchaseCommit {
        let shelf = try await realm.loadShelf(for: row.key.customer)
        let values: [SQLValue] = [
            .integer(row.key.customer.value), .text(row.key.bundleID.value),
        ]
        let account = try await realm.read(of: row.key.customer) {
            try $0.first(Statement.Purchases.appAccount, values)?.integer("app_transaction_id")
        }
        guard shelf.apps[row.key.bundleID] != nil, let account else {
            throw StorageFault(.malformedRow, "a purchase in an app that is gone")
        }
        let evidence = try await evidence(
            for: row.payment, row.key, appTransactionID: account, isAsked: true)
        let number = try await realm.newNumber(.transaction, bucket: row.key.customer.bucket)
        return PurchaseCommit(
            key: row.key, payment: row.payment, tokenHash: nil, transactionNumber: number,
            notificationUUID: realm.uuid(for: "notification/ONE_TIME_CHARGE/\(number)"),
            subscriptions: realm.subscriptions.commit,
            appTransactionID: account, evidence: evidence, authoriser: realm.authoriserKind,
            mayHaveLostCharges: realm.mayHaveLostCharges, realmID: realm.description.id,
            shelf: shelf, wall: realm.ports.wall.now, leases: realm.leases)
    }

    func purchaseRow(_ key: PurchaseKey) async throws -> PurchaseRow? {
        let values = key.values
        return try await realm.read(of: key.customer) { reading in
            try reading.first(Statement.Purchases.one, values).flatMap {
                try PurchaseRow($0, key: key)
            }
        }
    }

    /// Returns the errand of this call's own commit, or takes one without a
    /// lease.
    private func held(
        _ outcome: PurchaseOutcome, _ commit: PurchaseCommit
    ) async throws -> Errand? {
        if let errand = outcome.errand { return errand }
        return try await realm.take(
            SettleErrands.asked, commit.key.subject, of: commit.key.customer)
    }

    /// Writes what became of a purchase, and removes its errand in the same commit.
    /// The answer of a processor is written even if the caller is cancelled.
    func finish(
        _ errand: Errand, of commit: PurchaseCommit, _ context: RequestContext,
        _ body: @escaping @Sendable (CustomerLine) throws -> Ending<PurchaseOutcome>
    ) async throws -> Ending<PurchaseOutcome> {
        let ending = try await realm.uncancelledLine(
            of: errand.customer, asking: commit.question
        ) { line in
            let ending = try body(line)
            if case .commit = ending {
                try Errands.settle(errand, RealmReport(.done), line.writing)
            }
            return ending
        }
        if case .commit(let outcome) = ending {
            committed(outcome, commit.key, commit.payment, context)
        }
        return ending
    }

    /// Puts an errand off until its next attempt, even if the caller is cancelled.
    func putOff(_ errand: Errand) async throws {
        let wall = realm.ports.wall.now
        try await realm.uncancelledBookkeeping(of: errand.customer) { writing in
            let now = try Realm.now(writing, wall: wall)
            try Errands.settle(errand, RealmReport.retry(errand, at: now), writing)
        }
    }
}
