// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Work

/// Calls that are owed to a payment processor: to ask for an outcome, capture a
/// sum, or void it. Each contains the purchase's charge key, so a repeated call
/// has no effect.
enum ProcessorErrands {
    /// A processor that hangs delays only these errands.
    static let lane = WorkKind.processorLane

    static func handlers(_ processor: any Authoriser) -> [any ErrandHandler<Realm>] {
        [
            SettleErrands(kind: SettleErrands.asked), SettleErrands(kind: SettleErrands.unwritten),
            CaptureErrands(processor: processor), VoidErrands(processor: processor),
        ]
    }

    static func key(of errand: Errand) throws -> PurchaseKey {
        guard let key = PurchaseKey(customer: errand.customer, subject: errand.subject) else {
            throw StorageFault(.malformedRow, "an errand that names no purchase")
        }
        return key
    }

    /// Runs one of them if its purchase owes `debt`, and writes its date with
    /// `statement`.
    static func perform(
        _ errand: Errand, of debt: PurchaseEvent.Debt, in realm: Realm,
        writing statement: Statement, _ body: (_ charge: String) async throws -> Void
    ) async throws -> RealmReport {
        let key = try key(of: errand)
        guard let row = try await realm.purchases.purchaseRow(key), row.debt == debt else {
            realm.ports.log(
                .error, "an errand contradicts its purchase, and is dropped", nil,
                ["kind": errand.kind, "customer": "\(key.customer)", "purchase": key.subject])
            return ErrandReport(.done)
        }
        let charge = row.charge(in: realm.description.id)
        do { try await body(charge) } catch is CancellationError {
            throw CancellationError()
        } catch {
            realm.ports.log(
                .warning, "the payment processor gave no answer", nil,
                ["kind": errand.kind, "charge": charge])
            return .retry(errand, at: try await realm.now(for: errand.customer))
        }
        return ErrandReport(
            .done,
            inLine: { line in
                try line.writing.execute(statement, key.values + [.integer(line.now.milliseconds)])
            })
    }
}

/// Asks for the outcome of a charge that is not settled yet.
struct SettleErrands: ErrandHandler {
    /// There is no answer yet.
    static let asked = WorkKind.settle
    /// The database rejected the answer: see ``PurchaseRoom/unwritten(_:_:_:_:_:_:)``.
    static let unwritten = WorkKind.unwritten

    let kind: String

    func perform(_ errand: Errand, in realm: Realm) async throws -> RealmReport {
        let key = try ProcessorErrands.key(of: errand)
        guard let row = try await realm.purchases.purchaseRow(key), row.state == .authorising else {
            return ErrandReport(.done)
        }
        let commit = try await realm.purchases.commit(of: row)
        let outcome = try await realm.purchases.settle(
            commit, commit.left(row), errand, RequestContext(requestID: "work"))
        realm.purchases.giveBackUnused(commit, outcome)
        return ErrandReport(.settled(isDone: outcome.state.isDecided))
    }
}

/// Captures a reserved sum after the purchase is sold.
struct CaptureErrands: ErrandHandler {
    static let kind = WorkKind.capture

    let processor: any Authoriser

    var kind: String { Self.kind }

    func perform(_ errand: Errand, in realm: Realm) async throws -> RealmReport {
        try await ProcessorErrands.perform(
            errand, of: .capture, in: realm, writing: Statement.Purchases.setCaptured
        ) { try await processor.capture($0) }
    }
}

/// Voids a reserved sum after the second decision has refused the purchase.
struct VoidErrands: ErrandHandler {
    static let kind = WorkKind.void

    let processor: any Authoriser

    var kind: String { Self.kind }

    func perform(_ errand: Errand, in realm: Realm) async throws -> RealmReport {
        try await ProcessorErrands.perform(
            errand, of: .void, in: realm, writing: Statement.Purchases.setVoided
        ) { try await processor.void($0) }
    }
}
