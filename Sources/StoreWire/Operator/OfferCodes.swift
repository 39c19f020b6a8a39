// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// Codes to make for an offer: one with a text of its own, or `count` that are
/// drawn.
public struct CreateOfferCodesRequest: Hashable, Sendable, Codable {
    public var productId: String
    /// The label of an offer of the kind `code`.
    public var offer: String
    /// The text that customers share.
    public var code: String?
    /// The number of codes for one customer each. 1 if both this and `code` are
    /// missing.
    public var count: Int?
    /// How many customers may redeem `code`. A million if missing.
    public var redemptionsMax: Int64?
    /// Commercial time. Missing for codes that do not expire.
    public var expiresDate: Timestamp?

    public init(
        productId: String, offer: String, code: String? = nil, count: Int? = nil,
        redemptionsMax: Int64? = nil, expiresDate: Timestamp? = nil
    ) {
        self.productId = productId
        self.offer = offer
        self.code = code
        self.count = count
        self.redemptionsMax = redemptionsMax
        self.expiresDate = expiresDate
    }
}

public struct OfferCodeList: Hashable, Sendable, Codable {
    public var codes: [OfferCodeRecord]
    /// Send it as `after` for the next page. Missing on the last one.
    public var next: String?

    public init(codes: [OfferCodeRecord], next: String? = nil) {
        self.codes = codes
        self.next = next
    }
}

public struct OfferCodeRecord: Hashable, Sendable, Codable {
    public var code: String
    public var bundleId: String
    public var productId: String
    /// The label of its offer.
    public var offer: String
    /// The same for codes that were made together.
    public var batch: String
    public var redemptionsMax: Int64
    /// Payments that failed do not count.
    public var redemptions: Int64
    public var createdDate: Timestamp
    public var expiresDate: Timestamp?
    /// When it was switched off.
    public var deactivatedDate: Timestamp?

    public init(
        code: String, bundleId: String, productId: String, offer: String, batch: String,
        redemptionsMax: Int64, redemptions: Int64, createdDate: Timestamp,
        expiresDate: Timestamp? = nil, deactivatedDate: Timestamp? = nil
    ) {
        self.code = code
        self.bundleId = bundleId
        self.productId = productId
        self.offer = offer
        self.batch = batch
        self.redemptionsMax = redemptionsMax
        self.redemptions = redemptions
        self.createdDate = createdDate
        self.expiresDate = expiresDate
        self.deactivatedDate = deactivatedDate
    }
}

public struct DeactivatedCodes: Hashable, Sendable, Codable {
    /// How many codes this request has switched off.
    public var deactivated: Int

    public init(deactivated: Int) {
        self.deactivated = deactivated
    }
}
