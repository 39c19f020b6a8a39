// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A version of an app as operators see it.
public struct AppVersionSummary: Hashable, Sendable, Codable {
    public var bundleId: String
    public var version: String
    /// `waiting` or `live`.
    public var state: String
    /// What comes with it, by id.
    public var products: [String]
    /// Wall time at which it was made.
    public var createdDate: Timestamp
    /// Wall time at which it went live; missing while it waits.
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

/// Asks for a new version, which waits.
public struct CreateAppVersionRequest: Hashable, Sendable, Codable {
    /// One to four numbers of at most six digits, joined by points.
    public var version: String
    /// Ids of products that come with it.
    public var products: [String]?

    public init(version: String, products: [String]? = nil) {
        self.version = version
        self.products = products
    }
}

/// Changes a version; what is missing stays as it is.
public struct AppVersionChange: Hashable, Sendable, Codable {
    /// `live`: it is in customers' hands from now on, which is for good.
    public var state: String?
    /// What comes with it, while it waits: the whole list.
    public var products: [String]?

    public init(state: String? = nil, products: [String]? = nil) {
        self.state = state
        self.products = products
    }
}
