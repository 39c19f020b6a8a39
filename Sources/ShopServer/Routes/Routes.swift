// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Shop

typealias Route = ServerRoute<Access, Visit>

/// The holders of which key may use a route, and what its answer is about.
enum Access: Hashable, Sendable {
    /// Everyone, also load balancers without the proxy in between.
    case probe
    /// Everyone. About the whole store.
    case everyone
    /// Holders of a door's key. About the whole store, so that it has no realm's
    /// prefix.
    case store(Door)
    /// Holders of a door's key. About one realm.
    case realm(Door)
    /// Merchants' servers, with a token that a server key has signed, and Apple's limit
    /// for the address.
    case merchant(MerchantRate)

    /// Merchants' servers that verify a receipt. The shared secret in the body selects
    /// the realm, if the address names none.
    case receipts

    var isMerchant: Bool { if case .merchant = self { true } else { false } }

    /// Whether it has no realm's prefix.
    var isStoreWide: Bool {
        switch self {
        case .probe, .everyone, .store: true
        case .realm, .merchant, .receipts: false
        }
    }
}

/// Every route but those of the device protocol, which devices and the store
/// share (``StoreWire/DeviceRoute``).
enum Routes {
    static let table = RouteTable<Access, Visit>(Array(parts.joined()))

    private static let parts: [[Route]] = [
        open, certificates, merchants, receipts, store, customers, families, subscriptions, refunds,
        apps,
        products, content, promotions, appPages, reviews,
        control, forcedSubscriptions, forcedRefunds,
    ]
}
