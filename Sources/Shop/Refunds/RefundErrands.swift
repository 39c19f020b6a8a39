// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Work

/// Calls that are owed to a payment processor because of refunds. Each contains the
/// charge's key and the refund's name, so a repeated call has no effect.
enum RefundErrands {
    static func handlers(_ processor: any Authoriser) -> [any ErrandHandler<Realm>] {
        [ReturnErrands(processor: processor), TakeBackErrands(processor: processor)]
    }

    struct Owed: Sendable {
        let row: RefundRow
        let charge: RefundCharge
        /// Whether the processor has taken the sale's sum.
        let isCaptured: Bool
    }

    /// Returns what an errand owes. Nil if it owes nothing.
    static func owed(_ errand: Errand, in realm: Realm) async throws -> Owed? {
        guard let parts = RefundRow.parts(ofSubject: errand.subject) else {
            throw StorageFault(.malformedRow, "an errand that names no refund")
        }
        let key = key(errand.customer, parts)
        let found = try await realm.read(of: errand.customer) {
            try $0.first(Statement.Refunds.owed, key)
        }
        guard let found else { return nil }
        let row = try RefundRow(row: found)
        guard let charge = row.charge, let grant = row.refund.grant else { return nil }
        let isCharged =
            try found.optionalText("purchase_id") != nil
            || found.optionalInteger("renewal_attempt") != nil
        return Owed(
            row: row,
            charge: RefundCharge(key: charge, refund: row.subject, total: grant.sum),
            isCaptured: try !isCharged || found.optionalInteger("captured_at") != nil)
    }

    static func key(
        _ customer: CustomerID, _ parts: (transaction: TransactionID, number: Int64)
    ) -> [SQLValue] {
        [.integer(customer.value), .integer(parts.transaction.value), .integer(parts.number)]
    }

    /// Calls the processor, and writes the date of its answer with `statement`.
    static func perform(
        _ errand: Errand, _ owed: Owed, in realm: Realm, writing statement: Statement,
        _ body: (RefundCharge) async throws -> Void
    ) async throws -> RealmReport {
        do { try await body(owed.charge) } catch is CancellationError {
            throw CancellationError()
        } catch {
            realm.ports.log(
                .warning, "the payment processor gave no answer", nil,
                ["kind": errand.kind, "charge": owed.charge.key, "refund": owed.charge.refund])
            return .retry(errand, at: try await realm.now(for: errand.customer))
        }
        let key = key(errand.customer, (owed.row.transaction, owed.row.number))
        return ErrandReport(
            .done,
            inLine: { line in
                try line.writing.execute(statement, key + [.integer(line.now.milliseconds)])
            })
    }
}

/// Gives a granted sum back, after the processor has taken the sale's.
struct ReturnErrands: ErrandHandler {
    let processor: any Authoriser

    var kind: String { WorkKind.refund }

    func perform(_ errand: Errand, in realm: Realm) async throws -> RealmReport {
        // A refund that was taken back meanwhile needs no call.
        guard let owed = try await RefundErrands.owed(errand, in: realm),
            owed.row.refund.state == .granted
        else { return ErrandReport(.done) }
        guard owed.isCaptured else {
            return .retry(errand, at: try await realm.now(for: errand.customer))
        }
        return try await RefundErrands.perform(
            errand, owed, in: realm, writing: Statement.Refunds.setReturned
        ) { try await processor.refund($0) }
    }
}

/// Takes a sum back that was given back, or prevents that it is given.
struct TakeBackErrands: ErrandHandler {
    let processor: any Authoriser

    var kind: String { WorkKind.takeBack }

    func perform(_ errand: Errand, in realm: Realm) async throws -> RealmReport {
        guard let owed = try await RefundErrands.owed(errand, in: realm),
            owed.row.refund.state == .reversed
        else { return ErrandReport(.done) }
        return try await RefundErrands.perform(
            errand, owed, in: realm, writing: Statement.Refunds.setTakenBack
        ) { try await processor.takeBack($0) }
    }
}
