// SPDX-License-Identifier: Apache-2.0

/// Offers that a payment asks for: what a merchant's server has signed, and codes.
public struct OfferRoom: Sendable {
    let realm: Realm
}

extension Realm {
    /// Offers that a payment asks for: what a merchant's server has signed, and codes.
    public var offers: OfferRoom { OfferRoom(realm: self) }
}
