// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
public import StoreWire

/// Tokens that prove an account.
extension Ledger {
    /// How long a token is valid, if the request does not say.
    static let tokenSeconds = 900
    static let tokenSecondsMax = 3600
    /// The issuer and the audience of the ledger's own tokens.
    static let tokenIssuer = "shopkeeper-ledger"

    private static let ownRules = AccountTokenRules(
        issuer: tokenIssuer, audience: tokenIssuer,
        lifetimeSecondsMax: Int64(tokenSecondsMax))

    /// Signs a token with which an app proves an account to this ledger for a short
    /// time. The merchant's server asks for it after the customer has signed in there.
    /// Refusals: `textInvalid`, `secondsInvalid`.
    public func issueToken(
        _ request: AccountTokenRequest, account: String
    ) throws -> IssuedAccountToken {
        let account = try Edge.account(account)
        let seconds = request.seconds ?? Self.tokenSeconds
        guard (1...Self.tokenSecondsMax).contains(seconds) else {
            throw LedgerRefusal(
                .badRequest, code: "secondsInvalid", "No token is valid for that long.",
                field: "seconds", rule: "1 to \(Self.tokenSecondsMax)",
                remedy: "leave it out for \(Self.tokenSeconds)")
        }
        let now = ports.wall.now.milliseconds / 1000
        let claims = TokenClaims(
            iss: Self.tokenIssuer, aud: Self.tokenIssuer, sub: account, iat: now,
            exp: now + Int64(seconds))
        return IssuedAccountToken(
            account: account, token: try tokenSigner.sign(claims),
            expiresDate: Timestamp(milliseconds: claims.exp * 1000))
    }

    private struct TokenClaims: Encodable {
        let iss: String
        let aud: String
        let sub: String
        let iat: Int64
        let exp: Int64
    }

    /// Returns the account that a token proves: one of this ledger's, or of the
    /// merchant's. Refusals: `tokenExpired`, `tokenInvalid`, `keySetUnavailable`.
    public func account(provenBy token: String) async throws -> String {
        do {
            let token = try AccountToken.parse(token)
            let (keys, rules) = try await issuer(of: token)
            return try Edge.account(try token.verify(by: keys, rules, now: ports.wall.now))
        } catch let failure as VerificationFailure {
            throw LedgerRefusal(
                .unproven, code: failure.code == .expired ? "tokenExpired" : "tokenInvalid",
                "This token proves no account: \(failure.code).", field: "Account-Token",
                rule: failure.message,
                remedy: "have the merchant's server make a new token for the account")
        }
    }

    private func issuer(
        of token: AccountToken
    ) async throws -> (JSONWebKeys, AccountTokenRules) {
        let own = JSONWebKeys(of: tokenSigner)
        guard !own.has(token.keyID), let tokens = configuration.accounts.tokens else {
            return (own, Self.ownRules)
        }
        switch tokens.source {
        case .keys(let keys): return (keys, tokens.rules)
        case .url:
            if let keys = await tokenKeys?.keys(with: token.keyID) { return (keys, tokens.rules) }
            throw LedgerRefusal(
                .unavailable, code: "keySetUnavailable",
                "The keys of accounts' tokens could not be fetched.", field: "Account-Token",
                rule: "the server at `jwks` in ledger.yaml answers",
                remedy: "send it again in a minute")
        }
    }

    /// Returns an account as the books name it: a UUID in lower case. Refusal:
    /// `textInvalid`.
    public static func accountName(_ account: String) throws(LedgerRefusal) -> String {
        try Edge.account(account)
    }

    /// What an app gets for every account but its own, whether it exists or not.
    public static var accountUnknown: LedgerRefusal {
        LedgerRefusal(
            .notFound, code: "accountUnknown", "There is no such account.", field: "account",
            rule: "the account that the token proves", remedy: "use the account's own token")
    }
}
