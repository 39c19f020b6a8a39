// SPDX-License-Identifier: Apache-2.0

/// The realms of a store, by name.
public struct RealmList: Hashable, Sendable, Codable {
    public var realms: [RealmSummary]

    public init(realms: [RealmSummary]) {
        self.realms = realms
    }
}

/// Customers of a realm, in the order of their numbers.
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

/// Asks for a key with which a merchant's server may read an app's transactions.
public struct CreateServerKeyRequest: Hashable, Sendable, Codable {
    public var bundleId: String

    public init(bundleId: String) {
        self.bundleId = bundleId
    }
}

/// How a server is: `ok` (the process runs) or `ready` (its storage answers).
public struct ServerStatus: Hashable, Sendable, Codable {
    public var status: String
    /// Clusters that did not answer whoever asked last, by the buckets of the
    /// customers that they have and that wait for them; missing: none.
    public var clustersAway: [String]?

    public init(status: String, clustersAway: [String]? = nil) {
        self.status = status
        self.clustersAway = clustersAway
    }
}
