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
    /// Merchants' servers, with a token that a server key has signed.
    case merchant

    /// Whether it has no realm's prefix.
    var isStoreWide: Bool {
        switch self {
        case .probe, .everyone, .store: true
        case .realm, .merchant: false
        }
    }
}

/// Every route but those of the device protocol, which devices and the store
/// share (``StoreWire/DeviceRoute``).
enum Routes {
    static let table = RouteTable<Access, Visit>(Array(parts.joined()))

    private static let parts: [[Route]] = [
        open, certificates, merchants, store, customers, families, subscriptions, refunds, apps,
        products,
        control, forcedSubscriptions, forcedRefunds,
    ]
}
