// SPDX-License-Identifier: Apache-2.0

import Commerce
import Shop
public import StoreWire

/// Choices of products outside of the app.
///
/// ```swift
/// let choice = try await shop.choose("pro")        // as on the app's page
/// // the app's paymentQueue(_:shouldAddStorePayment:for:) decides
/// #expect(try await shop.choice(choice.intentId).state == "continued")
/// ```
extension TestShop {
    private static var context: RequestContext { RequestContext(requestID: "test") }

    /// Chooses a product for a customer, as on the app's page in the store. While an
    /// earlier choice of the product is open, it is returned. Throws a ``Refusal``.
    @discardableResult
    public func choose(
        _ productID: String, customer name: String? = nil
    ) async throws -> PurchaseIntentRecord {
        try await realm.promotions.choose(
            ChoosePromotionRequest(bundleId: bundleID.value, productId: productID),
            customer: try await customer(name), Self.context
        ).record
    }

    /// Returns what has become of a choice. Throws a ``Refusal``.
    public func choice(
        _ id: String, customer name: String? = nil
    ) async throws -> PurchaseIntentRecord {
        try await realm.promotions.intent(id, customer: try await customer(name))
    }

    private func customer(_ name: String?) async throws -> CustomerID {
        try CustomerRoom.customerID(try await customerID(name))
    }
}
