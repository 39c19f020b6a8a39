// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Synchronization

extension Realm {
    /// Purchases settled at start in one page.
    private static let settlePage: Int64 = 100

    /// Brings a purchase on that a processor has to do with: asks for the
    /// charge, writes what the processor said, gives back what is owed. An
    /// answer that does not come leaves it as it is, to be settled when it
    /// is asked for again or at the next start.
    ///
    /// No database transaction is open while the processor is spoken to, and
    /// of one process only one call speaks about one charge at a time.
    func settle(
        _ commit: PurchaseCommit, _ outcome: PurchaseOutcome, _ context: RequestContext
    ) async throws -> PurchaseOutcome {
        guard let processor else { return outcome }
        let chargeKey = commit.key.charge(in: description.id)
        guard charging.withLock({ $0.insert(chargeKey).inserted }) else { return outcome }
        defer { _ = charging.withLock { $0.remove(chargeKey) } }
        var outcome = outcome
        if outcome.state == .authorising, let charge = outcome.charge {
            guard let said = await said(of: charge, isNew: outcome.isNew, processor, context)
            else { return outcome }
            outcome = try await write(said, commit, context)
        }
        if outcome.isVoidOwed { try await void(commit.key, processor, context) }
        return outcome
    }

    /// Settles whatever an earlier process left: called at start.
    func settleAll(_ context: RequestContext) async throws {
        guard processor != nil else { return }
        var last: [SQLValue] = [.integer(0), .text(""), .text("")]
        while true {
            let values = last + [.integer(Self.settlePage)]
            let rows = try await storage.read { reading in
                try reading.query(Statement.Purchases.unsettled, values).map(Self.unsettled)
            }
            for case let row? in rows {
                try await settle(row, context)
                last = row.key.values
            }
            if rows.count < Int(Self.settlePage) { return }
        }
    }

    private static func unsettled(_ row: Row) throws -> PurchaseRow? {
        try PurchaseRow(
            row,
            key: PurchaseKey(
                customer: CustomerID(try row.integer("customer_id")),
                bundleID: BundleID(try row.text("bundle_id")),
                purchaseID: PurchaseID(try row.text("purchase_id"))))
    }

    private func settle(_ row: PurchaseRow, _ context: RequestContext) async throws {
        let shelf = try await loadShelf()
        let values: [SQLValue] = [
            .integer(row.key.customer.value), .text(row.key.bundleID.value),
        ]
        let account = try await storage.read {
            try $0.first(Statement.Purchases.appAccount, values)?.integer("app_transaction_id")
        }
        guard let app = shelf.apps[row.key.bundleID], let account,
            let storefront = Storefront.named(app.storefront)
        else { throw StorageFault(.malformedRow, "a purchase in an app that is gone") }
        let number = try await newNumber(.transaction, bucket: row.key.customer.bucket)
        let commit = PurchaseCommit(
            key: row.key, payment: row.payment, transactionNumber: number,
            notificationUUID: uuid(for: "notification/ONE_TIME_CHARGE/\(number)"),
            appTransactionID: account, storefront: storefront, authoriser: authoriserKind,
            realmID: description.id, shelf: shelf, wall: ports.wall.now)
        _ = try await settle(commit, commit.left(row), context)
    }

    /// What the processor says, or nil when it does not answer. A purchase
    /// begun by another call is asked about before it is charged: under the
    /// same key, and only where the processor has never heard of it.
    private func said(
        of charge: Charge, isNew: Bool, _ processor: any Authoriser, _ context: RequestContext
    ) async -> ChargeOutcome? {
        do {
            if !isNew, let said = try await processor.outcome(of: charge.key) { return said }
            return try await processor.authorise(charge)
        } catch {
            ports.log(
                .warning, "the payment processor gave no answer", context,
                ["charge": charge.key])
            return nil
        }
    }

    private func write(
        _ said: ChargeOutcome, _ commit: PurchaseCommit, _ context: RequestContext
    ) async throws -> PurchaseOutcome {
        do {
            let outcome = try await storage.write { try commit.settle(said, $0) }
            committed(outcome, commit.key, context)
            return outcome
        } catch let before as AskedBefore {
            return before.outcome
        }
    }

    /// Gives a sum back; still owed when the processor does not answer.
    private func void(
        _ key: PurchaseKey, _ processor: any Authoriser, _ context: RequestContext
    ) async throws {
        do { try await processor.void(key.charge(in: description.id)) } catch {
            ports.log(
                .warning, "the payment processor did not give a sum back", context,
                ["charge": key.charge(in: description.id)])
            return
        }
        let owner: [SQLValue] = [.integer(key.customer.value)]
        try await storage.write { writing in
            _ = try writing.first(Statement.Customers.line, owner)
            try writing.execute(Statement.Purchases.clearVoid, key.values)
        }
    }
}
