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
public enum RevocationReason: Int, Sendable, CaseIterable {
    /// For any other reason.
    case other = 0
    /// The customer reported an issue with the app.
    case issueWithApp = 1
}
