// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Work

extension PurchaseCommit {
    /// Writes the answer to a payment that waits for approval. An approved
    /// payment is decided again, because price and customer may have changed
    /// since. Leaves it if it has this answer already. Throws a refusal if it
    /// has another one.
    func answer(
        _ answer: ApprovalAnswer, _ line: CustomerLine
    ) throws -> Ending<PurchaseOutcome> {
        guard let before = try PurchaseRow(line.facts, key: key) else {
            throw StorageFault(.malformedRow, "a purchase that waited and is gone")
        }
        guard case .waiting = before.state else {
            guard before.approval == answer else { throw Self.answeredBefore(before.approval) }
            return .leave(try outcome(of: before, line))
        }
        try DueWork.remove(ApprovalTimeout.kind, key.subject, of: key.customer, line.writing)
        guard answer == .approved else {
            return .commit(try move(answer, .refused(.approvalDeclined), line))
        }
        return .commit(try approve(line))
    }

    private func approve(_ line: CustomerLine) throws -> PurchaseOutcome {
        switch PurchaseDecision.decide(payment, try facts(line)) {
        case .refuse(let refusal):
            return try move(.approved, .refused(refusal), line)
        case .deliverOwned(let owned):
            let facts = try transaction(owned, line.writing)
            return try move(.approved, .sold(owned), line, transaction: facts)
        case .authorise(let total):
            var outcome = try move(.approved, .authorising, line, total: total)
            outcome.errand = try hold(line)
            return outcome
        case .sell(let total):
            let sold = try transaction(selling: total, line)
            var outcome = try move(
                .approved, .sold(sold.id), line, total: total, transaction: sold)
            outcome.owesWork = try write(sold, line)
            return outcome
        case .wait:
            throw StorageFault(.malformedRow, "an approved payment that waits for approval")
        }
    }

    private func move(
        _ answer: ApprovalAnswer, _ state: PurchaseState, _ line: CustomerLine,
        total: Money? = nil, transaction: TransactionFacts? = nil
    ) throws -> PurchaseOutcome {
        let moved = try line.writing.first(
            Statement.Purchases.answer,
            key.values + [
                .text(state.word), .optional(state.refusal?.rawValue),
                .optional(transaction?.id.value), .optional(total?.amount.milliunits),
                .optional(state.isDecided ? line.now : nil), .text(answer.rawValue),
                .integer(line.revision),
            ])
        guard moved != nil else {
            throw StorageFault(.malformedRow, "a purchase moved while its line was held")
        }
        return PurchaseOutcome(
            state: state, transaction: transaction,
            charge: state == .authorising ? total.map(charge) : nil, revision: line.revision,
            now: line.now)
    }

    private static func answeredBefore(_ answer: ApprovalAnswer?) -> Refusal {
        let words =
            switch answer {
            case .approved: "This purchase was approved before."
            case .declined: "This purchase was declined before."
            case .timedOut: "This purchase has waited too long for an answer."
            case nil: "This purchase does not wait for an answer."
            }
        return Refusal(
            .conflict, code: "approvalAnswered", words, field: "answer",
            rule: "the first answer counts, at most a day after the request",
            remedy: "list the purchase to see its state")
    }
}

/// Inner work a day after the request: there was no answer in time.
struct ApprovalTimeout: DueWorkHandler, DueWorkCommit {
    static let kind = WorkKind.approval

    var kind: String { Self.kind }
    var longestMilliseconds: Int64 { ApprovalAnswer.limitMilliseconds }

    static func work(_ key: PurchaseKey, askedAt: Timestamp) -> DueWork {
        DueWork(
            customer: key.customer, kind: kind, subject: key.subject,
            dueAt: ApprovalAnswer.deadline(askedAt: askedAt))
    }

    func bringForward(
        beyond latest: Timestamp, to now: Timestamp, _ writing: any Writing
    ) throws {
        try writing.execute(
            Statement.Purchases.bringForward,
            [.integer(latest.milliseconds), .integer(now.milliseconds)])
    }

    func prepare(_ work: DueWork, in realm: Realm) async throws -> any DueWorkCommit<CustomerLine> {
        self
    }

    /// Changes nothing if there was an answer before.
    func write(_ work: DueWork, _ line: CustomerLine) throws {
        guard let key = PurchaseKey(customer: work.customer, subject: work.subject) else {
            throw StorageFault(.malformedRow, "a time-out that names no purchase")
        }
        _ = try line.writing.first(
            Statement.Purchases.answer,
            key.values + [
                .text(PurchaseState.refused(.approvalTimedOut).word),
                .text(PurchaseRefusal.approvalTimedOut.rawValue), .null, .null,
                .integer(work.dueAt.milliseconds), .text(ApprovalAnswer.timedOut.rawValue),
                .integer(line.revision),
            ])
    }
}
