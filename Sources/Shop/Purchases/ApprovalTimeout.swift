// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Work

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
        of clock: ClockID, beyond latest: Timestamp, to now: Timestamp, _ writing: any Writing
    ) throws {
        try writing.execute(
            Statement.Purchases.bringForward,
            [
                .integer(latest.milliseconds), .integer(now.milliseconds),
                .integer(clock.value),
            ])
    }

    func prepare(_ work: DueWork, in realm: Realm) async throws -> any DueWorkCommit<CustomerLine> {
        self
    }

    /// Changes nothing if there was an answer before.
    func write(_ work: DueWork, _ line: CustomerLine, answer: [Row]) throws {
        guard let key = PurchaseKey(customer: work.customer, subject: work.subject) else {
            throw StorageFault(.malformedRow, "a time-out that names no purchase")
        }
        let move = PurchaseMove(
            key, .notApproved(isTimedOut: true), from: .waiting(.approval), at: work.dueAt)
        guard try move.write(line),
            let row = try line.writing.first(Statement.Purchases.one, key.values),
            case .code? = try PurchaseRow(row, key: key)?.payment.offer
        else { return }
        try OfferRelease.owe(key.subject, line)
    }
}
