// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire

extension Merchant {
    /// Counts a request to an address. A sandbox has limits only if a
    /// ``Commerce/Fault/rateLimits(perHour:)`` is switched on. Throws
    /// ``AppleRefusal`` 4290000 if there were too many in this hour.
    public func count(_ address: String, _ rate: MerchantRate) throws {
        let most: Int64
        switch limits {
        case nil where realm.isProduction: most = rate.perHour(isProduction: true)
        case .rateLimits(let perHour):
            most = perHour ?? rate.perHour(isProduction: realm.isProduction)
        default: return
        }
        let retry = realm.merchantLimits.count(
            bundleID, address, perHour: most, at: realm.ports.wall.now)
        if let retry { throw AppleRefusal(.rateLimitExceeded, retryAfter: retry) }
    }
}
