// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire

/// Why the store refused a payment, in the store's words, for programs that act
/// on it. For the app's user, use the error's description.
public struct StoreRefusal: Hashable, Sendable, Codable {
    /// A code that programs can compare. An open set: older apps may receive
    /// newer codes.
    public let code: String
    /// One sentence.
    public let message: String
    /// The field of the request that is at fault, if there is one.
    public let field: String?
    /// The rule that was broken.
    public let rule: String?
    /// What to do about it.
    public let remedy: String?

    /// The key in the `userInfo` of an ``SKError``.
    static let key = "StoreRefusal"

    init(_ error: WireError) {
        code = error.code
        message = error.message
        field = error.field
        rule = error.rule
        remedy = error.remedy
    }
}

extension SKError {
    /// The store's refusal, if the store refused the payment.
    public var storeRefusal: StoreRefusal? { userInfo[StoreRefusal.key] as? StoreRefusal }
}
