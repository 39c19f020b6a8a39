// SPDX-License-Identifier: Apache-2.0

/// Errors that Apple has and this store never answers, and the list of all.
extension AppleErrorResponse {
    public static let invalidAppIdentifier = AppleErrorResponse(
        errorCode: 4_000_002, errorMessage: "Invalid request app identifier.")
    public static let paginationTokenExpired = AppleErrorResponse(
        errorCode: 4_000_017, errorMessage: "Invalid request. The pagination token is expired.")
    public static let invalidTransactionNotConsumable = AppleErrorResponse(
        errorCode: 4_000_043,
        errorMessage: "Invalid request. The transaction id parameter must represent a "
            + "consumable in-app purchase.")
    public static let accountNotFound = AppleErrorResponse(
        errorCode: 4_040_001, errorMessage: "Account not found.")
    public static let accountNotFoundRetryable = AppleErrorResponse(
        errorCode: 4_040_002, errorMessage: "Account not found. Please try again.")
    public static let appNotFoundRetryable = AppleErrorResponse(
        errorCode: 4_040_004, errorMessage: "App not found. Please try again.")
    public static let originalTransactionIdNotFoundRetryable = AppleErrorResponse(
        errorCode: 4_040_006, errorMessage: "Original transaction id not found. Please try again.")
    public static let generalInternalRetryable = AppleErrorResponse(
        errorCode: 5_000_001, errorMessage: "An unknown error occurred. Please try again.")

    /// Those that no request to this store can cause.
    public static let neverCaused: [AppleErrorResponse] = [
        .appNotFound, .invalidAppIdentifier, .paginationTokenExpired,
        .invalidTransactionNotConsumable, .accountNotFound, .accountNotFoundRetryable,
        .appNotFoundRetryable, .originalTransactionIdNotFoundRetryable,
    ]

    /// Every error of Apple's outside of retention messaging, by its number.
    public static let all = (caused + neverCaused).sorted { $0.errorCode < $1.errorCode }

    private static let caused: [AppleErrorResponse] = [
        .invalidTransactionId, .invalidRequestRevision, .invalidOriginalTransactionId,
        .appTransactionIdNotSupported, .transactionIdNotFound, .generalInternal,
        .originalTransactionIdNotFound, .invalidSort, .invalidProductType, .invalidProductId,
        .invalidSubscriptionGroupIdentifier, .invalidExcludeRevoked, .invalidInAppOwnershipType,
        .invalidRevoked, .invalidStatus, .invalidExtendByDays, .invalidExtendReasonCode,
        .invalidRequestIdentifier, .invalidEmptyStorefrontCountryCodeList,
        .invalidStorefrontCountryCode, .subscriptionExtensionIneligible,
        .subscriptionMaxExtension, .familySharedSubscriptionExtensionIneligible,
        .statusRequestNotFound, .invalidAppAccountTokenUUID, .familyTransactionNotSupported,
        .transactionIdIsNotOriginal, .startDateTooFarInPast, .startDateAfterEndDate,
        .invalidPaginationToken, .invalidStartDate, .invalidEndDate, .invalidNotificationType,
        .multipleFiltersSupplied, .invalidTestNotificationToken, .serverNotificationURLNotFound,
        .testNotificationNotFound, .generalBadRequest, .invalidAccountTenure,
        .invalidAppAccountToken, .invalidConsumptionStatus, .invalidCustomerConsented,
        .invalidDeliveryStatus, .invalidLifetimeDollarsPurchased,
        .invalidLifetimeDollarsRefunded, .invalidPlatform, .invalidPlayTime,
        .invalidSampleContentProvided, .invalidUserStatus, .invalidRefundPreference,
        .invalidTransactionTypeNotSupported, .appTransactionDoesNotExist, .rateLimitExceeded,
        .generalInternalRetryable,
    ]
}
