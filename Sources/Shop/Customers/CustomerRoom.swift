// SPDX-License-Identifier: Apache-2.0

/// The realm's customers: accounts, sign-in, sessions and their histories.
public struct CustomerRoom: Sendable {
    let realm: Realm
}

extension Realm {
    /// The realm's customers: accounts, sign-in, sessions and their histories.
    public var customers: CustomerRoom { CustomerRoom(realm: self) }
}
