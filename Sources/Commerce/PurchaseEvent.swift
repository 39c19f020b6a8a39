// SPDX-License-Identifier: Apache-2.0

/// Why a purchase changed. The last one is stored with it.
public enum PurchaseCause: String, Sendable, CaseIterable {
    /// A device asked for it.
    case request
    /// It was approved or declined, or nobody answered in time.
    case approval
    /// The payment processor answered.
    case processor
    /// The database rejected the sale that the processor had approved.
    case unwritten
}

/// One step in the life of a purchase: what a decision, an answer or a fault
/// makes of it. Everything that the store writes follows from it.
public struct PurchaseEvent: Hashable, Sendable {
    /// What becomes of the purchase.
    public enum Result: Hashable, Sendable {
        case refused(PurchaseRefusal)
        /// The customer already had the product.
        case delivered(TransactionID)
        /// Another payment for the product is not decided yet, and decides this one.
        case joined(PurchaseID)
        /// The customer subscribed already, and something else happens at the next
        /// renewal.
        case arranged(SubscriptionSale, TransactionID)
        case sold(Sale, as: TransactionID)
        /// The payment processor is to be asked.
        case authorising(Sale)
        /// A person must answer first.
        case waiting(WaitingReason)
    }

    /// What is owed to the payment processor.
    public enum Debt: Hashable, Sendable {
        /// To take the reserved sum.
        case capture
        /// To give it back.
        case void
    }

    public let cause: PurchaseCause
    public let result: Result
    /// The answer that a waiting purchase received.
    public let approval: ApprovalAnswer?
    /// The processor's own name for a reserved sum.
    public let reference: String?
    public let debt: Debt?

    private init(
        _ cause: PurchaseCause, _ result: Result, approval: ApprovalAnswer? = nil,
        reference: String? = nil, debt: Debt? = nil
    ) {
        self.cause = cause
        self.result = result
        self.approval = approval
        self.reference = reference
        self.debt = debt
    }
}

/// What can delay a payment when it is first decided, and only then.
public struct PurchaseHurdles: Hashable, Sendable {
    /// Whether the payment needs an approval.
    public var lacksApproval: Bool
    /// Whether the customer must act first, in a sandbox that interrupts
    /// purchases.
    public var needsAttention: Bool

    public init(lacksApproval: Bool = false, needsAttention: Bool = false) {
        self.lacksApproval = lacksApproval
        self.needsAttention = needsAttention
    }

    /// Whether anything delays the payment.
    public var isAny: Bool { reason != nil }

    fileprivate var reason: WaitingReason? {
        if lacksApproval { return .approval }
        return needsAttention ? .attention : nil
    }
}

extension PurchaseEvent {
    /// A device has asked. Where nothing else prevents the sale, a person may
    /// have to answer first. `id` is the transaction's if this event sells.
    public static func asked(
        _ decision: PurchaseDecision, _ hurdles: PurchaseHurdles = PurchaseHurdles(),
        as id: TransactionID
    ) -> PurchaseEvent {
        switch decision {
        case .sell, .authorise:
            if let reason = hurdles.reason { return PurchaseEvent(.request, .waiting(reason)) }
        case .refuse, .deliverOwned, .join, .arrange: break
        }
        return PurchaseEvent(.request, Result(decision, as: id))
    }

    /// The answer to a waiting purchase was yes, and it was decided again.
    public static func approved(
        _ decision: PurchaseDecision, as id: TransactionID
    ) -> PurchaseEvent {
        PurchaseEvent(.approval, Result(decision, as: id), approval: .approved)
    }

    /// The answer was no, or there was none in time.
    public static func notApproved(isTimedOut: Bool) -> PurchaseEvent {
        PurchaseEvent(
            .approval, .refused(isTimedOut ? .approvalTimedOut : .approvalDeclined),
            approval: isTimedOut ? .timedOut : .declined)
    }

    /// The processor has reserved a sum. The payment was decided again, because
    /// the facts may have changed meanwhile. If the answer is now no, or another
    /// sum, the reserved one is given back.
    public static func reserved(
        _ sum: Amount?, _ reference: String, _ decision: PurchaseDecision,
        as id: TransactionID
    ) -> PurchaseEvent {
        let result: Result =
            switch decision {
            case .authorise(let sale) where sale.total.amount == sum: .sold(sale, as: id)
            case .authorise, .sell: .refused(.priceChanged)
            case .refuse(let refusal): .refused(refusal)
            case .deliverOwned(let owned): .delivered(owned)
            case .join(let open): .joined(open)
            case .arrange(let sale, let current): .arranged(sale, current)
            }
        var debt = Debt.void
        if case .sold = result { debt = .capture }
        return PurchaseEvent(.processor, result, reference: reference, debt: debt)
    }

    /// The processor has declined.
    public static let declined = PurchaseEvent(.processor, .refused(.declined))

    /// The sale of a reserved sum cannot be written. The sum is given back.
    public static func unwritten(_ reference: String) -> PurchaseEvent {
        PurchaseEvent(
            .unwritten, .refused(.notRecorded), reference: reference, debt: .void)
    }
}

extension PurchaseEvent.Result {
    fileprivate init(_ decision: PurchaseDecision, as id: TransactionID) {
        self =
            switch decision {
            case .refuse(let refusal): .refused(refusal)
            case .deliverOwned(let owned): .delivered(owned)
            case .join(let open): .joined(open)
            case .arrange(let sale, let current): .arranged(sale, current)
            case .sell(let sale): .sold(sale, as: id)
            case .authorise(let sale): .authorising(sale)
            }
    }
}

extension PurchaseEvent {
    /// The state of the purchase after the event.
    public var state: PurchaseState {
        switch result {
        case .refused(let refusal): .refused(refusal)
        case .delivered(let id), .arranged(_, let id), .sold(_, let id): .sold(id)
        case .joined(let open): .joined(open)
        case .authorising: .authorising
        case .waiting(let reason): .waiting(reason)
        }
    }

    /// What the event does to a subscription. Nil if nothing.
    public var subscription: SubscriptionSale? {
        switch result {
        case .sold(let sale, _): sale.subscription
        case .arranged(let sale, _): sale
        case .refused, .delivered, .joined, .authorising, .waiting: nil
        }
    }

    /// The event in a store that may have lost a charge of this payment, because it was
    /// restored from a copy: a payment that ends without a sale of its own owes whatever
    /// was charged under its key. The processor's own answers know what was.
    public var givingBackWhatWasLost: PurchaseEvent {
        guard cause != .processor, debt == nil else { return self }
        switch result {
        case .sold, .authorising, .waiting: return self
        case .refused, .delivered, .joined, .arranged:
            return PurchaseEvent(
                cause, result, approval: approval, reference: reference, debt: .void)
        }
    }

    /// The transaction that was sold or delivered.
    public var transaction: TransactionID? {
        if case .sold(let id) = state { return id }
        return nil
    }

    /// The sum of a sale, reserved or taken.
    public var total: Money? {
        switch result {
        case .sold(let sale, _), .authorising(let sale): sale.total
        case .refused, .delivered, .joined, .arranged, .waiting: nil
        }
    }
}
