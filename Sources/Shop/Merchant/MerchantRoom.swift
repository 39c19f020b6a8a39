// SPDX-License-Identifier: Apache-2.0

/// What a merchant's server may ask.
public struct MerchantRoom: Sendable {
    let realm: Realm
}

extension Realm {
    /// What a merchant's server may ask.
    public var merchant: MerchantRoom { MerchantRoom(realm: self) }
}
