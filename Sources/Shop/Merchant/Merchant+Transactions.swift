// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import StrictJSON

extension Merchant {
    /// Finishes a transaction for the app, once: `POST
    /// /inApps/v1/transactions/{transactionId}/finish`. Throws ``AppleRefusal``, in
    /// order: 4000006, 4040010.
    public func finish(_ id: String, _ context: RequestContext) async throws {
        let facts = try await transaction(id)
        try await realm.purchases.finish(facts.id, of: facts.customer, in: bundleID, context)
    }

    /// Sets the app's own token of a purchase, and of the renewals that follow from
    /// it: `PUT /inApps/v1/transactions/{originalTransactionId}/appAccountToken`.
    /// Throws ``AppleRefusal``, in order: 4000183, 4000006, 4040010, 4000185,
    /// 4000187.
    public func setAppAccountToken(
        _ id: String, _ body: [UInt8], _ context: RequestContext
    ) async throws {
        let request = try? StrictJSON.decode(UpdateAppAccountTokenRequest.self, from: body)
        guard let token = request?.appAccountToken.flatMap({ UUIDText($0) }) else {
            throw AppleRefusal(.invalidAppAccountTokenUUID)
        }
        let facts = try await transaction(id)
        guard facts.ownership == .purchased else {
            throw AppleRefusal(.familyTransactionNotSupported)
        }
        guard facts.id == facts.originalID else { throw AppleRefusal(.transactionIdIsNotOriginal) }
        let ending = try await realm.lineOrLeave(of: facts.customer) { line -> Ending<Void> in
            let changed = try line.writing.query(
                Statement.Merchants.setToken,
                [
                    .integer(facts.customer.value), .integer(facts.id.value), .text(token.text),
                    .integer(line.revision), .integer(line.now.milliseconds),
                ])
            guard !changed.isEmpty else { return .leave(()) }
            if var row = try SubscriptionRow.find(facts.id, of: facts.customer, line.writing) {
                row.appAccountToken = token.text
                row.revision = line.revision
                try line.writing.execute(Statement.Subscriptions.put, row.row)
            }
            return .commit(())
        }
        guard case .commit = ending else { return }
        realm.wake(facts.customer)
        realm.ports.log(
            .info, "app account token set", context, ["transaction": "\(facts.id)"])
    }
}
