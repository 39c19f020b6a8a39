// SPDX-License-Identifier: Apache-2.0

/// The body of an error of the App Store Server API.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/error-codes)
public struct AppleErrorResponse: Hashable, Sendable, Codable {
    /// Seven digits. The first three are the HTTP status.
    public let errorCode: Int
    public let errorMessage: String

    public init(errorCode: Int, errorMessage: String) {
        self.errorCode = errorCode
        self.errorMessage = errorMessage
    }

    public static let invalidTransactionId = AppleErrorResponse(
        errorCode: 4_000_006, errorMessage: "Invalid transaction id.")
    public static let invalidRequestRevision = AppleErrorResponse(
        errorCode: 4_000_005, errorMessage: "Invalid request revision.")
    public static let invalidOriginalTransactionId = AppleErrorResponse(
        errorCode: 4_000_008, errorMessage: "Invalid original transaction id.")
    public static let appTransactionIdNotSupported = AppleErrorResponse(
        errorCode: 4_000_048,
        errorMessage: "Invalid request. App transactions aren't supported by this endpoint.")
    public static let appNotFound = AppleErrorResponse(
        errorCode: 4_040_003, errorMessage: "App not found.")
    public static let transactionIdNotFound = AppleErrorResponse(
        errorCode: 4_040_010, errorMessage: "Transaction id not found.")
    public static let generalInternal = AppleErrorResponse(
        errorCode: 5_000_000, errorMessage: "An unknown error occurred.")

    public static let originalTransactionIdNotFound = AppleErrorResponse(
        errorCode: 4_040_005, errorMessage: "Original transaction id not found.")

    // Errors about filters.
    public static let invalidSort = AppleErrorResponse(
        errorCode: 4_000_021, errorMessage: "Invalid request. The sort parameter is invalid.")
    public static let invalidProductType = AppleErrorResponse(
        errorCode: 4_000_022,
        errorMessage: "Invalid request. The product type parameter is invalid.")
    public static let invalidProductId = AppleErrorResponse(
        errorCode: 4_000_023,
        errorMessage: "Invalid request. The product id parameter is invalid.")
    public static let invalidSubscriptionGroupIdentifier = AppleErrorResponse(
        errorCode: 4_000_024,
        errorMessage:
            "Invalid request. The subscription group identifier parameter is invalid.")
    public static let invalidExcludeRevoked = AppleErrorResponse(
        errorCode: 4_000_025,
        errorMessage: "Invalid request. The exclude revoked parameter is invalid.")
    public static let invalidInAppOwnershipType = AppleErrorResponse(
        errorCode: 4_000_026,
        errorMessage: "Invalid request. The in-app ownership type parameter is invalid.")
    public static let invalidRevoked = AppleErrorResponse(
        errorCode: 4_000_030, errorMessage: "Invalid request. The revoked parameter is invalid.")
    public static let invalidStatus = AppleErrorResponse(
        errorCode: 4_000_031, errorMessage: "Invalid request. The status parameter is invalid.")

    // Errors about extensions of renewal dates.
    public static let invalidExtendByDays = AppleErrorResponse(
        errorCode: 4_000_009, errorMessage: "Invalid extend by days value.")
    public static let invalidExtendReasonCode = AppleErrorResponse(
        errorCode: 4_000_010, errorMessage: "Invalid extend reason code.")
    public static let invalidRequestIdentifier = AppleErrorResponse(
        errorCode: 4_000_011, errorMessage: "Invalid request identifier.")
    public static let invalidEmptyStorefrontCountryCodeList = AppleErrorResponse(
        errorCode: 4_000_027,
        errorMessage: "Invalid request. If provided, the list of storefront country codes must "
            + "not be empty.")
    public static let invalidStorefrontCountryCode = AppleErrorResponse(
        errorCode: 4_000_028,
        errorMessage: "Invalid request. A storefront country code was invalid.")
    public static let subscriptionExtensionIneligible = AppleErrorResponse(
        errorCode: 4_030_004,
        errorMessage: "Forbidden - subscription state ineligible for extension.")
    public static let subscriptionMaxExtension = AppleErrorResponse(
        errorCode: 4_030_005,
        errorMessage: "Forbidden - subscription has reached maximum extension count.")
    public static let familySharedSubscriptionExtensionIneligible = AppleErrorResponse(
        errorCode: 4_030_007,
        errorMessage: "Subscriptions that users obtain through Family Sharing can't get a renewal "
            + "date extension directly.")
    public static let statusRequestNotFound = AppleErrorResponse(
        errorCode: 4_040_009,
        errorMessage: "The server didn't find a subscription-renewal-date extension request for "
            + "this requestIdentifier and productId combination.")

    // Errors about the app account token.
    public static let invalidAppAccountTokenUUID = AppleErrorResponse(
        errorCode: 4_000_183,
        errorMessage: "Invalid request. The app account token field must be a valid UUID.")
    public static let familyTransactionNotSupported = AppleErrorResponse(
        errorCode: 4_000_185,
        errorMessage:
            "Invalid request. Family Sharing transactions aren't supported by this endpoint.")
    public static let transactionIdIsNotOriginal = AppleErrorResponse(
        errorCode: 4_000_187,
        errorMessage: "Invalid request. The transaction ID provided is not an original "
            + "transaction ID.")

    // Errors about notifications.
    public static let startDateTooFarInPast = AppleErrorResponse(
        errorCode: 4_000_012,
        errorMessage: "Invalid request. The start date is earlier than the allowed start date.")
    public static let startDateAfterEndDate = AppleErrorResponse(
        errorCode: 4_000_013,
        errorMessage:
            "Invalid request. The end date precedes the start date or the dates are the same.")
    public static let invalidPaginationToken = AppleErrorResponse(
        errorCode: 4_000_014,
        errorMessage: "Invalid request. The pagination token is invalid.")
    public static let invalidStartDate = AppleErrorResponse(
        errorCode: 4_000_015,
        errorMessage: "Invalid request. The start date is not a timestamp value represented in "
            + "milliseconds.")
    public static let invalidEndDate = AppleErrorResponse(
        errorCode: 4_000_016,
        errorMessage: "Invalid request. The end date is not a timestamp value represented in "
            + "milliseconds.")
    public static let invalidNotificationType = AppleErrorResponse(
        errorCode: 4_000_018,
        errorMessage: "Invalid request. The notification type or subtype is invalid.")
    public static let multipleFiltersSupplied = AppleErrorResponse(
        errorCode: 4_000_019,
        errorMessage: "Invalid request. Supply either a transaction id or a notification type, "
            + "but not both.")
    public static let invalidTestNotificationToken = AppleErrorResponse(
        errorCode: 4_000_020,
        errorMessage: "Invalid request. The test notification token is invalid.")
    public static let serverNotificationURLNotFound = AppleErrorResponse(
        errorCode: 4_040_007,
        errorMessage: "No App Store Server Notification URL found for provided app. Check that a "
            + "URL is configured in App Store Connect for this environment.")
    public static let testNotificationNotFound = AppleErrorResponse(
        errorCode: 4_040_008,
        errorMessage: "Either the test notification token is expired or the notification and "
            + "status are not yet available.")
    public static let generalBadRequest = AppleErrorResponse(
        errorCode: 4_000_000, errorMessage: "Bad request.")
}
