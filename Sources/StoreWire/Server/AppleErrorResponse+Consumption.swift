// SPDX-License-Identifier: Apache-2.0

/// Errors about reports of consumption, limits and what this store lacks.
extension AppleErrorResponse {
    public static let invalidAccountTenure = AppleErrorResponse(
        errorCode: 4_000_032, errorMessage: "Invalid request. The account tenure field is invalid.")
    public static let invalidAppAccountToken = AppleErrorResponse(
        errorCode: 4_000_033,
        errorMessage: "Invalid request. The app account token field must contain a valid "
            + "UUID or an empty string.")
    public static let invalidConsumptionStatus = AppleErrorResponse(
        errorCode: 4_000_034,
        errorMessage: "Invalid request. The consumption status field is invalid.")
    public static let invalidCustomerConsented = AppleErrorResponse(
        errorCode: 4_000_035,
        errorMessage: "Invalid request. The customer consented field is required and must "
            + "indicate the customer consented.")
    public static let invalidDeliveryStatus = AppleErrorResponse(
        errorCode: 4_000_036,
        errorMessage: "Invalid request. The delivery status field is invalid.")
    public static let invalidLifetimeDollarsPurchased = AppleErrorResponse(
        errorCode: 4_000_037,
        errorMessage: "Invalid request. The lifetime dollars purchased field is invalid.")
    public static let invalidLifetimeDollarsRefunded = AppleErrorResponse(
        errorCode: 4_000_038,
        errorMessage: "Invalid request. The lifetime dollars refunded field is invalid.")
    public static let invalidPlatform = AppleErrorResponse(
        errorCode: 4_000_039, errorMessage: "Invalid request. The platform field is invalid.")
    public static let invalidPlayTime = AppleErrorResponse(
        errorCode: 4_000_040, errorMessage: "Invalid request. The playtime field is invalid.")
    public static let invalidSampleContentProvided = AppleErrorResponse(
        errorCode: 4_000_041,
        errorMessage: "Invalid request. The sample content provided field is invalid.")
    public static let invalidUserStatus = AppleErrorResponse(
        errorCode: 4_000_042, errorMessage: "Invalid request. The user status field is invalid.")
    public static let invalidRefundPreference = AppleErrorResponse(
        errorCode: 4_000_044,
        errorMessage: "Invalid request. The refund preference field is invalid.")
    public static let invalidTransactionTypeNotSupported = AppleErrorResponse(
        errorCode: 4_000_047,
        errorMessage: "Invalid request. The transaction id doesn't represent a supported "
            + "in-app purchase type.")

    // Other errors.
    public static let appTransactionDoesNotExist = AppleErrorResponse(
        errorCode: 4_040_019, errorMessage: "No AppTransaction exists for the customer.")
    public static let rateLimitExceeded = AppleErrorResponse(
        errorCode: 4_290_000, errorMessage: "Rate limit exceeded.")

    /// The error for a part of Apple's protocol that this store does not have. The
    /// number is this store's own: Apple has none for it.
    public static func notImplemented(_ part: String) -> AppleErrorResponse {
        AppleErrorResponse(
            errorCode: 5_010_000,
            errorMessage:
                "This store does not have \(part). docs/COMPATIBILITY.md lists what it has.")
    }
}
