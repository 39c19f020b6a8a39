// SPDX-License-Identifier: Apache-2.0

/// The body of a refusal of the App Store Server API.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/error-codes)
public struct AppleErrorResponse: Hashable, Sendable, Codable {
    /// Seven digits, the first three the HTTP status.
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
}
