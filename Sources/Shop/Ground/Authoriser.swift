// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// The port to a payment processor. It is never called while a database
/// transaction is open. Every call contains the purchase's charge key, and a
/// processor charges at most once for one key.
public protocol Authoriser: Sendable {
    /// Reserves the sum. If this throws, the outcome is unknown.
    func authorise(_ charge: Charge) async throws -> ChargeOutcome

    /// Returns the outcome of a key, and never charges. Nil if the processor
    /// does not know the key.
    func outcome(of key: String) async throws -> ChargeOutcome?

    /// Captures the reserved sum. A repeated call has no effect.
    func capture(_ key: String) async throws

    /// Gives the sum back. A repeated call, or one for an unknown key, has no
    /// effect. A voided key remains voided, whatever is requested under it
    /// later.
    func void(_ key: String) async throws

    /// Gives back a sum of a captured charge. A repeated call with the same key and
    /// refund has no effect. Neither has a call for a refund that was taken back.
    func refund(_ refund: RefundCharge) async throws

    /// Takes a refund back. A repeated call has no effect. A refund that was not
    /// made before is then never made.
    func takeBack(_ refund: RefundCharge) async throws
}

/// What a processor is to give back.
public struct RefundCharge: Hashable, Sendable {
    /// The key of the charge.
    public let key: String
    /// Distinguishes the refunds of one charge. The same for every attempt.
    public let refund: String
    public let total: Money

    public init(key: String, refund: String, total: Money) {
        self.key = key
        self.refund = refund
        self.total = total
    }
}

/// What a processor is to reserve.
public struct Charge: Hashable, Sendable {
    /// The same for every attempt at the same purchase.
    public let key: String
    public let total: Money
    public let customer: CustomerID
    /// For the customer's statement of account.
    public let bundleID: BundleID
    public let productID: ProductID

    public init(
        key: String, total: Money, customer: CustomerID, bundleID: BundleID, productID: ProductID
    ) {
        self.key = key
        self.total = total
        self.customer = customer
        self.bundleID = bundleID
        self.productID = productID
    }
}

/// A processor's answer about a charge.
public enum ChargeOutcome: Hashable, Sendable {
    /// The sum is reserved. The reference is the processor's own name for it.
    case approved(reference: String)
    case declined
}
