// SPDX-License-Identifier: Apache-2.0

/// Why signed data was rejected. This is an ordinary answer. Two failures are
/// equal if their codes are.
public struct VerificationFailure: Error, Sendable {
    /// The kind of rule that was broken. An open set, so that rules can be
    /// added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        public init(_ description: String) {
            self.description = description
        }

        /// The data does not have the right form: segments, Base64, JSON, DER.
        public static let malformed = Code("malformed")
        /// The header names an algorithm that is not accepted.
        public static let algorithm = Code("algorithm")
        /// There are not exactly three certificates.
        public static let chainLength = Code("chainLength")
        /// The last certificate is not a trusted root.
        public static let root = Code("root")
        /// The certificates do not sign each other in order.
        public static let chain = Code("chain")
        /// A certificate was not issued for this purpose.
        public static let purpose = Code("purpose")
        /// The signature does not match what was signed.
        public static let signature = Code("signature")
        /// The signed date is before the certificates' validity.
        public static let notYetValid = Code("notYetValid")
        /// The signed date is after the certificates' validity.
        public static let expired = Code("expired")
        /// The signed date is in the future.
        public static let signedInFuture = Code("signedInFuture")
        /// It was signed for another app.
        public static let bundleID = Code("bundleID")
        /// It was signed for an app with another number.
        public static let appID = Code("appID")
        /// It was signed in another environment.
        public static let environment = Code("environment")
        /// A bearer token was made for another service.
        public static let audience = Code("audience")
        /// A token names another issuer.
        public static let issuer = Code("issuer")
        /// A token names a key that is not known.
        public static let unknownKey = Code("unknownKey")
        /// A bearer token has too long a lifetime.
        public static let lifetime = Code("lifetime")
        /// The receipt's hash is that of another device.
        public static let device = Code("device")
    }

    public let code: Code
    /// One sentence with the field, the rule and, if there is one, the remedy.
    public let message: String
    /// The rule that was broken. Nil for bearer tokens, which have rules of
    /// their own.
    public let rule: VerificationRule?

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
        rule = nil
    }

    init(breaking rule: VerificationRule, _ message: String) {
        code = rule.code
        self.message = message
        self.rule = rule
    }
}

extension VerificationFailure: Equatable {
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}

extension VerificationFailure: CustomStringConvertible {
    public var description: String { "\(code): \(message)" }
}
