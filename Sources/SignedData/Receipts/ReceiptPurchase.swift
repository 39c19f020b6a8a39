// SPDX-License-Identifier: Apache-2.0

public import Commerce
import SwiftASN1

/// One purchase in a receipt. Dates have no fractions of a second, because the
/// format has none.
public struct ReceiptPurchase: Hashable, Sendable {
    /// The type of the product. An open set, like the format's numbers.
    public struct ProductType: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int64

        public init(rawValue: Int64) {
            self.rawValue = rawValue
        }

        public static let nonConsumable = ProductType(rawValue: 0)
        public static let consumable = ProductType(rawValue: 1)
        public static let nonRenewing = ProductType(rawValue: 2)
        public static let autoRenewable = ProductType(rawValue: 3)
    }

    public var quantity: Int64
    public var productID: ProductID
    /// The transaction's number in decimal digits.
    public var transactionID: String
    public var purchaseDate: Timestamp?
    /// The first purchase's number. On a first purchase it equals
    /// `transactionID`.
    public var originalTransactionID: String?
    public var originalPurchaseDate: Timestamp?
    public var type: ProductType?
    /// Only used for subscriptions.
    public var expiresDate: Timestamp?
    /// Only used for subscriptions. Zero means absent.
    public var webOrderLineItemID: Int64?
    /// When it was refunded or revoked.
    public var cancellationDate: Timestamp?
    /// 1 for an issue with the app, 0 for any other reason.
    public var cancellationReason: Int64?
    /// Whether it was bought in a free trial.
    public var isTrialPeriod = false
    /// Whether it was bought at an introductory price.
    public var isInIntroOfferPeriod = false
    public var promotionalOfferID: String?
    /// Attributes that this module does not know, unchanged.
    public var unknown: [ReceiptAttribute] = []

    /// Makes a first purchase. Set further facts afterwards.
    public init(
        quantity: Int64, productID: ProductID, transactionID: String, purchaseDate: Timestamp,
        type: ProductType
    ) {
        self.quantity = quantity
        self.productID = productID
        self.transactionID = transactionID
        self.purchaseDate = purchaseDate.wholeSeconds
        originalTransactionID = transactionID
        originalPurchaseDate = purchaseDate.wholeSeconds
        self.type = type
    }

    /// Returns the DER of this purchase's attribute 17. A store keeps this
    /// record. A receipt is a sequence of such records under one signature.
    public func encoded() -> [UInt8] {
        do {
            let attributes = try attributes()
            var set = DER.Serializer()
            try set.appendConstructedNode(identifier: .set) { coder in
                // In the order of genuine receipts, not sorted.
                for attribute in attributes { try attribute.write(into: &coder) }
            }
            var record = DER.Serializer()
            try ReceiptAttribute(
                type: ReceiptField.purchase.rawValue, value: set.serializedBytes
            ).write(into: &record)
            return record.serializedBytes
        } catch {
            preconditionFailure("writing texts and integers into memory cannot fail: \(error)")
        }
    }

    private func attributes() throws -> [ReceiptAttribute] {
        var attributes = [
            try ReceiptAttribute(.quantity, integer: quantity),
            try ReceiptAttribute(.productID, text: productID.value),
            try ReceiptAttribute(.transactionID, text: transactionID),
            try ReceiptAttribute(.purchaseDate, date: purchaseDate),
            try ReceiptAttribute(
                .originalTransactionID, text: originalTransactionID ?? transactionID),
            try ReceiptAttribute(
                .originalTransactionDate, date: originalPurchaseDate ?? purchaseDate),
        ]
        if let type {
            attributes.append(try ReceiptAttribute(.productType, integer: type.rawValue))
        }
        attributes += try [
            // Genuine receipts always contain these, with an empty text or zero
            // if there is no value.
            ReceiptAttribute(.expiresDate, date: expiresDate),
            ReceiptAttribute(.webOrderLineItemID, integer: webOrderLineItemID ?? 0),
            ReceiptAttribute(.cancellationDate, date: cancellationDate),
            ReceiptAttribute(.isTrialPeriod, integer: isTrialPeriod ? 1 : 0),
        ]
        // They contain this one for subscriptions only.
        if isInIntroOfferPeriod || type == .autoRenewable {
            attributes.append(
                try ReceiptAttribute(
                    .isInIntroOfferPeriod, integer: isInIntroOfferPeriod ? 1 : 0))
        }
        if let cancellationReason {
            attributes.append(
                try ReceiptAttribute(.cancellationReason, integer: cancellationReason))
        }
        if let promotionalOfferID {
            attributes.append(try ReceiptAttribute(.promotionalOfferID, text: promotionalOfferID))
        }
        return attributes + unknown
    }
}

extension ReceiptPurchase {
    /// Reads the SET inside an attribute 17.
    init(der: [UInt8]) throws(VerificationFailure) {
        var attributes = try ReceiptAttributes(der: der, place: "a purchase")
        guard let productID = try attributes.text(.productID) else {
            throw attributes.failure(.productID, "is missing")
        }
        guard let transactionID = try attributes.text(.transactionID) else {
            throw attributes.failure(.transactionID, "is missing")
        }
        self.productID = ProductID(productID)
        self.transactionID = transactionID
        quantity = try attributes.integer(.quantity) ?? 1
        purchaseDate = try attributes.date(.purchaseDate)
        originalTransactionID = try attributes.text(.originalTransactionID)
        originalPurchaseDate = try attributes.date(.originalTransactionDate)
        type = try attributes.integer(.productType).map { ProductType(rawValue: $0) }
        expiresDate = try attributes.date(.expiresDate)
        let lineItem = try attributes.integer(.webOrderLineItemID)
        webOrderLineItemID = lineItem == 0 ? nil : lineItem
        cancellationDate = try attributes.date(.cancellationDate)
        cancellationReason = try attributes.integer(.cancellationReason)
        isTrialPeriod = try attributes.integer(.isTrialPeriod) ?? 0 != 0
        isInIntroOfferPeriod = try attributes.integer(.isInIntroOfferPeriod) ?? 0 != 0
        promotionalOfferID = try attributes.text(.promotionalOfferID)
        unknown = attributes.remaining
    }
}
