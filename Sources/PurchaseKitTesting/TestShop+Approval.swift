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
    /// Purchases that wait for approval.
    public func waitingPurchases() async throws -> [PurchaseRecord] {
        try await realm.listPurchases(state: "waiting").purchases
    }

    /// Says yes, and returns what became of the purchase. Throws
    /// ``Refusal`` where it was declined or waited too long.
    @discardableResult
    public func approve(_ purchase: PurchaseRecord) async throws -> PurchaseRecord {
        try await answer("approved", purchase)
    }

    /// Says no. Throws ``Refusal`` where it was approved or waited too long.
    @discardableResult
    public func decline(_ purchase: PurchaseRecord) async throws -> PurchaseRecord {
        try await answer("declined", purchase)
    }

    private func answer(_ word: String, _ purchase: PurchaseRecord) async throws -> PurchaseRecord {
        try await realm.answerApproval(
            purchase.purchaseId,
            AnswerApprovalRequest(answer: word, customerId: purchase.customerId),
            RequestContext(requestID: "approval"))
    }
}
