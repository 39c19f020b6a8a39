// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

extension PurchaseRoom {
    /// Returns the products of an app that a customer owns, so that a payment for one
    /// of them charges nothing.
    func owned(by customer: CustomerID, in app: BundleID) async throws -> Set<String> {
        let values: [SQLValue] = [.integer(customer.value), .text(app.value)]
        let ids = try await realm.read(of: customer) {
            try $0.query(Statement.Purchases.owned, values).map { try $0.text("product_id") }
        }
        return Set(ids)
    }
}
