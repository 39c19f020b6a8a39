// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// All that a catalogue file says, as values.
public struct CatalogueContents: Hashable, Sendable {
    /// The products in the file's order: `products`, non-renewing
    /// subscriptions, then the groups' subscriptions.
    public internal(set) var catalogue = Catalogue(
        products: [], storefront: "USA", locale: "en_US")
    public internal(set) var groups: [SubscriptionGroup] = []
    /// Of every auto-renewable subscription that has a group and a period.
    public internal(set) var terms: [ProductID: SubscriptionTerms] = [:]
    public internal(set) var settings = SandboxSettings()
    public internal(set) var policies = AppPolicies()
    /// Nil where the file has none, or one that cannot be used.
    public internal(set) var offersKey: OffersKey?

    /// Of a catalogue that sells nothing.
    public init() {}
}

/// What an app tells its customers of licence and privacy.
public struct AppPolicies: Hashable, Sendable {
    /// The licence: its text or its URL; empty where there is none.
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
    /// The key identifier that a signer names.
    public let id: String
    /// PKCS#8, DER.
    public let privateKey: [UInt8]
}
