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
    public static let appTransactionIdNotSupported = AppleErrorResponse(
        errorCode: 4_000_048,
        errorMessage: "Invalid request. App transactions aren't supported by this endpoint.")
    public static let appNotFound = AppleErrorResponse(
        errorCode: 4_040_003, errorMessage: "App not found.")
    public static let transactionIdNotFound = AppleErrorResponse(
        errorCode: 4_040_010, errorMessage: "Transaction id not found.")
    public static let generalInternal = AppleErrorResponse(
        errorCode: 5_000_000, errorMessage: "An unknown error occurred.")

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
