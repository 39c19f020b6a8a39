// SPDX-License-Identifier: Apache-2.0

/// A request to buy: what the customer confirmed on the payment sheet.
public struct Payment: Hashable, Sendable {
    public let productID: ProductID
    public let quantity: Int
    /// The price of one unit that the payment sheet showed.
    public let shownUnitPrice: Money
    /// The app's own name for its user. Apple's store keeps it only if it is a
    /// UUID.
    public let applicationUsername: String?
    /// The id of the payment that was confirmed again and that this one
    /// replaces.
    public let replaces: PurchaseID?
    /// Whether a sandbox requires a parent's approval, for any customer.
    public let simulatesAskToBuy: Bool
    /// The offer that it asks for, for a subscription.
    public let offer: RequestedOffer?
    /// Whether a year is paid for in monthly parts.
    public let isCommitted: Bool

    /// The highest quantity of a consumable in one payment.
    public static let quantityMax = 10

    public init(
        productID: ProductID, quantity: Int, shownUnitPrice: Money,
        applicationUsername: String? = nil, replaces: PurchaseID? = nil,
        simulatesAskToBuy: Bool = false, offer: RequestedOffer? = nil,
        isCommitted: Bool = false
    ) {
        self.productID = productID
        self.quantity = quantity
        self.shownUnitPrice = shownUnitPrice
        self.applicationUsername = applicationUsername
        self.replaces = replaces
        self.simulatesAskToBuy = simulatesAskToBuy
        self.offer = offer
        self.isCommitted = isCommitted
    }

    /// The user's token that servers receive. Set if the username is a UUID.
    public var appAccountToken: UUIDText? { applicationUsername.flatMap(UUIDText.init) }

    /// Returns the first field, in the order of the wire, in which another
    /// payment under the same purchase id differs. Nil if they are equal.
    public func firstDifference(from other: Payment) -> String? {
        if productID != other.productID { return "productId" }
        if quantity != other.quantity { return "quantity" }
        if shownUnitPrice.amount != other.shownUnitPrice.amount { return "unitPrice" }
        if shownUnitPrice.currency != other.shownUnitPrice.currency { return "currency" }
        guard applicationUsername.isSame(as: other.applicationUsername) else {
            return "applicationUsername"
        }
        if replaces != other.replaces { return "replaces" }
        if simulatesAskToBuy != other.simulatesAskToBuy { return "simulatesAskToBuyInSandbox" }
        if offer != other.offer { return "offer" }
        if isCommitted != other.isCommitted { return "billingPlan" }
        return nil
    }
}

/// Why a payment was not sold. The cases are in order of precedence, and this
/// order is part of the contract: the first one that applies is the answer. It
/// is stored with the purchase, so that a repeated request gets the same
/// answer.
public enum PurchaseRefusal: String, Error, Sendable, CaseIterable {
    /// The sandbox's catalogue file makes payments fail.
    case simulated
    /// A sandbox fails on purpose, without a reason.
    case storeFault
    /// The app has no such product.
    case unknownProduct
    /// This store lists products of this type but does not sell them yet.
    case notSoldYet
    /// The quantity is below 1 or above 10.
    case quantityOutOfRange
    /// More than one of a product that is bought once.
    case quantityOfNonConsumable
    /// The signed token is not one for this use: its audience, its app, its product
    /// or its form.
    case offerTokenInvalid
    /// The key that the offer is signed with is not one of the app's.
    case offerKeyUnknown
    /// The signature is not one of the app's key over this product, offer and
    /// customer.
    case offerSignatureInvalid
    /// The offer was signed more than 24 hours ago, or in the future.
    case offerOutdated
    /// The signature was used before, even if that payment failed.
    case offerNonceUsed
    /// There is no such code, or it is switched off, expired or used up.
    case offerCodeInvalid
    /// The product has no such offer.
    case offerUnknown
    /// The customer does not get this offer.
    case offerNotEligible
    /// This customer is not allowed to buy.
    case purchasesNotAllowed
    /// The payment sheet showed a price or currency that is not the product's
    /// present one.
    case priceChanged
    /// A production realm without a payment processor sells nothing.
    case noProcessor
    /// The payment processor declined.
    case declined
    /// The parent declined.
    case approvalDeclined
    /// The parent did not answer in time.
    case approvalTimedOut
    /// The payment processor approved, but the database rejected the sale
    /// repeatedly. The sum is given back.
    case notRecorded
}

/// The state of a purchase: `asked → authorising → sold | refused | waiting`, or
/// `joined`.
public enum PurchaseState: Hashable, Sendable {
    /// Stored, not decided yet.
    case asked
    /// A payment processor is or was asked, with the purchase's charge key.
    case authorising
    case sold(TransactionID)
    case refused(PurchaseRefusal)
    /// Waits for an answer from a person.
    case waiting(WaitingReason)
    /// It was asked for while the customer's payment for the same product was not
    /// decided, and has the state of that one for ever.
    case joined(PurchaseID)
}

public enum WaitingReason: String, Sendable, CaseIterable {
    /// For a parent's approval.
    case approval
    /// For the customer to act outside the app.
    case attention
}
