// SPDX-License-Identifier: Apache-2.0

/// What the realm's apps sell: apps, products, groups, offers, versions and images.
public struct CatalogueRoom: Sendable {
    let realm: Realm
}

extension Realm {
    /// What the realm's apps sell: apps, products, groups, offers, versions and images.
    public var catalogue: CatalogueRoom { CatalogueRoom(realm: self) }
}
