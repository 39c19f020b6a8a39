// SPDX-License-Identifier: Apache-2.0

public import StoreWire

/// A request that the ledger will not answer as asked: an ordinary answer,
/// thrown. Only the HTTP shell turns its kind into a status.
public struct LedgerRefusal: Error, Hashable, Sendable {
    /// What sort of answer it is.
    public enum Kind: String, Sendable, CaseIterable {
        /// The request breaks a rule that it could have kept, or proves nothing.
        case badRequest
        /// There is no such thing, or not for who asks.
        case notFound
        /// It contradicts what is written already.
        case conflict
        /// Nothing was decided, and asking again later may help.
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
