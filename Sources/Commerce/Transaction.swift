// SPDX-License-Identifier: Apache-2.0

/// Why there is a transaction.
public enum TransactionReason: String, Sendable, CaseIterable {
    /// The customer bought.
    case purchase
    /// A subscription was renewed.
    case renewal
}

/// How a customer came to own what a transaction grants.
public enum Ownership: String, Sendable, CaseIterable {
    case purchased
    /// Another member of the family bought it.
    case familyShared
}

/// Why a transaction no longer grants anything. The raw values are those of the
/// signed forms.
public enum RevocationReason: Int, Hashable, Sendable, CaseIterable, Codable {
    /// For any other reason.
    case other = 0
    /// The customer reported an issue with the app.
    case issueWithApp = 1
}

/// How a transaction was revoked. The raw values are those of the signed forms.
public enum RevocationType: String, Hashable, Sendable, CaseIterable {
    case refundFull = "REFUND_FULL"
    case refundProrated = "REFUND_PRORATED"
    /// It is no longer shared with this member of the family.
    case family = "FAMILY_REVOKE"
}

extension RefundGrant.Kind {
    /// Nil for a revocation without money, for which signed forms have no type.
    public var revocationType: RevocationType? {
        switch self {
        case .full: .refundFull
        case .prorated: .refundProrated
        case .upgrade, .nothing: nil
        }
    }
}
