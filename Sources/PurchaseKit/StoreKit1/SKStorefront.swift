// SPDX-License-Identifier: Apache-2.0

public import Foundation
import StoreWire

/// The country in whose store the customer buys.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skstorefront)
open class SKStorefront: NSObject, @unchecked Sendable {
    private var facts: StorefrontDescription?

    /// Makes an empty storefront, for subclasses in tests.
    public override init() {
        super.init()
    }

    convenience init(_ description: StorefrontDescription) {
        self.init()
        facts = description
    }

    /// ISO 3166-1 alpha-3, for example `USA`.
    open var countryCode: String { facts?.countryCode ?? "" }
    /// The storefront's number, in decimal digits. Empty for a country that has
    /// none.
    open var identifier: String { facts?.id ?? "" }
}
