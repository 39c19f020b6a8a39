// SPDX-License-Identifier: Apache-2.0

import Shop
public import StoreWire

/// Refunds of the shop's transactions. Each call returns when the change is visible,
/// with the events that it caused. All throw ``Refusal``.
///
/// ```swift
/// try await device.buy("pro")
/// let sold = try await device.heard.first(.purchased)
/// try await shop.refund(sold.transactionIdentifier ?? "")
/// ```
extension TestShop {
    private static var context: RequestContext { RequestContext(requestID: "test") }

    /// Returns all refunds, by customer and transaction.
    public func refunds() async throws -> [RefundRecord] {
        try await realm.refunds.list().refunds
    }

    /// Asks for the money of a transaction, as its customer would. The request waits
    /// until it is granted or declined.
    @discardableResult
    public func requestRefund(
        _ transaction: String, reason: String? = nil
    ) async throws -> RefundAnswer {
        try await realm.refunds.request(
            transaction, RefundRequest(reason: reason), Self.context)
    }

    /// Gives the money of a transaction back, whether the customer asked or not.
    /// `prorated`: only for a subscription's unused time. `reason`: `issueWithApp`
    /// or `other`.
    @discardableResult
    public func refund(
        _ transaction: String, prorated: Bool = false, reason: String? = nil
    ) async throws -> RefundAnswer {
        try await decide(
            transaction,
            DecideRefundRequest(
                state: "granted", kind: prorated ? "prorated" : "full", reason: reason))
    }

    /// Declines what the customer asked for.
    @discardableResult
    public func declineRefund(_ transaction: String) async throws -> RefundAnswer {
        try await decide(transaction, DecideRefundRequest(state: "declined"))
    }

    /// Takes a refund or a revocation back.
    @discardableResult
    public func reverseRefund(_ transaction: String) async throws -> RefundAnswer {
        try await decide(transaction, DecideRefundRequest(state: "reversed"))
    }

    /// Revokes a transaction without giving money back.
    @discardableResult
    public func revoke(_ transaction: String) async throws -> RefundAnswer {
        try await decide(transaction, DecideRefundRequest(state: "granted", kind: "nothing"))
    }

    private func decide(
        _ transaction: String, _ request: DecideRefundRequest
    ) async throws -> RefundAnswer {
        try await realm.refunds.decide(transaction, request, Self.context)
    }
}
