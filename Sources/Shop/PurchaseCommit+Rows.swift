// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// The rows that a purchase's commits write.
extension PurchaseCommit {
    func transaction(
        selling total: Money, _ line: Row, _ row: Row, _ reading: any Reading,
        _ revision: Int64, _ now: Timestamp
    ) throws -> TransactionFacts {
        guard
            let product = try shelf(row, reading).offered(
                payment.productID, of: key.bundleID, in: try storefront(line, row, reading),
                at: now)
        else { throw StorageFault(.malformedRow, "a product that was decided on and is gone") }
        return TransactionFacts(
            customer: key.customer, id: TransactionID(transactionNumber),
            originalID: TransactionID(transactionNumber), bundleID: key.bundleID,
            productID: product.id, type: product.type, quantity: payment.quantity,
            unitPrice: product.price, total: total,
            storefront: try storefront(line, row, reading).countryCode,
            appAccountToken: payment.appAccountToken?.text, appTransactionID: appTransactionID,
            purchaseID: key.purchaseID, purchasedAt: now, originalPurchasedAt: now,
            revision: revision)
    }

    /// The moment of sale: the transaction, and the notification it owes.
    /// Tells whether there is somebody to send it to.
    func write(
        _ sold: TransactionFacts, _ row: Row, _ writing: any Writing
    ) throws -> Bool {
        let hasURL = try shelf(row, writing).apps[sold.bundleID]?.notificationURL != nil
        try writing.execute(Statement.Transactions.insert, sold.values)
        let owed = OwedNotification(
            customer: sold.customer, cause: "\(NotificationKind.oneTimeCharge)/\(sold.id)",
            uuid: notificationUUID, type: NotificationKind.oneTimeCharge,
            bundleID: sold.bundleID, transaction: sold.id, revision: sold.revision,
            owedAt: sold.purchasedAt)
        try owed.write(writing, hasURL: hasURL)
        return hasURL
    }

    func transaction(
        _ id: TransactionID, _ reading: any Reading
    ) throws -> TransactionFacts {
        let values: [SQLValue] = [.integer(key.customer.value), .integer(id.value)]
        guard let row = try reading.first(Statement.Transactions.one, values) else {
            throw StorageFault(.malformedRow, "a purchase whose transaction is gone")
        }
        return try TransactionFacts(row: row)
    }

    func record(
        _ state: PurchaseState, _ writing: any Writing, _ revision: Int64, _ now: Timestamp,
        total: Money? = nil, transaction: TransactionFacts? = nil
    ) throws -> PurchaseOutcome {
        let decided = state.isDecided ? now : nil
        try writing.execute(
            Statement.Purchases.insert,
            key.values + [
                .text(payment.productID.value), .integer(Int64(payment.quantity)),
                .integer(payment.shownUnitPrice.amount.milliunits),
                .text(payment.shownUnitPrice.currency.code),
                .optional(payment.applicationUsername), .optional(payment.replaces?.value),
                .text(state.word), .optional(state.refusal?.rawValue),
                .optional(transaction?.id.value), .optional(total?.amount.milliunits),
                .integer(now.milliseconds), .optional(decided), .integer(revision),
                .boolean(payment.simulatesAskToBuy), .optional(state.waitingFor),
            ])
        return PurchaseOutcome(
            state: state, transaction: transaction,
            charge: state == .authorising ? total.map(charge) : nil, revision: revision, now: now)
    }

    func move(
        to state: PurchaseState, _ writing: any Writing, _ revision: Int64, _ now: Timestamp,
        reference: String? = nil, owesVoid: Bool = false, transaction: TransactionFacts? = nil
    ) throws -> PurchaseOutcome {
        let moved = try writing.first(
            Statement.Purchases.settle,
            key.values + [
                .text(state.word), .optional(state.refusal?.rawValue),
                .optional(transaction?.id.value), .optional(reference),
                .optional(owesVoid ? now : nil), .integer(now.milliseconds), .integer(revision),
            ])
        guard moved != nil else {
            throw StorageFault(.malformedRow, "a purchase moved while its line was held")
        }
        if owesVoid { try owe(VoidErrands.kind, now, writing) }
        if case .sold = state, !owesVoid { try owe(CaptureErrands.kind, now, writing) }
        var outcome = PurchaseOutcome(
            state: state, transaction: transaction, charge: nil, revision: revision, now: now)
        outcome.owesWork = true
        return outcome
    }

    /// Refuses an approved charge whose sale cannot be written, and owes the
    /// sum; throws ``AskedBefore`` where the purchase was decided meanwhile.
    func giveBack(_ reference: String, _ writing: any Writing) throws -> PurchaseOutcome {
        let (line, row) = try readFacts(writing)
        let now = try ClockRow(row).now(wall: wall)
        guard let before = try PurchaseRow(row, key: key) else {
            throw StorageFault(.malformedRow, "a purchase that was asked and is gone")
        }
        guard before.state == .authorising else {
            throw AskedBefore(outcome: try outcome(of: before, writing, now: now))
        }
        return try move(
            to: .refused(.notRecorded), writing, try line.integer("revision"), now,
            reference: reference, owesVoid: true)
    }

    /// What a row that an earlier process left wants done.
    func left(_ row: PurchaseRow) -> PurchaseOutcome {
        PurchaseOutcome(
            state: row.state, transaction: nil, charge: charge(of: row),
            revision: row.revision, now: wall)
    }

    func outcome(
        of before: PurchaseRow, _ reading: any Reading, now: Timestamp
    ) throws -> PurchaseOutcome {
        var sold: TransactionFacts?
        if case .sold(let id) = before.state { sold = try transaction(id, reading) }
        return PurchaseOutcome(
            state: before.state, transaction: sold, charge: charge(of: before),
            revision: before.revision, now: now)
    }

    func charge(of row: PurchaseRow) -> Charge? {
        guard row.state == .authorising, let total = row.total else { return nil }
        return charge(Money(total, row.payment.shownUnitPrice.currency))
    }

    func charge(_ total: Money) -> Charge {
        Charge(
            key: key.charge(in: realmID), total: total, customer: key.customer,
            bundleID: key.bundleID, productID: payment.productID)
    }

    /// What the caller asks the processor at once, and who else does where it dies.
    func hold(_ now: Timestamp, _ writing: any Writing) throws -> Errand {
        try Errands.addHeld(
            kind: SettleErrands.asked, subject: key.subject, lane: ProcessorErrands.lane,
            now: now, lease: try leases.now(writing), customer: key.customer, writing)
    }

    func owe(_ kind: String, _ now: Timestamp, _ writing: any Writing) throws {
        try Errands.add(
            kind: kind, subject: key.subject, lane: ProcessorErrands.lane, dueAt: now,
            customer: key.customer, writing)
    }
}
