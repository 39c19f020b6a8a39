// SPDX-License-Identifier: Apache-2.0

/// The realms of a store, by name.
public struct RealmList: Hashable, Sendable, Codable {
    public var realms: [RealmSummary]

    public init(realms: [RealmSummary]) {
        self.realms = realms
    }
}

/// Customers of a realm, ordered by number.
public struct CustomerList: Hashable, Sendable, Codable {
    public var customers: [CustomerSummary]

    public init(customers: [CustomerSummary]) {
        self.customers = customers
    }
}

/// The server keys of a realm, oldest first.
public struct ServerKeyList: Hashable, Sendable, Codable {
    public var serverKeys: [ServerKeySummary]

    public init(serverKeys: [ServerKeySummary]) {
        self.serverKeys = serverKeys
    }
}

/// Requests a key with which a merchant's server may read an app's
/// transactions.
public struct CreateServerKeyRequest: Hashable, Sendable, Codable {
    public var bundleId: String

    public init(bundleId: String) {
        self.bundleId = bundleId
    }
}

/// The state of a server: `ok` (the process runs) or `ready` (its storage
/// answers).
public struct ServerStatus: Hashable, Sendable, Codable {
    public var status: String
    /// The clusters that did not answer the last request to them. Each is given
    /// as the buckets of its customers, whose requests have to wait. Missing if
    /// there are none.
    public var clustersAway: [String]?

    public init(status: String, clustersAway: [String]? = nil) {
        self.status = status
        self.clustersAway = clustersAway
    }
}
