// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation

/// What the app asked to buy.
struct PaymentContents: Hashable, Sendable, Codable {
    var productID: String
    var quantity: Int
    var applicationUsername: String?
    var requestData: Data?
    /// Whether a sandbox asks for approval; nil as false.
    var simulatesAskToBuyInSandbox: Bool?
}

/// Whose an entry is: one customer in one realm.
struct Owner: Hashable, Sendable, Codable {
    var realm: String
    var customer: String
}

/// The price that the payment sheet showed for one.
struct ShownPrice: Hashable, Sendable, Codable {
    /// Thousandths of the currency's unit.
    var unitPrice: Int64
    var currency: String
}

/// A verified transaction, as far as the device needs it.
struct SoldTransaction: Hashable, Sendable, Codable {
    var transactionID: String
    var purchaseDate: Timestamp?
    var signedTransaction: String
    /// The customer's revision by which the device knows it; nil in files of
    /// before there was one: older than all that have one.
    var revision: Int64?
}

/// One payment's or transaction's place in the queue.
struct QueueEntry: Hashable, Sendable, Codable {
    enum State: String, Hashable, Sendable, Codable {
        /// Added; its sheet is not answered, and nothing has left the device.
        case asked
        /// Confirmed on the sheet; it may have been sent.
        case confirmed
        /// Somebody else must approve it.
        case waiting
        /// It failed; the app has not finished it.
        case failed
        /// It was sold; the app has not finished it.
        case purchased
        /// The app finished it and the store has not heard: a tombstone that
        /// hides the transaction until then.
        case finished
    }

    /// Names the entry for its whole life.
    var key: String
    /// The id under which the payment is sent now; a price that changed
    /// gives it a new one. Nil for a transaction that another device made.
    var purchaseID: String?
    /// The purchase id that was refused and replaced by this one.
    var replaces: String?
    /// The process that looks after it while it lives.
    var launch: String
    /// Nil until the customer confirms.
    var owner: Owner?
    var payment: PaymentContents
    var shown: ShownPrice?
    var state: State
    var failure: PaymentFailure?
    var sold: SoldTransaction?

    /// Whether an outcome is still awaited.
    var isUnderWay: Bool { state == .asked || state == .confirmed || state == .waiting }
}
