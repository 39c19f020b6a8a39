// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A failure of the store's service that has no code of ``SKError``: a transaction,
/// a restore or a request reports it with the number that apps know.
///
/// `(error as NSError).code` is the number, and the description is the store's
/// sentence.
public struct StoreServiceError: CustomNSError, LocalizedError, Hashable, Sendable {
    /// The domain of these errors.
    public static let errorDomain = "SSServerErrorDomain"
    /// The sign-in failed: a wrong password, or a forgotten one.
    public static let signInFailed = 5020
    /// The store failed in a way that it did not explain.
    public static let storeFault = 5002

    public let errorCode: Int
    public let errorDescription: String?

    init?(_ failure: PaymentFailure) {
        switch failure.code {
        case .signInFailed: errorCode = Self.signInFailed
        case .storeFault: errorCode = Self.storeFault
        default: return nil
        }
        errorDescription = failure.message
    }

    public var errorUserInfo: [String: Any] {
        [NSLocalizedDescriptionKey: errorDescription ?? ""]
    }
}
