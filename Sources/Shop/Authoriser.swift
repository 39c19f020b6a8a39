// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A payment processor behind a port. It is never called while a database
/// transaction is open, and every call carries the purchase's charge key:
/// a processor charges at most once for one key.
public protocol Authoriser: Sendable {
    /// Reserves the sum. Throwing means that the outcome is unknown.
    func authorise(_ charge: Charge) async throws -> ChargeOutcome

    /// What became of a key: asks, and never charges. Nil means that the
    /// processor has never heard of it.
    func outcome(of key: String) async throws -> ChargeOutcome?

    /// Takes the sum that was reserved. Capturing again changes nothing.
    func capture(_ key: String) async throws

    /// Gives the sum back. Voiding again, or a key never heard of, changes nothing;
    /// a key given back stays so, whatever is asked for under it later.
    func void(_ key: String) async throws
}

/// What a processor is asked to reserve.
public struct Charge: Hashable, Sendable {
    /// The same for every attempt at the same purchase.
    public let key: String
    public let total: Money
    public let customer: CustomerID
    /// For the customer's statement.
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

/// What a processor says about a charge.
public enum ChargeOutcome: Hashable, Sendable {
    /// Reserved; the reference is the processor's own name for it.
    case approved(reference: String)
    case declined
}
