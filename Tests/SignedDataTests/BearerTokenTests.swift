// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import Testing

@testable import SignedData

@Suite struct BearerTokenTests {
    private let made = ServerKey.make(randomness: .seeded(1))

    @Test func `a fresh token names its sender`() throws {
        let token = try BearerToken.parse(signer().token(now: Sample.now))

        #expect(token.keyID == made.key.keyID)
        let claims = try token.verify(publicKey: made.key.publicKey, now: Sample.now)
        #expect(claims.issuerID == made.key.issuerID)
        #expect(claims.bundleID == Sample.bundleID)
    }

    @Test func `a seed names keys and makes none`() {
        let again = ServerKey.make(randomness: .seeded(1))

        #expect(again.key.keyID == made.key.keyID)
        #expect(again.key.issuerID == made.key.issuerID)
        #expect(again.key.publicKey != made.key.publicKey)
        #expect(made.key.keyID.count == 10)
        #expect(made.key.keyID.hasPrefix(ServerKey.prefix))
        #expect(!ServerKey.looksOfficial(made.key.keyID))
        #expect(made.key.publicKey.count == 65)
        #expect(made.privateKeyPEM.hasPrefix("-----BEGIN PRIVATE KEY-----"))
    }

    @Test(
        arguments: [
            ("2X9R4HXF34", true), ("ABCDEFGHIJ", true), ("0123456789", true),
            ("shopABCDEF", false), ("ABCDEFGHI", false), ("ABCDEFGHIJK", false),
            ("ABCDEFGHIj", false), ("ABCDEFGH-J", false), ("ABCDEFGHIÖ", false), ("", false),
        ])
    func `ids of the App Store are recognised`(id: String, looksOfficial: Bool) {
        #expect(ServerKey.looksOfficial(id) == looksOfficial)
    }

    @Test func `no iat is asked for`() throws {
        let claims = self.claims(["exp": seconds + 300])

        #expect(throws: Never.self) { try verify(sign(claims)) }
    }

    @Test(
        arguments: [
            ("exp", 0, .expired), ("exp", -1, .expired), ("exp", 1, nil), ("exp", 3600, nil),
            ("exp", 3660, nil), ("exp", 3661, .lifetime), ("exp", 1_000_000_000_000_000, .lifetime),
            ("iat", 0, nil), ("iat", 60, nil), ("iat", 61, .signedInFuture),
            ("iat", -3300, nil), ("iat", -3301, .lifetime),
            ("nbf", -1, nil), ("nbf", 60, nil), ("nbf", 61, .notYetValid),
        ] as [(String, Int64, VerificationFailure.Code?)])
    func `times are judged to the second`(
        claim: String, offset: Int64, code: VerificationFailure.Code?
    ) {
        var times = ["exp": seconds + 300]
        times[claim] = seconds + offset

        #expect(refusal { try verify(sign(claims(times))) }?.code == code)
    }

    @Test func `another audience is refused`() {
        var claims = claims(["exp": seconds + 300])
        claims["aud"] = "somebody"

        #expect(refusal { try verify(sign(claims)) }?.code == .audience)
    }

    @Test func `one audience of a list will do`() {
        var claims = claims(["exp": seconds + 300])
        claims["aud"] = "#[\"somebody\",\"\(BearerToken.audience)\"]"

        #expect(refusal { try verify(sign(claims)) } == nil)
    }

    @Test(arguments: ["iss", "bid", "aud", "exp"])
    func `a missing claim is refused`(name: String) {
        var claims = claims(["exp": seconds + 300])
        claims[name] = nil

        #expect(refusal { try verify(sign(claims)) }?.code == .malformed)
    }

    @Test func `another key is refused`() throws {
        let other = ServerKey.make(randomness: .seeded(2)).key
        let token = try BearerToken.parse(signer().token(now: Sample.now))

        #expect(
            refusal { try token.verify(publicKey: other.publicKey, now: Sample.now) }?.code
                == .signature)
        #expect(
            refusal { try token.verify(publicKey: [1, 2, 3], now: Sample.now) }?.code == .signature)
    }

    @Test(
        arguments: [
            (#"{"alg":"none","kid":"K"}"#, .algorithm), (#"{"alg":"HS256","kid":"K"}"#, .algorithm),
            (#"{"kid":"K"}"#, .algorithm), (#"{"alg":"ES256"}"#, .malformed),
            (#"{"alg":"ES256","kid":""}"#, .malformed), ("{", .malformed),
            (#"{"alg":"ES256","kid":7}"#, .malformed),
            (#"{"alg":"ES256","kid":"K","crit":["b64"],"b64":false}"#, .algorithm),
            (#"{"alg":"ES256","kid":"K","crit":[]}"#, .algorithm),
            (#"{"alg":"ES256","kid":"K","crit":null}"#, .algorithm),
            (#"{"alg":"ES256","kid":"K","crit":"b64"}"#, .algorithm),
        ] as [(String, VerificationFailure.Code)])
    func `another header is refused`(header: String, code: VerificationFailure.Code) throws {
        let token = try signer().token(now: Sample.now)

        #expect(refusal { try BearerToken.parse(Tamper.header(token, header)) }?.code == code)
    }

    @Test(arguments: [
        (
            #"{"alg":"ES256","kid":7}"#,
            "the header is not the JSON expected: `kid`: a string is expected"
        ),
        (#"{"alg":"none","kid":"K"}"#, "the token's alg must be ES256, not none"),
        (#"{"kid":"K"}"#, "the token's alg must be ES256, not absent"),
        (#"{"alg":"a\u0007","kid":"K"}"#, "the token's alg must be ES256, not a text of 2 bytes"),
        (
            #"{"kid":"K","alg":"\#(String(repeating: "A", count: 4000))"}"#,
            "the token's alg must be ES256, not a text of 4000 bytes"
        ),
    ])
    func `a refusal names the field, and repeats no long text`(
        header: String, message: String
    ) throws {
        let token = try signer().token(now: Sample.now)

        #expect(refusal { try BearerToken.parse(Tamper.header(token, header)) }?.message == message)
    }

    @Test(arguments: ["", "x", "a.b", "a.b.c.d", "Bearer a.b.c"])
    func `texts that are no tokens are refused`(text: String) {
        #expect(refusal { try BearerToken.parse(text) }?.code == .malformed)
    }

    @Test func `a token of more than 8 KiB is refused`() {
        let text = String(repeating: "A", count: BearerToken.bytesMax) + ".A.A"

        #expect(refusal { try BearerToken.parse(text) }?.code == .malformed)
    }

    @Test func `an invalid private key is refused`() {
        let code = refusal {
            try BearerTokenSigner(
                privateKeyPEM: "no", keyID: "K", issuerID: "i", bundleID: "b")
        }?.code

        #expect(code == .malformed)
    }

    private var seconds: Int64 { Sample.now.milliseconds / 1000 }

    private func signer() throws -> BearerTokenSigner {
        try BearerTokenSigner(
            privateKeyPEM: made.privateKeyPEM, keyID: made.key.keyID,
            issuerID: made.key.issuerID, bundleID: Sample.bundleID)
    }

    private func claims(_ times: [String: Int64]) -> [String: String] {
        var claims = ["iss": "i", "bid": "b", "aud": BearerToken.audience]
        for (name, time) in times { claims[name] = "#\(time)" }
        return claims
    }

    /// Signs claims of any shape; a value `#7` is the JSON 7.
    private func sign(_ claims: [String: String]) throws -> String {
        let members = claims.map { name, value in
            value.hasPrefix("#") ? "\"\(name)\":\(value.dropFirst())" : "\"\(name)\":\"\(value)\""
        }
        let header = "{\"alg\":\"ES256\",\"kid\":\"\(made.key.keyID)\"}"
        return try CompactJWS.sign(
            prefix: JWSPrefix(header: Array(header.utf8)),
            payload: Array("{\(members.joined(separator: ","))}".utf8),
            by: .init(pemRepresentation: made.privateKeyPEM))
    }

    private func verify(_ text: String) throws -> BearerClaims {
        try BearerToken.parse(text).verify(publicKey: made.key.publicKey, now: Sample.now)
    }
}
