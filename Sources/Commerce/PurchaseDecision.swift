// SPDX-License-Identifier: Apache-2.0

/// The facts that a decision on a payment needs. They are read in the commit
/// that decides.
public struct PurchaseFacts: Hashable, Sendable {
    public let product: Product?
    public let storefront: Storefront
    public let mayBuy: Bool
    /// The transaction with which the customer has the product already: one that
    /// is owned, or was bought and is not finished.
    public let owned: TransactionID?
    /// The customer's payment for the same product that is still undecided.
    public let open: PurchaseID?
    /// Which payments a sandbox's authoriser declines, and what it knows of this one.
    public let declines: [DeclineRule]
    public let customer: CustomerID
    public let attempt: Int
    public let authoriser: AuthoriserKind
    /// The refusal that the sandbox is configured to give.
    public let simulated: PurchaseRefusal?
    /// What a payment for a subscription does. Nil for other products, and for a
    /// subscription whose group or period is unknown.
    public let subscription: SubscriptionSale?

    public init(
        product: Product?, storefront: Storefront, mayBuy: Bool, owned: TransactionID?,
        authoriser: AuthoriserKind, simulated: PurchaseRefusal? = nil,
        subscription: SubscriptionSale? = nil, open: PurchaseID? = nil,
        declines: [DeclineRule] = [], customer: CustomerID = CustomerID(0), attempt: Int = 1
    ) {
        self.product = product
        self.storefront = storefront
        self.mayBuy = mayBuy
        self.owned = owned
        self.open = open
        self.declines = declines
        self.customer = customer
        self.attempt = attempt
        self.authoriser = authoriser
        self.simulated = simulated
        self.subscription = subscription
    }
}

/// How payments are authorised.
public enum AuthoriserKind: String, Sendable {
    /// A rule authorises at once. Used in sandboxes.
    case rule
    /// A payment processor authorises. It is never called inside a commit.
    case processor
    /// Payments are not authorised, so nothing is sold.
    case none
}

/// What a payment buys, with everything that its transaction states about it.
public struct Sale: Hashable, Sendable {
    /// The product, with its price in the storefront.
    public let product: Product
    public let quantity: Int
    public let storefront: Storefront
    /// Present for an auto-renewable subscription.
    public let subscription: SubscriptionSale?

    public init(
        product: Product, quantity: Int, storefront: Storefront,
        subscription: SubscriptionSale? = nil
    ) {
        self.product = product
        self.quantity = quantity
        self.storefront = storefront
        self.subscription = subscription
    }

    /// The price of one unit, with the offer that applies.
    public var unitPrice: Money {
        subscription?.price ?? Money(product.price, storefront.currency)
    }

    /// The price of the whole quantity.
    public var total: Money { Money(unitPrice.amount * quantity, unitPrice.currency) }
}

/// Whether a payment may be sold, and what is sold.
public enum PurchaseDecision: Hashable, Sendable {
    case refuse(PurchaseRefusal)
    /// The customer already owns the product, or has bought it and the app has not
    /// finished that. Answer with that transaction and charge nothing.
    case deliverOwned(TransactionID)
    /// The customer's payment for the same product is not decided yet. This one
    /// ends as that one does, and charges nothing.
    case join(PurchaseID)
    /// The customer subscribes already. Change what happens at the next renewal,
    /// answer with the current period's transaction and charge nothing.
    case arrange(SubscriptionSale, TransactionID)
    /// Sell in the current commit.
    case sell(Sale)
    /// Commit the state `authorising`, then ask the payment processor for the
    /// total.
    case authorise(Sale)
}

extension PurchaseDecision {
    /// Decides a payment, in the order of ``PurchaseRefusal``. A product that
    /// the customer has already is delivered again without checking the price or
    /// the payment, because nothing is charged. Subscriptions join nothing: what
    /// their group's state makes of a second payment is never a second charge.
    public static func decide(_ payment: Payment, _ facts: PurchaseFacts) -> PurchaseDecision {
        if let simulated = facts.simulated { return .refuse(simulated) }
        guard let product = facts.product else { return .refuse(.unknownProduct) }
        guard facts.sells(product), !payment.isCommitted || product.type == .autoRenewable else {
            return .refuse(.notSoldYet)
        }
        guard (1...Payment.quantityMax).contains(payment.quantity) else {
            return .refuse(.quantityOutOfRange)
        }
        guard payment.quantity == 1 || !product.type.isBoughtSingly else {
            return .refuse(.quantityOfNonConsumable)
        }
        if let owned = facts.owned { return .deliverOwned(owned) }
        if let open = facts.open, product.type != .autoRenewable { return .join(open) }
        if let refusal = facts.offerRefusal(payment) { return .refuse(refusal) }
        if let kept = facts.subscription?.kept { return .deliverOwned(kept) }
        guard facts.mayBuy else { return .refuse(.purchasesNotAllowed) }
        let sale = Sale(
            product: product, quantity: payment.quantity, storefront: facts.storefront,
            subscription: facts.subscription)
        guard sale.isCovered(by: payment.shownUnitPrice) else { return .refuse(.priceChanged) }
        if let arranged = sale.subscription, let current = arranged.arranged {
            return .arrange(arranged, current)
        }
        switch facts.authoriser {
        case .none: return .refuse(.noProcessor)
        case .rule: return facts.isDeclined(sale) ? .refuse(.declined) : .sell(sale)
        case .processor: return .authorise(sale)
        }
    }
}

extension PurchaseFacts {
    /// Whether the sandbox's authoriser declines.
    fileprivate func isDeclined(_ sale: Sale) -> Bool {
        let payment = AuthorisedPayment(
            customer: customer, product: sale.product.id, amount: sale.total.amount,
            attempt: attempt)
        return declines.contains { $0.declines(payment) }
    }

    /// Whether the store sells the product. A subscription needs a group and a
    /// period.
    fileprivate func sells(_ product: Product) -> Bool {
        product.type != .autoRenewable || subscription != nil
    }
}

extension PurchaseFacts {
    /// Why the requested offer is not given. Only subscriptions have offers.
    fileprivate func offerRefusal(_ payment: Payment) -> PurchaseRefusal? {
        guard payment.offer != nil else { return nil }
        guard let subscription else { return .offerUnknown }
        return subscription.refusal
    }
}

extension Sale {
    /// Whether a payment sheet that showed `shown` allows the sale.
    fileprivate func isCovered(by shown: Money) -> Bool {
        subscription?.isCovered(by: shown) ?? (shown == unitPrice)
    }
}

extension SubscriptionSale {
    /// The current transaction, if buying changes nothing.
    fileprivate var kept: TransactionID? {
        guard purchase == .keep, let current, !isChange else { return nil }
        return current.current.transaction
    }

    /// The current transaction, if buying changes only the next renewal.
    fileprivate var arranged: TransactionID? { isSale ? nil : current?.current.transaction }
}

extension ProductType {
    /// Whether the app delivers each purchase once, so that the next one is
    /// independent when it has finished it.
    public var isDeliveredOnce: Bool { self == .consumable || self == .nonRenewing }

    /// Whether one payment buys only one of it. A non-renewing subscription is
    /// bought as often as the app offers it: its length is the app's affair.
    public var isBoughtSingly: Bool { self == .nonConsumable || self == .autoRenewable }
}
