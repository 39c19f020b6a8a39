// SPDX-License-Identifier: Apache-2.0

/// A request to buy: what the customer confirmed on the payment sheet.
public struct Payment: Hashable, Sendable {
    public let productID: ProductID
    public let quantity: Int
    /// What the sheet showed for one.
    public let shownUnitPrice: Money
    /// The app's own word for its user; not kept by Apple's store unless it is a UUID.
    public let applicationUsername: String?
    /// Ids of payments that were confirmed again and that this one replaces.
    public let replaces: PurchaseID?
    /// Whether a sandbox asks for a parent's approval, whoever buys.
    public let simulatesAskToBuy: Bool

    /// How many of a consumable one payment may ask for.
    public static let quantityMax = 10

    public init(
        productID: ProductID, quantity: Int, shownUnitPrice: Money,
        applicationUsername: String? = nil, replaces: PurchaseID? = nil,
        simulatesAskToBuy: Bool = false
    ) {
        self.productID = productID
        self.quantity = quantity
        self.shownUnitPrice = shownUnitPrice
        self.applicationUsername = applicationUsername
        self.replaces = replaces
        self.simulatesAskToBuy = simulatesAskToBuy
    }

    /// The user's token as servers see it: set where the username is a UUID.
    public var appAccountToken: UUIDText? { applicationUsername.flatMap(UUIDText.init) }

    /// The first field in which another payment under the same purchase id
    /// differs, in the order of the wire; nil when they are the same.
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
        return nil
    }
}

/// Why a payment was not sold. Cases stand in order of precedence, and the
/// order is contract: the first that applies is the answer. Recorded with the
/// purchase, so asking again gives the same one.
public enum PurchaseRefusal: String, Sendable, CaseIterable {
    /// A sandbox whose catalogue file says that payments fail.
    case simulated
    /// The app sells no such product.
    case unknownProduct
    /// The product is of a type that this store lists but does not sell yet.
    case notSoldYet
    /// The quantity is below 1 or above 10.
    case quantityOutOfRange
    /// More than one of a product that is bought once.
    case quantityOfNonConsumable
    /// This customer may not buy.
    case purchasesNotAllowed
    /// The sheet showed another price or currency than the product has now.
    case priceChanged
    /// A production realm without a payment processor sells nothing.
    case noProcessor
    /// The processor said no.
    case declined
    /// The parent who was asked said no.
    case approvalDeclined
    /// The parent who was asked did not answer in time.
    case approvalTimedOut
    /// The processor approved, the database refused the sale again and again,
    /// and the sum is given back.
    case notRecorded
}

/// Where a purchase stands: `asked → authorising → sold | refused | waiting`.
public enum PurchaseState: Hashable, Sendable {
    /// Written down, nothing decided yet.
    case asked
    /// A processor has been or is being asked, under the purchase's charge key.
    case authorising
    case sold(TransactionID)
    case refused(PurchaseRefusal)
    /// Somebody else must answer first.
    case waiting(WaitingReason)
}

public enum WaitingReason: String, Sendable, CaseIterable {
    /// A parent's approval.
    case approval
    /// The customer's own attention outside the app.
    case attention
}

/// What deciding a payment needs to know, read in the commit that decides.
public struct PurchaseFacts: Hashable, Sendable {
    public let product: Product?
    public let storefront: Storefront
    public let mayBuy: Bool
    /// The transaction by which the customer owns the product already.
    public let owned: TransactionID?
    public let authoriser: AuthoriserKind
    /// Whether somebody must approve the payment and has not done so yet.
    public let lacksApproval: Bool
    /// Whether the customer must see to something first: a sandbox that
    /// interrupts purchases.
    public let needsAttention: Bool
    /// What a sandbox was told to answer.
    public let simulated: PurchaseRefusal?

    public init(
        product: Product?, storefront: Storefront, mayBuy: Bool, owned: TransactionID?,
        authoriser: AuthoriserKind, lacksApproval: Bool = false, needsAttention: Bool = false,
        simulated: PurchaseRefusal? = nil
    ) {
        self.product = product
        self.storefront = storefront
        self.mayBuy = mayBuy
        self.owned = owned
        self.authoriser = authoriser
        self.lacksApproval = lacksApproval
        self.needsAttention = needsAttention
        self.simulated = simulated
    }
}

/// Who says that a payment is paid.
public enum AuthoriserKind: String, Sendable {
    /// A rule decides at once: sandboxes.
    case rule
    /// A payment processor is asked, never inside a commit.
    case processor
    /// Nobody: nothing is sold.
    case none
}

/// What is to be done with a payment.
public enum PurchaseDecision: Hashable, Sendable {
    case refuse(PurchaseRefusal)
    /// Owned already: answer with that transaction, charge nothing.
    case deliverOwned(TransactionID)
    /// Sell in this commit.
    case sell(total: Money)
    /// Commit `authorising`, then ask the processor for this sum.
    case authorise(total: Money)
    /// Nothing stands against it but that somebody must answer first.
    case wait(WaitingReason)
}

extension PurchaseDecision {
    /// Decides a payment that was not decided before, by the order of
    /// ``PurchaseRefusal``. What is owned is delivered again before price or
    /// payer are looked at, since nothing is charged.
    public static func decide(_ payment: Payment, _ facts: PurchaseFacts) -> PurchaseDecision {
        if let simulated = facts.simulated { return .refuse(simulated) }
        guard let product = facts.product else { return .refuse(.unknownProduct) }
        guard product.type == .consumable || product.type == .nonConsumable else {
            return .refuse(.notSoldYet)
        }
        guard (1...Payment.quantityMax).contains(payment.quantity) else {
            return .refuse(.quantityOutOfRange)
        }
        guard payment.quantity == 1 || product.type == .consumable else {
            return .refuse(.quantityOfNonConsumable)
        }
        if let owned = facts.owned { return .deliverOwned(owned) }
        guard facts.mayBuy else { return .refuse(.purchasesNotAllowed) }
        let unitPrice = Money(product.price, facts.storefront.currency)
        guard payment.shownUnitPrice == unitPrice else { return .refuse(.priceChanged) }
        let total = Money(product.price * payment.quantity, unitPrice.currency)
        switch facts.authoriser {
        case .none: return .refuse(.noProcessor)
        case .rule, .processor:
            if facts.lacksApproval { return .wait(.approval) }
            if facts.needsAttention { return .wait(.attention) }
            return facts.authoriser == .rule ? .sell(total: total) : .authorise(total: total)
        }
    }
}
