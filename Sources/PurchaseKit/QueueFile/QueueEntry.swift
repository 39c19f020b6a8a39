// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import StoreWire

/// The contents of a payment, as the app requested it.
struct PaymentContents: Hashable, Sendable, Codable {
    var productID: String
    var quantity: Int
    var applicationUsername: String?
    var requestData: Data?
    /// Whether a sandbox requires approval. Nil means false.
    var simulatesAskToBuyInSandbox: Bool?
    /// The offer that the payment asks for.
    var offer: OfferRequest?
    /// `MONTHLY` to pay for a year in parts.
    var billingPlan: String?
    /// The choice outside of the app that the payment comes from. Its id becomes that of
    /// the entry, and is not written down a second time.
    var intentID: String?
}

/// The owner of an entry: one customer in one realm.
struct Owner: Hashable, Sendable, Codable {
    var realm: String
    var customer: String
}

/// The price of one unit that the payment sheet showed.
struct ShownPrice: Hashable, Sendable, Codable {
    /// Thousandths of the currency's unit.
    var unitPrice: Int64
    var currency: String
}

/// The facts about a verified transaction that the device needs.
struct SoldTransaction: Hashable, Sendable, Codable {
    var transactionID: String
    var purchaseDate: Timestamp?
    var signedTransaction: String
    /// The customer's revision with which the device received it. Nil in older
    /// files, which counts as older than any revision.
    var revision: Int64?
    /// The content that the store hosts for it. An older reader loses it.
    var content: ContentDescription?
}

/// A finished sale that the customer has restored.
struct RestoredSale: Hashable, Sendable, Codable {
    /// The store's number of the sale.
    var transactionID: String
    /// The customer's revision with which the device received the sale.
    var revision: Int64
    /// The first purchase: the sale itself, or that of the subscription's first
    /// period.
    var originalID: String
    var originalDate: Timestamp?
    /// Nil if the first purchase was the same payment.
    var originalPayment: PaymentContents?
    /// When it was restored, in the store's time.
    var date: Timestamp
    /// The content that the store hosts for it. An older reader loses it.
    var content: ContentDescription?
}

/// One payment or transaction in the queue.
struct QueueEntry: Hashable, Sendable, Codable {
    enum State: String, Hashable, Sendable, Codable {
        /// Added. The payment sheet is not answered, and nothing has left the
        /// device.
        case asked
        /// Confirmed on the payment sheet. It may have been sent.
        case confirmed
        /// Waits for a parent's approval.
        case waiting
        /// Failed, and not finished by the app.
        case failed
        /// Sold, and not finished by the app.
        case purchased
        /// Finished by the app, but the store does not know yet. The entry is a
        /// tombstone that hides the transaction until then.
        case finished
        /// A finished sale that the customer has restored, and that the app has
        /// not finished again. The store does not know of this entry.
        case restored
    }

    /// Identifies the entry. It never changes.
    var key: String
    /// The id under which the payment is sent at present. It is replaced after
    /// a change of the price. Nil for a transaction that another device made.
    var purchaseID: String?
    /// The refused purchase id that this one replaces.
    var replaces: String?
    /// The process that is responsible for the entry while it lives.
    var launch: String
    /// Nil until the customer confirms.
    var owner: Owner?
    var payment: PaymentContents
    var shown: ShownPrice?
    var state: State
    var failure: PaymentFailure?
    var sold: SoldTransaction?
    /// Present with `restored`. `sold` is then nil, because the entry must not hide
    /// a delivery of the sale itself.
    var restored: RestoredSale?

    /// Whether the outcome is still open.
    var isUnderWay: Bool { state == .asked || state == .confirmed || state == .waiting }

    /// Whether the app has still to deliver it and finish it.
    var isOwedToApp: Bool { state == .purchased || state == .restored }

    /// The store's number of the sale and the revision with which it came, whether
    /// bought or restored.
    var sale: (transactionID: String, revision: Int64?)? {
        if let sold { return (sold.transactionID, sold.revision) }
        return restored.map { ($0.transactionID, $0.revision) }
    }
}
