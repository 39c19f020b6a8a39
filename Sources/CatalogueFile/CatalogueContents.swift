// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// The contents of a catalogue file, as values.
public struct CatalogueContents: Hashable, Sendable {
    /// The products in the order of the file: `products`, non-renewing
    /// subscriptions, then the groups' subscriptions.
    public internal(set) var catalogue = Catalogue(
        products: [], storefront: "USA", locale: "en_US")
    public internal(set) var groups: [SubscriptionGroup] = []
    /// The terms of every auto-renewable subscription that has a group and a
    /// period.
    public internal(set) var terms: [ProductID: SubscriptionTerms] = [:]
    public internal(set) var settings = SandboxSettings()
    public internal(set) var policies = AppPolicies()
    /// Nil if the file has no such key, or an unusable one.
    public internal(set) var offersKey: OffersKey?

    /// Makes the contents of an empty catalogue.
    public init() {}
}

/// The licence and privacy texts of an app.
public struct AppPolicies: Hashable, Sendable {
    /// The licence text or its URL. Empty if there is none.
    public var licence = ""
    public var policies: [Policy] = []

    /// A privacy policy in one language.
    public struct Policy: Hashable, Sendable {
        public let locale: String
        public let text: String
        public let url: String
    }
}

/// The key that signs promotional offers in tests.
public struct OffersKey: Hashable, Sendable {
    /// The identifier by which a signature names the key.
    public let id: String
    /// The private key as PKCS#8 in DER.
    public let privateKey: [UInt8]
}
