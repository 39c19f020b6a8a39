// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// Extends the renewal date of one subscription. All fields are required; they may
/// be missing here so that each has its own refusal.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/extendrenewaldaterequest)
public struct ExtendRenewalDateRequest: Hashable, Sendable, Codable {
    /// 1 to 90.
    public var extendByDays: Int?
    /// 0 undeclared, 1 satisfaction, 2 other, 3 outage.
    public var extendReasonCode: Int?
    /// At most 128 bytes.
    public var requestIdentifier: String?

    public init() {}
}

/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/extendrenewaldateresponse)
public struct ExtendRenewalDateResponse: Hashable, Sendable, Codable {
    public let originalTransactionId: String
    public let webOrderLineItemId: String
    public let success: Bool
    /// When the subscription renews now.
    public let effectiveDate: Timestamp

    public init(
        originalTransactionId: String, webOrderLineItemId: String, success: Bool,
        effectiveDate: Timestamp
    ) {
        self.originalTransactionId = originalTransactionId
        self.webOrderLineItemId = webOrderLineItemId
        self.success = success
        self.effectiveDate = effectiveDate
    }
}

/// Extends the renewal dates of all subscribers to a product.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/massextendrenewaldaterequest)
public struct MassExtendRenewalDateRequest: Hashable, Sendable, Codable {
    /// 1 to 90.
    public var extendByDays: Int?
    /// 0 to 3, as in ``ExtendRenewalDateRequest``.
    public var extendReasonCode: Int?
    /// A UUID.
    public var requestIdentifier: String?
    public var productId: String?
    /// Alpha-3 codes. All storefronts if missing.
    public var storefrontCountryCodes: [String]?

    public init() {}
}

/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/massextendrenewaldateresponse)
public struct MassExtendRenewalDateResponse: Hashable, Sendable, Codable {
    public let requestIdentifier: String

    public init(requestIdentifier: String) {
        self.requestIdentifier = requestIdentifier
    }
}

/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/massextendrenewaldatestatusresponse)
public struct MassExtendRenewalDateStatusResponse: Hashable, Sendable, Codable {
    public let requestIdentifier: String
    public let complete: Bool
    /// The following are missing until it is complete.
    public let completeDate: Timestamp?
    public let succeededCount: Int64?
    public let failedCount: Int64?

    public init(
        requestIdentifier: String, complete: Bool, completeDate: Timestamp?,
        succeededCount: Int64?, failedCount: Int64?
    ) {
        self.requestIdentifier = requestIdentifier
        self.complete = complete
        self.completeDate = completeDate
        self.succeededCount = succeededCount
        self.failedCount = failedCount
    }
}

/// Sets the app's own token of a purchase.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/updateappaccounttokenrequest)
public struct UpdateAppAccountTokenRequest: Hashable, Sendable, Codable {
    public var appAccountToken: String?

    public init() {}
}
