// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
public import StoreWire

extension Merchant {
    /// Returns the transaction of an order: `GET /inApps/v1/lookup/{orderId}`. Apple has
    /// this in production only; a sandbox answers too, because nothing else could test
    /// it. Throws ``AppleRefusal`` 4000000 for a text that is not an id.
    public func lookUp(order id: String) async throws -> OrderLookupResponse {
        guard (1...64).contains(id.utf8.count),
            id.utf8.allSatisfy({
                (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
            })
        else { throw AppleRefusal(.generalBadRequest) }
        guard let order = OrderID(id) else { return OrderLookupResponse(status: 1) }
        let key: [SQLValue] = [.integer(order.transaction.value)]
        let row = try await realm.read(ofNumber: order.transaction.value) {
            try $0.first(Statement.Transactions.byID, key)
        }
        // What a family shares was ordered by another person.
        guard let row, try row.text("bundle_id") == bundleID.value,
            try row.text("ownership") == Ownership.purchased.rawValue
        else { return OrderLookupResponse(status: 1) }
        let facts = try TransactionFacts(row: row)
        let now = try ClockRow(row).now(wall: realm.ports.wall.now)
        return OrderLookupResponse(status: 0, signedTransactions: [try realm.sign(facts, at: now)])
    }

    /// Returns when and in which version a customer first got the app: `GET
    /// /inApps/v1/transactions/appTransactions/{transactionId}`. Throws
    /// ``AppleRefusal``, in order: 4000006, 4040010, 4040019.
    public func appTransaction(of id: String) async throws -> AppTransactionInfoResponse {
        let (customer, now) = try await customerAndTime(of: id)
        let payload = try await realm.merchant.appTransaction(of: customer, bundleID, at: now)
        guard let payload else { throw AppleRefusal(.appTransactionDoesNotExist) }
        return AppTransactionInfoResponse(
            signedAppTransactionInfo: try realm.authority.transactions.sign(payload))
    }
}

extension MerchantRoom {
    /// Nil if the customer has not got the app.
    func appTransaction(
        of customer: CustomerID, _ bundleID: BundleID, at now: Timestamp
    ) async throws -> JWSAppTransactionDecodedPayload? {
        let values: [SQLValue] = [.integer(customer.value), .text(bundleID.value)]
        let row = try await realm.read(of: customer) {
            try $0.first(Statement.Merchants.appTransaction, values)
        }
        guard let row else { return nil }
        let original = try row.text("original_version")
        var payload = JWSAppTransactionDecodedPayload()
        payload.receiptType = realm.description.environment.rawValue
        payload.bundleId = bundleID.value
        payload.applicationVersion = try row.optionalText("app_version") ?? original
        payload.receiptCreationDate = now
        payload.originalPurchaseDate = Timestamp(
            milliseconds: try row.integer("original_purchased_at"))
        payload.originalApplicationVersion = original
        payload.appTransactionId = String(try row.integer("app_transaction_id"))
        if realm.isProduction {
            payload.appAppleId = try await realm.loadShelf().apps[bundleID]?.appID
        }
        return payload
    }
}
