// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire

/// Why the store said no to a payment, as the store told it: for programs
/// that act on it. An app's user reads the error's description.
public struct StoreRefusal: Hashable, Sendable, Codable {
    /// A word that programs may compare; open, so that older apps meet newer words.
    public let code: String
    /// One plain sentence.
    public let message: String
    /// The field of the request at fault, where there is one.
    public let field: String?
    /// The rule that it broke.
    public let rule: String?
    /// What to do.
    public let remedy: String?

    /// Under this key of an ``SKError``'s `userInfo`.
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
    /// What the store said, where it was the store that refused.
    public var storeRefusal: StoreRefusal? { userInfo[StoreRefusal.key] as? StoreRefusal }
}
