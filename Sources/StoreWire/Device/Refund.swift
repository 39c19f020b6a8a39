// SPDX-License-Identifier: Apache-2.0

/// Asks for the money of a transaction.
public struct RefundRequest: Hashable, Sendable, Codable {
    /// `UNINTENDED_PURCHASE`, `FULFILLMENT_ISSUE`, `UNSATISFIED_WITH_PURCHASE`,
    /// `LEGAL` or `OTHER`. `OTHER` if missing.
    public var reason: String?

    public init(reason: String? = nil) {
        self.reason = reason
    }
}

/// A request for a refund that the store has recorded. A repeated one gets the same
/// answer.
public struct RefundResponse: Hashable, Sendable, Codable {
    public var transactionId: String
    /// `requested`, until an operator decides.
    public var state: String

    public init(transactionId: String, state: String) {
        self.transactionId = transactionId
        self.state = state
    }
}
