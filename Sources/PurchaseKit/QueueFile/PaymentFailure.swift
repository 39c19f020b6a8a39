// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Why a payment failed, in a form that can be stored.
struct PaymentFailure: Hashable, Sendable, Codable {
    /// The number of the ``SKError`` code.
    var code: Int
    /// One sentence: the store's own, if there is one.
    var message: String
    /// The number of the underlying `URLError`, for a network failure.
    var urlErrorCode: Int?
    /// The underlying error number of the disk or the system.
    var systemErrorCode: Int?
    /// The store's refusal, if the store refused the payment.
    var refusal: StoreRefusal?

    init(_ code: SKError.Code, _ message: String) {
        self.code = code.rawValue
        self.message = message
    }

    /// The error that the app receives.
    var error: SKError {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: message]
        if let urlErrorCode {
            userInfo[NSUnderlyingErrorKey] = URLError(
                URLError.Code(rawValue: urlErrorCode) ?? .unknown)
        } else if let systemErrorCode {
            userInfo[NSUnderlyingErrorKey] = NSError(
                domain: NSPOSIXErrorDomain, code: systemErrorCode)
        }
        userInfo[StoreRefusal.key] = refusal
        return SKError(SKError.Code(rawValue: code) ?? .unknown, userInfo: userInfo)
    }
}
