// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

extension PurchaseCommit {
    /// Writes the answer to a payment that waits for approval. Approved, it is
    /// decided anew, for price and customer may have changed since. Throws
    /// ``AskedBefore`` where it was answered so before, and a refusal where it
    /// was answered otherwise.
    func answer(_ answer: ApprovalAnswer, _ writing: any Writing) throws -> PurchaseOutcome {
        let customer = SQLValue.integer(key.customer.value)
        guard let line = try writing.first(Statement.Customers.line, [customer]) else {
            throw StorageFault(.malformedRow, "a customer without a row")
        }
        let row = try readFacts(behindLine: writing)
        let now = try ClockRow(row).now(wall: wall)
        guard let before = try PurchaseRow(row, key: key) else {
            throw StorageFault(.malformedRow, "a purchase that waited and is gone")
        }
        guard case .waiting = before.state else {
            guard before.approval == answer else { throw Self.answeredBefore(before.approval) }
            throw AskedBefore(outcome: try outcome(of: before, writing, now: now))
        }
        // Too late is too late, also where nobody has written that down yet.
        guard now < ApprovalAnswer.deadline(askedAt: before.askedAt) else {
            throw Self.answeredBefore(.timedOut)
        }
        try DueWork.remove(ApprovalTimeout.kind, key.subject, of: key.customer, writing)
        let revision = try line.integer("revision")
        guard answer == .approved else {
            return try move(answer, .refused(.approvalDeclined), writing, revision, now)
        }
        return try approve(line, row, writing, revision, now)
    }

    private func approve(
        _ line: Row, _ row: Row, _ writing: any Writing, _ revision: Int64, _ now: Timestamp
    ) throws -> PurchaseOutcome {
        let facts = try facts(line, row, writing)
        switch PurchaseDecision.decide(payment, facts) {
        case .refuse(let refusal):
            return try move(.approved, .refused(refusal), writing, revision, now)
        case .deliverOwned(let owned):
            let facts = try transaction(owned, writing)
            return try move(
                .approved, .sold(owned), writing, revision, now, transaction: facts)
        case .authorise(let total):
            var outcome = try move(
                .approved, .authorising, writing, revision, now, total: total)
            outcome.errand = try hold(now, writing)
            return outcome
        case .sell(let total):
            let sold = try transaction(selling: total, line, row, writing, revision, now)
            var outcome = try move(
                .approved, .sold(sold.id), writing, revision, now, total: total,
                transaction: sold)
            outcome.owesWork = try write(sold, row, writing)
            return outcome
        case .wait:
            throw StorageFault(.malformedRow, "an approved payment that waits for approval")
        }
    }

    private func move(
        _ answer: ApprovalAnswer, _ state: PurchaseState, _ writing: any Writing,
        _ revision: Int64, _ now: Timestamp, total: Money? = nil,
        transaction: TransactionFacts? = nil
    ) throws -> PurchaseOutcome {
        let moved = try writing.first(
            Statement.Purchases.answer,
            key.values + [
                .text(state.word), .optional(state.refusal?.rawValue),
                .optional(transaction?.id.value), .optional(total?.amount.milliunits),
                .optional(state.isDecided ? now : nil), .text(answer.rawValue),
                .integer(revision),
            ])
        guard moved != nil else {
            throw StorageFault(.malformedRow, "a purchase moved while its line was held")
        }
        return PurchaseOutcome(
            state: state, transaction: transaction,
            charge: state == .authorising ? total.map(charge) : nil, revision: revision, now: now)
    }

    private static func answeredBefore(_ answer: ApprovalAnswer?) -> Refusal {
        let words =
            switch answer {
            case .approved: "This purchase was approved before."
            case .declined: "This purchase was declined before."
            case .timedOut: "This purchase has waited too long for an answer."
            case nil: "This purchase waits for nobody."
            }
        return Refusal(
            .conflict, code: "approvalAnswered", words, field: "answer",
            rule: "the first answer counts, and none later than a day after the asking",
            remedy: "list the purchase to see what became of it")
    }
}

/// Nobody has answered in time: inner work, a day after the asking.
struct ApprovalTimeout: DueWorkHandler, DueWorkCommit {
    static let kind = "approval"

    var kind: String { Self.kind }
    var longestMilliseconds: Int64 { ApprovalAnswer.limitMilliseconds }

    static func work(_ key: PurchaseKey, askedAt: Timestamp) -> DueWork {
        DueWork(
            customer: key.customer, kind: kind, subject: key.subject,
            dueAt: ApprovalAnswer.deadline(askedAt: askedAt))
    }

    func prepare(_ work: DueWork, in realm: Realm) async throws -> any DueWorkCommit { self }

    /// Answered before, it changes nothing.
    func write(_ work: DueWork, line: Row, _ writing: any Writing) throws {
        guard let key = PurchaseKey(customer: work.customer, subject: work.subject) else {
            throw StorageFault(.malformedRow, "a time-out that names no purchase")
        }
        _ = try writing.first(
            Statement.Purchases.answer,
            key.values + [
                .text(PurchaseState.refused(.approvalTimedOut).word),
                .text(PurchaseRefusal.approvalTimedOut.rawValue), .null, .null,
                .integer(work.dueAt.milliseconds), .text(ApprovalAnswer.timedOut.rawValue),
                .integer(try line.integer("revision")),
            ])
    }
}
