// SPDX-License-Identifier: Apache-2.0

public import StoreWire

/// An ordinary negative answer of the ledger, which is thrown. Only the HTTP
/// shell converts its kind to a status.
public struct LedgerRefusal: Error, Hashable, Sendable {
    /// The kind of refusal.
    public enum Kind: String, Sendable, CaseIterable {
        /// The request breaks a rule, or its proof is not valid.
        case badRequest
        /// The caller has not proven its account.
        case unproven
        /// It does not exist, or the caller may not know about it.
        case notFound
        /// It contradicts what is recorded already.
        case conflict
        /// Nothing was decided. A later request may succeed.
        case unavailable
    }

    public let kind: Kind
    /// Code, sentence, field, rule and remedy.
    public let error: WireError

    init(
        _ kind: Kind, code: String, _ message: String, field: String? = nil,
        rule: String? = nil, remedy: String? = nil
    ) {
        self.kind = kind
        error = WireError(code: code, message: message, field: field, rule: rule, remedy: remedy)
    }
}
