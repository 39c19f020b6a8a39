// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Synchronization
import Work

/// Inner work: the next step of a subscription, such as its renewal.
struct SubscriptionWork: DueWorkHandler {
    var kind: String { WorkKind.subscription }
    /// A year's period that was extended for a year.
    var longestMilliseconds: Int64 { 2 * 366 * 86_400_000 }

    func prepare(_ work: DueWork, in realm: Realm) async throws -> any DueWorkCommit<CustomerLine> {
        try await prepare(work, try await realm.loadShelf(for: work.customer), in: realm)
    }

    /// Reads the catalogue once for all of them.
    func prepare(
        _ works: [DueWork], in realm: Realm
    ) async throws -> [any DueWorkCommit<CustomerLine>] {
        guard let first = works.first else { return [] }
        let shelf = try await realm.loadShelf(for: first.customer)
        var commits: [any DueWorkCommit<CustomerLine>] = []
        for work in works { commits.append(try await prepare(work, shelf, in: realm)) }
        return commits
    }

    private func prepare(
        _ work: DueWork, _ shelf: Shelf, in realm: Realm
    ) async throws -> SubscriptionStepCommit {
        let number = try await realm.newNumber(.transaction, bucket: work.customer.bucket)
        return SubscriptionStepCommit(realm, shelf, number)
    }
}

/// One step, with everything drawn that it may need.
private final class SubscriptionStepCommit: DueWorkCommit {
    private let realm: Realm
    private let shelf: Shelf
    /// The number of the transaction if the step sells a period.
    private let number: Int64
    private let isNumberUsed = Mutex(false)

    init(_ realm: Realm, _ shelf: Shelf, _ number: Int64) {
        (self.realm, self.shelf, self.number) = (realm, shelf, number)
    }

    /// A step depends on the customer's subscription, charges and transactions, on what is
    /// sold, and on the clock's pace and jump.
    var isForeseeable: Bool { true }

    func question(_ work: DueWork) -> BoundStatement? {
        Int64(work.subject).map {
            BoundStatement(
                Statement.Subscriptions.one, [.integer(work.customer.value), .integer($0)])
        }
    }

    func write(_ work: DueWork, _ line: CustomerLine, answer: [Row]) throws {
        guard let found = answer.first else {
            throw StorageFault(.malformedRow, "a step of no subscription")
        }
        let row = try SubscriptionRow(row: found)
        let commit = realm.subscriptions.commit
        guard let step = row.subscription.nextStep(commit.rules), step.at <= work.dueAt else {
            // The work was brought forward when a clock was set back.
            return try commit.schedule(row, after: work.dueAt, line)
        }
        let context = try RenewalContext(
            row, shelf, line, at: work.dueAt, isCharged: realm.chargesRenewals)
        let facts = context.facts(newID: TransactionID(number))
        if commit.asksProcessor,
            let charge = RenewalCharge(step.kind, of: row.subscription, facts, at: work.dueAt)
        {
            return try commit.ask(charge, of: row, in: context.storefront, line)
        }
        let events = row.subscription.events(of: step.kind, facts, at: work.dueAt)
        isNumberUsed.withLock { $0 = events.contains { $0.change.sold != nil } }
        try commit.write(events, to: row, line, hasURL: context.hasURL) { period in
            context.transaction(period, line)
        }
    }

    func finish(isWritten: Bool) {
        if isWritten, realm.processor != nil { realm.ringAll() }
        guard !isWritten || !isNumberUsed.withLock({ $0 }) else { return }
        realm.giveBack(number)
    }
}

extension SubscriptionRoom {
    var commit: SubscriptionCommit {
        SubscriptionCommit(
            rules: realm.renewalRules, asksProcessor: realm.processor != nil,
            realmID: realm.description.id
        ) { [realm] in realm.uuid(for: $0) }
    }
}

/// What the renewal of a subscription depends on, read in the customer's line.
struct RenewalContext {
    var row: SubscriptionRow
    var storefront: Storefront
    let plan: SubscriptionPlan?
    let grace: GracePeriod
    /// Whether the customer can be charged.
    let canBill: Bool
    let at: Timestamp
    /// How long the next period lasts. Nil in the calendar.
    let tempo: Tempo?
    /// How often the app's subscriptions renew at most.
    let renewalsMax: Int?
    /// Whether the app receives notifications.
    let hasURL: Bool
    private let shelf: Shelf

    /// `isCharged`: see ``Realm/chargesRenewals``. Where nothing is charged,
    /// renewals fail.
    init(
        _ row: SubscriptionRow, _ shelf: Shelf, _ line: CustomerLine, at: Timestamp,
        isCharged: Bool
    ) throws {
        let shelf = try shelf.current(in: line)
        self.shelf = shelf
        guard let app = shelf.apps[row.bundleID],
            let storefront = Storefront.named(line.account.storefront ?? app.storefront)
        else { throw StorageFault(.malformedRow, "a subscription in an app that is gone") }
        self.row = row
        self.storefront = storefront
        self.at = at
        plan = shelf.plan(
            row.subscription.renewal.productID,
            isCommitted: row.subscription.renewal.isCommitted, of: row.bundleID, in: storefront,
            at: max(at, row.subscription.end))
        grace = app.grace
        tempo = line.tempo
        renewalsMax = app.renewalsMax
        canBill = isCharged && line.account.mayBuy && !app.settings.failsRenewals
        hasURL = app.notificationURL != nil
    }

    /// What the present product would cost the customer anew by the present billing plan,
    /// also if another one was chosen. Nil if it is not sold.
    var listedPrice: Money? {
        let known = row.subscription
        return shelf.plan(
            known.current.productID, isCommitted: known.isPaidInParts,
            of: row.bundleID, in: storefront, at: max(at, known.end))?.price
    }

    /// Another product as it is sold to the customer now. Nil if it is not.
    func plan(_ product: ProductID) -> SubscriptionPlan? {
        shelf.plan(product, of: row.bundleID, in: storefront, at: at)
    }

    /// A customer who may not buy is not charged either.
    func facts(newID: TransactionID) -> RenewalFacts {
        RenewalFacts(
            plan: plan, canBill: canBill && !row.failsBilling,
            grace: grace, newID: newID, tempo: tempo, renewalsMax: renewalsMax)
    }

    /// The transaction of a period that a step sells.
    func transaction(_ period: SubscribedPeriod, _ line: CustomerLine) -> TransactionFacts {
        TransactionFacts(
            customer: row.customer, id: period.transaction,
            originalID: row.subscription.originalID, bundleID: row.bundleID,
            productID: period.productID, type: .autoRenewable, quantity: 1,
            unitPrice: period.price.amount, total: period.price,
            storefront: storefront.countryCode, reason: .renewal, ownership: .purchased,
            appAccountToken: row.appAccountToken, appTransactionID: row.appTransactionID,
            purchaseID: nil, purchasedAt: period.start, originalPurchasedAt: row.beganAt,
            revision: line.revision, changedAt: at,
            period: PeriodFacts(period, groupID: row.subscription.groupID))
    }
}

extension Shelf {
    /// Returns this catalogue, or the one of the line's commit if that is newer.
    func current(in line: CustomerLine) throws -> Shelf {
        line.catalogueRevision == revision ? self : try Shelf(reading: line.writing)
    }
}
