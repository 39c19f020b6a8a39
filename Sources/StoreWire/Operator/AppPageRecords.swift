// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// What the store's page of an app shows beside its products, as operators see it.
public struct AppPageRecord: Hashable, Sendable, Codable {
    public var bundleId: String
    /// What the app is. Missing until an operator has written it.
    public var description: String?
    /// The id of the app's image that is its icon. Missing without one.
    public var icon: String?
    /// What the app itself costs, in words, such as `Free`. Missing if nobody says so.
    public var price: String?
    /// Where a customer gets the app. Missing if nobody says so.
    public var url: String?
    /// The app's position among those that the store features, from 1 on. Missing for
    /// an app that is not featured.
    public var featured: Int?
    /// The wall time of the last change. Missing until the first one.
    public var changedDate: Timestamp?

    public init(
        bundleId: String, description: String? = nil, icon: String? = nil, price: String? = nil,
        url: String? = nil, featured: Int? = nil, changedDate: Timestamp? = nil
    ) {
        self.bundleId = bundleId
        self.description = description
        self.icon = icon
        self.price = price
        self.url = url
        self.featured = featured
        self.changedDate = changedDate
    }
}

/// An operator's change of an app's page. A missing field stays unchanged.
public struct AppPageChange: Hashable, Sendable, Codable {
    /// 1 to 4000 characters. An empty text removes the description.
    public var description: String?
    /// The id of an image of the app. An empty text removes the icon.
    public var icon: String?
    /// What the app itself costs, in words. An empty text removes it.
    public var price: String?
    /// Where a customer gets the app: an address of `https`. An empty text removes it.
    public var url: String?
    /// The app's position among those that the store features. 0 ends that.
    public var featured: Int?

    public init(
        description: String? = nil, icon: String? = nil, price: String? = nil, url: String? = nil,
        featured: Int? = nil
    ) {
        self.description = description
        self.icon = icon
        self.price = price
        self.url = url
        self.featured = featured
    }
}
