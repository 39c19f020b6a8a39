// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire

/// What a customer has of an app now, as verifyReceipt returns it beside the receipt.
struct ReceiptHoldings: Sendable {
    /// The newest first, without finished consumables.
    private let facts: [TransactionFacts]
    private let subscriptions: [SubscriptionRow]
    /// The parts of a receipt, in DER.
    let records: [[UInt8]]

    init(
        of customer: CustomerID, _ bundleID: BundleID, at now: Timestamp, _ reading: any Reading
    ) throws {
        let values: [SQLValue] = [.integer(customer.value), .text(bundleID.value)]
        facts = try reading.query(Statement.Merchants.inReceipt, values)
            .map(TransactionFacts.init(row:))
        records = try reading.query(Statement.Transactions.records, values)
            .compactMap { try $0.optionalBlob("record") }
        subscriptions = try SubscriptionRow.ownAndShared(
            of: customer, bundleID, at: now, reading)
    }

    var hasSubscriptions: Bool { facts.contains { $0.type == .autoRenewable } }

    /// The transaction that the status of a subscription is about. It need not be the
    /// newest, because a period that was charged ahead begins later than one that an
    /// upgrade sold since.
    func latest(of original: TransactionID, at now: Timestamp) -> TransactionFacts? {
        let shown = subscription(original)?.shownTransaction(at: now)
        return facts.first { $0.id == shown } ?? facts.first { $0.originalID == original }
    }

    /// The status of a subscription. Nil if the customer has none.
    func status(of original: TransactionID, at now: Timestamp) -> SubscriptionStatus? {
        subscription(original)?.status(at: now)
    }

    private func subscription(_ original: TransactionID) -> Subscription? {
        subscriptions.first { $0.subscription.originalID == original }?.subscription
    }

    /// `isShort`: of each subscription only ``latest(of:at:)``.
    func transactions(isShort: Bool, at now: Timestamp) -> [ReceiptTransaction] {
        guard isShort else { return facts.map(ReceiptTransaction.init) }
        let subscribed = Set(facts.filter { $0.type == .autoRenewable }.map(\.originalID))
        let latest = Set(subscribed.compactMap { self.latest(of: $0, at: now)?.id })
        return facts.filter { $0.type != .autoRenewable || latest.contains($0.id) }
            .map(ReceiptTransaction.init)
    }

    /// Without what was cancelled in its grace period, like Apple's.
    func pending(environment: Environment, at now: Timestamp) -> [PendingRenewal] {
        subscriptions.filter { !$0.subscription.wasCancelledInGrace }.compactMap { row in
            PendingRenewal(row.renewalInfo(environment: environment, signedAt: now))
        }
    }

    /// What happens to one subscription next. Nil if the customer has none.
    func renewal(
        of original: TransactionID, environment: Environment, at now: Timestamp
    ) -> PendingRenewal? {
        subscriptions.first { $0.subscription.originalID == original }.flatMap { row in
            PendingRenewal(row.renewalInfo(environment: environment, signedAt: now))
        }
    }
}

extension ReceiptTransaction {
    /// As a receipt contains it.
    init(_ purchase: ReceiptPurchase) {
        self.init(
            quantity: purchase.quantity, productID: purchase.productID.value,
            transactionID: purchase.transactionID,
            originalTransactionID: purchase.originalTransactionID ?? purchase.transactionID)
        purchaseDate = purchase.purchaseDate
        originalPurchaseDate = purchase.originalPurchaseDate
        expiresDate = purchase.expiresDate
        webOrderLineItemID = purchase.webOrderLineItemID
        isTrialPeriod = purchase.isTrialPeriod
        isInIntroOfferPeriod =
            purchase.type == .autoRenewable || purchase.isInIntroOfferPeriod
            ? purchase.isInIntroOfferPeriod : nil
        cancellationDate = purchase.cancellationDate
        cancellationReason = purchase.cancellationReason
        promotionalOfferID = purchase.promotionalOfferID
    }

    /// As the store has it. Dates have no fractions of a second, as in receipts.
    init(_ facts: TransactionFacts) {
        self.init(
            quantity: Int64(facts.quantity), productID: facts.productID.value,
            transactionID: facts.id.description,
            originalTransactionID: facts.originalID.description)
        purchaseDate = facts.purchasedAt.inReceipts
        originalPurchaseDate = facts.originalPurchasedAt.inReceipts
        cancellationDate = facts.revokedAt?.inReceipts
        cancellationReason =
            facts.revokedAt == nil ? nil : facts.revocationReason.map(Int64.init)
        appAccountToken = facts.appAccountToken
        ownershipType = facts.ownership.wireName
        guard let period = facts.period else { return }
        let offer = period.offer
        expiresDate = period.expiresAt.inReceipts
        webOrderLineItemID = facts.webOrderLineItemID
        isTrialPeriod = offer?.mode == .free
        isInIntroOfferPeriod = offer?.kind == .introductory && offer?.mode != .free
        promotionalOfferID = offer?.kind == .promotional ? offer?.id : nil
        offerCodeName = offer?.kind == .code ? offer?.id : nil
        isUpgraded = period.isUpgraded
        groupID = period.groupID
    }
}

extension Timestamp {
    /// Without the fraction of a second.
    fileprivate var inReceipts: Timestamp {
        let rest = milliseconds % 1000
        return adding(milliseconds: rest < 0 ? -rest - 1000 : -rest)
    }
}

extension PendingRenewal {
    fileprivate init?(_ renewal: JWSRenewalInfoDecodedPayload) {
        guard let next = renewal.autoRenewProductId, let product = renewal.productId,
            let id = renewal.originalTransactionId
        else { return nil }
        self.init(
            autoRenewProductID: next, productID: product, originalTransactionID: id,
            isOn: renewal.autoRenewStatus == 1)
        expirationIntent = renewal.expirationIntent
        isInBillingRetryPeriod = renewal.isInBillingRetryPeriod
        gracePeriodExpiresDate = renewal.gracePeriodExpiresDate
        priceIncreaseStatus = renewal.priceIncreaseStatus
        switch renewal.offerType {
        case 2: promotionalOfferID = renewal.offerIdentifier
        case 3: offerCodeName = renewal.offerIdentifier
        default: break
        }
    }
}
