// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import Testing
import _CryptoExtras

@testable import SignedData

/// Tokens that prove an account, by keys from a JSON Web Key Set.
@Suite struct AccountTokenTests {
    private static let rules = AccountTokenRules(
        issuer: "https://merchant.example", audience: "ledger", lifetimeSecondsMax: 3600)
    private static let curve = P256.Signing.PrivateKey()
    private static let rsa = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    private static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: Base64.encodeURL(Array(bytes)), as: UTF8.self)
    }

    private static func set(_ more: String = "") throws -> String {
        let point = curve.publicKey.rawRepresentation
        let rsa = try rsa.get().publicKey.getKeyPrimitives()
        return """
            {"keys":[
            {"kty":"OKP","kid":"ed","crv":"Ed25519","x":"AA"},
            {"kty":"EC","kid":"enc","crv":"P-256","use":"enc","x":"AA","y":"AA"},
            {"kty":"EC","kid":"ec","crv":"P-256","use":"sig",
             "x":"\(text(point.prefix(32)))","y":"\(text(point.suffix(32)))"},
            {"kty":"RSA","kid":"rsa","alg":"RS256",
             "n":"\(text(rsa.modulus))","e":"\(text(rsa.publicExponent))"}\(more)]}
            """
    }

    private static func keys() throws -> JSONWebKeys { try JSONWebKeys(Array(try set().utf8)) }

    private static let seconds = Sample.now.milliseconds / 1000

    private static func claims(_ changes: [String: Any?] = [:]) -> [String: Any] {
        var claims: [String: Any] = [
            "iss": "https://merchant.example", "aud": ["other", "ledger"], "sub": "blob",
            "iat": seconds, "exp": seconds + 300,
        ]
        for (name, value) in changes { claims[name] = value }
        return claims
    }

    private static func token(
        _ header: [String: Any], _ claims: [String: Any]
    ) throws -> String {
        let head = text(try JSONSerialization.data(withJSONObject: header))
        let body = text(try JSONSerialization.data(withJSONObject: claims))
        let signed = Data("\(head).\(body)".utf8)
        let signature: Data =
            switch header["alg"] as? String {
            case "RS256":
                try rsa.get().signature(
                    for: SHA256.hash(data: signed), padding: .insecurePKCS1v1_5
                ).rawRepresentation
            case "ES256": try curve.signature(for: signed).rawRepresentation
            case "HS256":
                // With the public key as the secret, as an attacker would.
                Data(
                    HMAC<SHA256>.authenticationCode(
                        for: signed, using: SymmetricKey(data: Data(try set().utf8))))
            default: Data()
            }
        return "\(head).\(body).\(text(signature))"
    }

    private static func outcome(
        _ header: [String: Any] = ["alg": "ES256", "kid": "ec"],
        _ changes: [String: Any?] = [:], rules: AccountTokenRules = rules
    ) throws -> String {
        do {
            return try AccountToken.parse(try token(header, claims(changes)))
                .verify(by: try keys(), rules, now: Sample.now)
        } catch let failure as VerificationFailure { return "\(failure.code)" }
    }

    @Test func `either algorithm proves the account in the claim`() throws {
        let other = AccountTokenRules(
            issuer: "https://merchant.example", audience: "ledger", claim: "user_id")

        #expect(try Self.outcome() == "blob")
        #expect(try Self.outcome(["alg": "RS256", "kid": "rsa"]) == "blob")
        #expect(
            try Self.outcome(["alg": "ES256", "kid": "ec"], ["user_id": "7"], rules: other) == "7")
    }

    @Test(
        arguments: [
            (["alg": "none", "kid": "ec"], "algorithm"), (["kid": "ec"], "algorithm"),
            (["alg": "HS256", "kid": "rsa"], "algorithm"),
            (["alg": "ES384", "kid": "ec"], "algorithm"),
            (["alg": "ES256", "kid": "rsa"], "algorithm"),
            (["alg": "RS256", "kid": "ec"], "algorithm"),
            (["alg": "ES256", "kid": "ec", "crit": "exp"], "algorithm"),
            (["alg": "ES256"], "malformed"), (["alg": "ES256", "kid": "stranger"], "unknownKey"),
            (["alg": "ES256", "kid": "enc"], "unknownKey"),
            (["alg": "ES256", "kid": "ed"], "unknownKey"),
        ])
    func `a header that names no key for its algorithm is refused`(
        header: [String: String], code: String
    ) throws {
        #expect(try Self.outcome(header) == code)
    }

    @Test(
        arguments: [
            ("iss", "https://evil.example", "issuer"), ("iss", nil, "issuer"),
            ("aud", "other", "audience"), ("aud", nil, "audience"), ("aud", [7], "audience"),
            ("exp", nil, "malformed"), ("exp", "soon", "malformed"),
            ("exp", seconds, "expired"), ("exp", seconds + 3601, "lifetime"),
            ("iat", seconds + 61, "signedInFuture"), ("iat", nil, "blob"),
            ("nbf", seconds + 61, "notYetValid"), ("nbf", seconds + 60, "blob"),
            ("sub", nil, "malformed"), ("sub", "", "malformed"), ("sub", 7, "malformed"),
        ] as [(String, (any Sendable)?, String)])
    func `a claim that breaks a rule is refused`(
        claim: String, value: (any Sendable)?, code: String
    ) throws {
        #expect(
            try Self.outcome(["alg": "ES256", "kid": "ec"], [claim: value.map { $0 as Any }])
                == code)
    }

    @Test func `another claim under the same signature is refused`() throws {
        let good = try Self.token(["alg": "RS256", "kid": "rsa"], Self.claims())
        let other = try Self.token(["alg": "RS256", "kid": "rsa"], Self.claims(["sub": "ann"]))
        var parts = good.split(separator: ".")
        parts[1] = other.split(separator: ".")[1]

        let failure = #expect(throws: VerificationFailure.self) {
            try AccountToken.parse(parts.joined(separator: "."))
                .verify(by: try Self.keys(), Self.rules, now: Sample.now)
        }
        #expect(failure?.code == .signature)
    }

    @Test(
        arguments: [
            "", "{}", "[]", #"{"keys":[]}"#, #"{"keys":[{"kty":"EC","kid":"a","crv":"P-256"}]}"#,
            #"{"keys":[{"kty":"EC","kid":"a","crv":"P-256","x":"AA","y":"AA"}]}"#,
            #"{"keys":[{"kty":"RSA","kid":"a","n":"AQAB","e":"AQAB"}]}"#,
            #"{"keys":[{"kty":"oct","kid":"a","k":"AAAA"}]}"#,
        ])
    func `what is no key set, or has a weak key, is refused`(text: String) {
        let failure = #expect(throws: VerificationFailure.self) {
            try JSONWebKeys(Array(text.utf8))
        }
        #expect(failure?.code == .malformed)
    }

    @Test func `a published set counts without its unusable keys, and may have none`() throws {
        let modulus = Self.text(try Self.rsa.get().publicKey.getKeyPrimitives().modulus)
        func rsa(_ id: String, exponent: String = "AQAB") -> String {
            ",{\"kty\":\"RSA\",\"kid\":\(id),\"n\":\"\(modulus)\",\"e\":\"\(exponent)\"}"
        }
        let noPoint = #",{"kty":"EC","kid":"ec2","crv":"P-256","x":"AA","y":"AA"}"#
        for (more, without) in [
            (rsa("\"one\"", exponent: "AAE"), "one"), (noPoint, "ec2"), (rsa("7"), "7"),
            (rsa("\"ec\""), "ec"),
        ] {
            let keys = try JSONWebKeys(published: Array(try Self.set(more).utf8))
            #expect(keys.has("rsa"))
            #expect(!keys.has(without))
        }
        // The same key twice is no contradiction.
        #expect(try JSONWebKeys(published: Array(try Self.set(rsa("\"rsa\"")).utf8)).has("rsa"))
        #expect(try !JSONWebKeys(published: Array(#"{"keys":[]}"#.utf8)).has("rsa"))
        #expect(throws: VerificationFailure.self) {
            try JSONWebKeys(published: Array("{}".utf8))
        }
    }

    @Test func `an exponent of one and an id that comes twice are refused`() throws {
        let modulus = Self.text(try Self.rsa.get().publicKey.getKeyPrimitives().modulus)
        for more in [
            ",{\"kty\":\"RSA\",\"kid\":\"one\",\"n\":\"\(modulus)\",\"e\":\"AAE\"}",
            ",{\"kty\":\"RSA\",\"kid\":\"rsa\",\"n\":\"\(modulus)\",\"e\":\"AQAB\"}",
        ] {
            #expect(throws: VerificationFailure.self) {
                try JSONWebKeys(Array(try Self.set(more).utf8))
            }
        }
    }
}

extension AccountTokenTests {
    @Test func `a signer's own keys verify what it signs`() throws {
        struct Claims: Encodable {
            let iss = "a"
            let aud = "b"
            let sub = "blob"
            let exp: Int64
        }
        let signer = try PlainKeySigner(secret: PlainKeySigner.makeSecret())
        let token = try AccountToken.parse(
            try signer.sign(Claims(exp: Sample.now.milliseconds / 1000 + 60)))

        let account = try token.verify(
            by: JSONWebKeys(of: signer), AccountTokenRules(issuer: "a", audience: "b"),
            now: Sample.now)
        #expect(account == "blob")
    }
}
