// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Work

/// Charges of renewals through a payment processor. A charge that stands holds up
/// the subscription's own steps until it is answered, so that each answer is
/// written before what follows from it.
extension SubscriptionCommit {
    /// Writes that a charge is asked for, and the errand for it. Does nothing if
    /// the same charge has no answer yet.
    func ask(
        _ charge: RenewalCharge, of row: SubscriptionRow, in storefront: Storefront,
        _ line: CustomerLine
    ) throws {
        let id = row.subscription.originalID
        guard try !isAsked(row, line.writing) else { return }
        let values: [SQLValue] = [
            .integer(row.customer.value), .integer(id.value),
            .integer(row.subscription.end.milliseconds),
        ]
        let attempts = try line.writing.first(Statement.RenewalCharges.attempts, values)?
            .integer("attempts")
        let key = RenewalChargeKey(
            customer: row.customer, subscription: id, periodEnd: row.subscription.end,
            attempt: (attempts ?? 0) + 1)
        let asked = RenewalChargeRow(
            key: key, state: .asked, charge: charge, storefront: storefront.countryCode,
            events: row.events)
        try line.writing.execute(Statement.RenewalCharges.insert, asked.row)
        try Errands.add(
            kind: WorkKind.renewal, subject: key.subject, lane: WorkKind.processorLane,
            dueAt: line.clock == .realm ? charge.at : line.owedNow, customer: row.customer,
            line.writing)
        try DueWork.remove(WorkKind.subscription, id.description, of: row.customer, line.writing)
    }

    /// Whether a charge that the subscription still wants has no answer.
    func isAsked(_ row: SubscriptionRow, _ reading: any Reading) throws -> Bool {
        guard asksProcessor else { return false }
        return try RenewalChargeRow.asked(of: row.subscription.originalID, row.customer, reading)
            .contains { $0.charge.stands(for: row.subscription) }
    }

    /// Writes the answer to a charge: what it was asked for, if the subscription
    /// still wants that. Otherwise nothing changes, and an approved sum is given
    /// back. `id`: of the transaction if it sells. `isGivenBack`: the sum goes back,
    /// and the renewal counts as declined. Returns whether it sells.
    func settle(
        _ asked: RenewalChargeRow, _ said: ChargeOutcome, as id: TransactionID,
        isGivenBack: Bool, _ row: SubscriptionRow, _ shelf: Shelf, _ line: CustomerLine
    ) throws -> Bool {
        var (isPaid, reference) = (false, String?.none)
        if case .approved(let name) = said { (isPaid, reference) = (true, name) }
        let isWanted = asked.charge.stands(for: row.subscription)
        let isSold = isPaid && isWanted && !isGivenBack
        try write(
            isSold ? .sold : isPaid ? .dropped : .declined, reference, of: asked,
            sold: isSold ? id : nil, line)
        // Other events may have come in between, and none is dated before them. Nor is the
        // answer dated before its question, if the clock was set back meanwhile.
        let at = row.events == asked.events ? asked.charge.at : max(asked.charge.at, line.now)
        guard isWanted else {
            try schedule(row, after: at, line)
            return false
        }
        var context = try RenewalContext(row, shelf, line, at: at, isCharged: true)
        context.storefront = Storefront.named(asked.storefront) ?? context.storefront
        try write(
            asked.charge.events(isPaid: isSold, as: id, at: at), to: row, line,
            hasURL: context.hasURL
        ) { context.transaction($0, line) }
        return isSold
    }

    /// Writes the state that an answer leads to, and what is owed for it. A sale
    /// writes its transaction in the same commit.
    private func write(
        _ state: RenewalChargeState, _ reference: String?, of asked: RenewalChargeRow,
        sold: TransactionID?, _ line: CustomerLine
    ) throws {
        try line.writing.execute(
            Statement.RenewalCharges.settle,
            asked.key.values + [
                .text(state.rawValue), .integer(line.now.milliseconds),
                .optional(sold?.value), .optional(reference),
            ])
        let owed: String? =
            switch state {
            case .sold: WorkKind.renewalCapture
            case .dropped: WorkKind.renewalVoid
            case .asked, .declined: nil
            }
        guard let owed else { return }
        try Errands.add(
            kind: owed, subject: asked.key.subject, lane: WorkKind.processorLane,
            dueAt: line.owedNow, customer: asked.key.customer, line.writing)
    }
}
