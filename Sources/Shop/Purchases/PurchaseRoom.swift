// SPDX-License-Identifier: Apache-2.0

/// Purchases and transactions, from a payment to its receipt.
public struct PurchaseRoom: Sendable {
    let realm: Realm
}

extension Realm {
    /// Purchases and transactions, from a payment to its receipt.
    public var purchases: PurchaseRoom { PurchaseRoom(realm: self) }
}
