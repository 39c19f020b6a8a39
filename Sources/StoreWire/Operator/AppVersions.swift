// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A version of an app, as operators see it.
public struct AppVersionSummary: Hashable, Sendable, Codable {
    public var bundleId: String
    public var version: String
    /// `waiting` or `live`.
    public var state: String
    /// The ids of the products that were submitted with it.
    public var products: [String]
    /// The wall time of its creation.
    public var createdDate: Timestamp
    /// The wall time at which it went live. Missing while it waits.
    public var liveDate: Timestamp?

    public init(
        bundleId: String, version: String, state: String, products: [String],
        createdDate: Timestamp, liveDate: Timestamp?
    ) {
        self.bundleId = bundleId
        self.version = version
        self.state = state
        self.products = products
        self.createdDate = createdDate
        self.liveDate = liveDate
    }
}

/// An app's versions, oldest first.
public struct AppVersionList: Hashable, Sendable, Codable {
    public var versions: [AppVersionSummary]

    public init(versions: [AppVersionSummary]) {
        self.versions = versions
    }
}

/// Requests a new version. It waits until it is made live.
public struct CreateAppVersionRequest: Hashable, Sendable, Codable {
    /// One to four numbers of at most six digits, separated by points.
    public var version: String
    /// Ids of the products that are submitted with it.
    public var products: [String]?

    public init(version: String, products: [String]? = nil) {
        self.version = version
        self.products = products
    }
}

/// Changes a version. A missing field stays unchanged.
public struct AppVersionChange: Hashable, Sendable, Codable {
    /// `live` makes the version available to customers. This cannot be undone.
    public var state: String?
    /// The complete list of the products that are submitted with it. Can be
    /// changed only while it waits.
    public var products: [String]?

    public init(state: String? = nil, products: [String]? = nil) {
        self.state = state
        self.products = products
    }
}
