// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// What the game sells. All of it can be promoted in the store.
enum Item: String, CaseIterable {
    /// Hidden beaches, which are the player's for good.
    case lagoon, cove
    /// A subscription.
    case pro
    /// Is fished out after a catch, and sold again. So it is a consumable, is never owned,
    /// and its promotion is never hidden.
    case hotspot

    private static let prefix = "com.example.hiddenbeaches."

    init?(productIdentifier: String) {
        guard productIdentifier.hasPrefix(Self.prefix) else { return nil }
        self.init(rawValue: String(productIdentifier.dropFirst(Self.prefix.count)))
    }

    var productIdentifier: String { Self.prefix + rawValue }

    var name: String {
        switch self {
        case .lagoon: return "The Lagoon"
        case .cove: return "The Cove"
        case .pro: return "Pro"
        case .hotspot: return "A fishing hot spot"
        }
    }
}
