// SPDX-License-Identifier: Apache-2.0

import Commerce
public import SignedData
public import StoreWire

/// How accounts prove who they are, and what they may do beyond the usual.
public struct AccountRules: Sendable {
    /// The merchant's own tokens (JWT).
    public struct Tokens: Sendable {
        enum Source: Sendable {
            /// The address of a key set.
            case url(String)
            case keys(JSONWebKeys)
        }

        let rules: AccountTokenRules
        let source: Source

        /// `url` is that of a JSON Web Key Set. The ledger needs ``LedgerPorts/stores``
        /// to fetch it.
        public init(_ rules: AccountTokenRules, url: String) {
            self.rules = rules
            source = .url(url)
        }

        /// `keySet` is a JSON Web Key Set. Throws ``WireError`` `keySetInvalid`.
        public init(_ rules: AccountTokenRules, keySet: [UInt8]) throws(WireError) {
            self.rules = rules
            do { source = .keys(try JSONWebKeys(keySet)) } catch {
                throw WireError(
                    code: "keySetInvalid", message: "This is no key set for accounts' tokens.",
                    field: "jwks", rule: error.message,
                    remedy: "use the JSON Web Key Set of whoever signs the tokens")
            }
        }
    }

    /// Whether the merchant's key set is fetched.
    public var needsCalls: Bool {
        if case .url = tokens?.source { true } else { false }
    }

    /// Nil if only the ledger's own tokens count.
    public var tokens: Tokens?
    /// What happens when an account presents a purchase of another.
    public var restore = RestorePolicy.refuse
    /// In a sandbox their purchases grant what production's grant.
    let sandboxTesters: Set<AccountName>

    public init(
        tokens: Tokens? = nil, sandboxTesters: some Sequence<String> = [],
        restore: RestorePolicy = .refuse
    ) {
        self.tokens = tokens
        self.restore = restore
        self.sandboxTesters = Set(
            sandboxTesters.map { AccountName((try? Edge.account($0)) ?? $0) })
    }
}

/// How many calls in a second the ledger answers, in each process. More are turned away
/// until the next second. A short burst of twice as many is let through.
public struct CallLimits: Hashable, Sendable {
    /// For each created key.
    public var perKey: Int
    /// For each account, of the calls with its token.
    public var perAccount: Int

    public init(perKey: Int = 1000, perAccount: Int = 20) {
        self.perKey = perKey
        self.perAccount = perAccount
    }
}
