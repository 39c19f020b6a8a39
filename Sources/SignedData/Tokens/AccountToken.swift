// SPDX-License-Identifier: Apache-2.0

public import Commerce
import StrictJSON

/// What a token must say to prove an account.
public struct AccountTokenRules: Hashable, Sendable {
    /// The `iss` of every token.
    public let issuer: String
    /// One of the names in `aud`.
    public let audience: String
    /// The claim that contains the account.
    public let claim: String
    /// The longest time from a token's issue to its end.
    public let lifetimeSecondsMax: Int64

    /// A day: as long as the usual identity providers' tokens last at most.
    public static let daySeconds: Int64 = 86_400

    public init(
        issuer: String, audience: String, claim: String = "sub",
        lifetimeSecondsMax: Int64 = AccountTokenRules.daySeconds
    ) {
        self.issuer = issuer
        self.audience = audience
        self.claim = claim
        self.lifetimeSecondsMax = lifetimeSecondsMax
    }
}

/// A token (JWT, RFC 7519) that proves an account to a merchant's ledger. It is parsed
/// here and not verified before ``verify(by:_:now:)``.
public struct AccountToken: Sendable {
    /// The id of the key with which it claims to be signed.
    public let keyID: String
    private let algorithm: String
    private let jws: CompactJWS
    private let claims: JSONTree

    /// Bytes of a token.
    public static let bytesMax = 8192

    /// Parses a token. Checks in this order: three segments of JSON (`malformed`),
    /// ES256 or RS256 without `crit` (`algorithm`), a `kid` and an object of claims
    /// (`malformed`).
    public static func parse(_ text: String) throws(VerificationFailure) -> AccountToken {
        let jws = try CompactJWS(text, bytesMax: bytesMax)
        let header = try jws.header(TokenHeader.self)
        guard let algorithm = header.alg, ["ES256", "RS256"].contains(algorithm) else {
            throw VerificationFailure(.algorithm, "the token's alg must be ES256 or RS256")
        }
        guard !header.hasCritical else {
            throw VerificationFailure(
                .algorithm, "the token's header must not have crit: no extension is known here")
        }
        guard let keyID = header.kid, !keyID.isEmpty else {
            throw VerificationFailure(.malformed, "the token's header must name its key in kid")
        }
        guard let claims = try? JSONTree(jws.payload, limits: .signed), case .object = claims
        else { throw VerificationFailure(.malformed, "the token's claims must be JSON") }
        return AccountToken(keyID: keyID, algorithm: algorithm, jws: jws, claims: claims)
    }

    /// Verifies the token and returns its account. Checks in this order: the key
    /// (`unknownKey`), that it is one for the token's own algorithm (`algorithm`), the
    /// signature (`signature`), `iss` (`issuer`), `aud` (`audience`), the times (see
    /// ``BearerToken``; `exp` is required), and the account's claim (`malformed`). `now`
    /// is wall time.
    public func verify(
        by keys: JSONWebKeys, _ rules: AccountTokenRules, now wall: Timestamp
    ) throws(VerificationFailure) -> String {
        guard let key = keys[keyID] else {
            throw VerificationFailure(.unknownKey, "the token's kid names no key of its issuer")
        }
        // The key decides the algorithm. The token can only agree.
        guard key.algorithm == algorithm else {
            throw VerificationFailure(
                .algorithm, "the token's alg must be \(key.algorithm), its key's")
        }
        switch key {
        case .es256(let key): try jws.checkSignature(by: key.value)
        case .rs256(let key): try jws.checkSignature(by: key.value)
        }
        guard text("iss")?.isSame(as: rules.issuer) == true else {
            throw VerificationFailure(.issuer, "the token's iss must be \(rules.issuer)")
        }
        guard audiences.contains(where: { $0.isSame(as: rules.audience) }) else {
            throw VerificationFailure(.audience, "the token's aud must be \(rules.audience)")
        }
        try checkTimes(Double(wall.milliseconds) / 1000, rules)
        guard let account = text(rules.claim), !account.isEmpty else {
            throw VerificationFailure(
                .malformed, "the token's \(rules.claim) must be a text, the account")
        }
        return account
    }

    private func text(_ claim: String) -> String? {
        guard case .string(let text) = claims[claim] else { return nil }
        return text
    }

    private var audiences: [String] {
        switch claims["aud"] {
        case .string(let name): [name]
        case .array(let names):
            names.compactMap { if case .string(let name) = $0 { name } else { nil } }
        default: []
        }
    }

    /// Nil if the claim is absent. Throws `malformed` if it is no number.
    private func seconds(_ claim: String) throws(VerificationFailure) -> Double? {
        guard let value = claims[claim] else { return nil }
        guard case .number(let digits) = value, let seconds = Double(digits), seconds.isFinite
        else {
            throw VerificationFailure(
                .malformed, "the token's \(claim) must be a number of seconds since 1970")
        }
        return seconds
    }

    private func checkTimes(
        _ now: Double, _ rules: AccountTokenRules
    ) throws(VerificationFailure) {
        let tolerance = Double(BearerToken.clockToleranceSeconds)
        guard let end = try seconds("exp") else {
            throw VerificationFailure(.malformed, "the token must have exp, its end")
        }
        guard end > now else {
            throw VerificationFailure(.expired, "the token has expired; make a new one")
        }
        let issued = try seconds("iat")
        let lifetime = Double(rules.lifetimeSecondsMax) + (issued == nil ? tolerance : 0)
        guard end <= (issued ?? now) + lifetime else {
            throw VerificationFailure(
                .lifetime,
                "the token's exp may lie at most \(rules.lifetimeSecondsMax) seconds "
                    + "after it was issued")
        }
        if let begins = try seconds("nbf"), begins > now + tolerance {
            throw VerificationFailure(
                .notYetValid, "the token's nbf lies in the future; wait until then")
        }
        if let issued, issued > now + tolerance {
            throw VerificationFailure(.signedInFuture, "the token's iat lies in the future")
        }
    }
}
