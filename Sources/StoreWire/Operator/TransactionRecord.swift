// SPDX-License-Identifier: Apache-2.0

/// A transaction, as operators see it: the fields of the decoded payload, in
/// one object with further facts of the store.
public struct TransactionRecord: Hashable, Sendable, Codable {
    /// Encoded into the same JSON object as the fields below.
    public var payload: JWSTransactionDecodedPayload
    public var signedTransactionInfo: String
    public var customerId: String
    /// The id of its order, as a customer reads it.
    public var orderId: String?
    /// The device's payment, if there was one.
    public var purchaseId: String?
    /// The price of one unit, in thousandths of the currency's unit.
    public var unitPrice: Int64
    public var isFinished: Bool

    public init(
        payload: JWSTransactionDecodedPayload, signedTransactionInfo: String, customerId: String,
        orderId: String? = nil, purchaseId: String?, unitPrice: Int64, isFinished: Bool
    ) {
        self.payload = payload
        self.signedTransactionInfo = signedTransactionInfo
        self.customerId = customerId
        self.orderId = orderId
        self.purchaseId = purchaseId
        self.unitPrice = unitPrice
        self.isFinished = isFinished
    }

    private enum CodingKeys: String, CodingKey {
        case signedTransactionInfo, customerId, orderId, purchaseId, unitPrice, isFinished
    }

    public init(from decoder: any Decoder) throws {
        payload = try JWSTransactionDecodedPayload(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        signedTransactionInfo = try container.decode(String.self, forKey: .signedTransactionInfo)
        customerId = try container.decode(String.self, forKey: .customerId)
        orderId = try container.decodeIfPresent(String.self, forKey: .orderId)
        purchaseId = try container.decodeIfPresent(String.self, forKey: .purchaseId)
        unitPrice = try container.decode(Int64.self, forKey: .unitPrice)
        isFinished = try container.decode(Bool.self, forKey: .isFinished)
    }

    public func encode(to encoder: any Encoder) throws {
        try payload.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(signedTransactionInfo, forKey: .signedTransactionInfo)
        try container.encode(customerId, forKey: .customerId)
        try container.encodeIfPresent(orderId, forKey: .orderId)
        try container.encodeIfPresent(purchaseId, forKey: .purchaseId)
        try container.encode(unitPrice, forKey: .unitPrice)
        try container.encode(isFinished, forKey: .isFinished)
    }
}

/// One page of a realm's transactions.
public struct TransactionRecords: Hashable, Sendable, Codable {
    public var transactions: [TransactionRecord]
    /// The `after` of the next request. Missing on the last page.
    public var next: String?

    public init(transactions: [TransactionRecord], next: String?) {
        self.transactions = transactions
        self.next = next
    }
}
