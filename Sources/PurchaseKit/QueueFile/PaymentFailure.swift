// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Why a payment failed, in a form that a file can hold.
struct PaymentFailure: Hashable, Sendable, Codable {
    /// As ``SKError`` counts.
    var code: Int
    /// One sentence: the store's own where it gave one.
    var message: String
    /// The number of the `URLError` beneath, where the network was at fault.
    var urlErrorCode: Int?
    /// What the disk or the system said beneath, where it was at fault.
    var systemErrorCode: Int?
    /// What the store said, where it refused.
    var refusal: StoreRefusal?

    init(_ code: SKError.Code, _ message: String) {
        self.code = code.rawValue
        self.message = message
    }

    /// The error that the app is handed.
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
