// SPDX-License-Identifier: Apache-2.0

import Shop
public import StoreWire

/// Ask to Buy: the part of the parent.
///
/// ```swift
/// try await shop.addCustomer("kid", asksToBuy: true)
/// let device = try await shop.device(customer: "kid")
/// try await device.buy("credits.5")
/// _ = try await device.heard.first(.deferred)
/// try await shop.approve(shop.waitingPurchases()[0])
/// let bought = try await device.heard.first(.purchased)
/// ```
extension TestShop {
    /// Returns the purchases that wait for approval.
    public func waitingPurchases() async throws -> [PurchaseRecord] {
        try await realm.purchases.listPurchases(state: "waiting").purchases
    }

    /// Approves a purchase and returns its new state. Throws ``Refusal`` if it
    /// was declined or has timed out.
    @discardableResult
    public func approve(_ purchase: PurchaseRecord) async throws -> PurchaseRecord {
        try await answer("approved", purchase)
    }

    /// Declines a purchase. Throws ``Refusal`` if it was approved or has timed
    /// out.
    @discardableResult
    public func decline(_ purchase: PurchaseRecord) async throws -> PurchaseRecord {
        try await answer("declined", purchase)
    }

    private func answer(_ word: String, _ purchase: PurchaseRecord) async throws -> PurchaseRecord {
        try await realm.purchases.answerApproval(
            purchase.purchaseId,
            AnswerApprovalRequest(answer: word, customerId: purchase.customerId),
            RequestContext(requestID: "approval"))
    }
}
