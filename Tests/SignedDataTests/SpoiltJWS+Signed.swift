// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire

@testable import SignedData

extension SpoiltJWS {
    /// Our own key signed these; nothing is wrong but what the name says.
    static let wellSigned =
        [
            ("none", .algorithm), ("HS256", .algorithm), ("RS256", .algorithm),
            ("ES384", .algorithm),
        ].map { (algorithm: String, code: VerificationFailure.Code) in
            SpoiltJWS("well signed, but said to be \(algorithm)", code) {
                try resigned { Tamper.header(certificates: $0, algorithm: algorithm) }
            }
        } + wellSignedHeaders + wellSignedPayloads

    private static let wellSignedHeaders = [
        SpoiltJWS("well signed, with rules in crit", .algorithm) {
            try resigned {
                String(Tamper.header(certificates: $0).dropLast()) + ",\"crit\":[\"exp\"]}"
            }
        },
        SpoiltJWS("well signed, kid and no certificates", .chainLength) {
            try Sample.sign(header: "{\"alg\":\"ES256\",\"kid\":\"K\"}")
        },
        SpoiltJWS("well signed, the root twice", .chainLength) {
            try resigned { Tamper.header(certificates: $0 + [$0[2]]) }
        },
        SpoiltJWS("well signed, one certificate more in front", .root) {
            try resigned { Tamper.header(certificates: [$0[0], $0[0], $0[1]]) }
        },
        SpoiltJWS("well signed, line breaks in a certificate", .malformed) {
            try resigned {
                Tamper.header(certificates: [
                    "\($0[0].prefix(64))\\n\($0[0].dropFirst(64))", $0[1], $0[2],
                ])
            }
        },
        SpoiltJWS("well signed, certificates in the other alphabet", .malformed) {
            try resigned { certificates in
                Tamper.header(
                    certificates: certificates.map { text in
                        String(text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }) + "="
                    })
            }
        },
        SpoiltJWS("well signed, alg as a number", .malformed) {
            try Sample.sign(header: "{\"alg\":256,\"x5c\":[]}")
        },
        SpoiltJWS("well signed, a header nested too deep", .malformed) {
            try resigned {
                String(Tamper.header(certificates: $0).dropLast()) + ",\"x\":"
                    + String(repeating: "[", count: 40) + String(repeating: "]", count: 40) + "}"
            }
        },
        SpoiltJWS("a header of ten megabytes", .malformed) {
            try Sample.sign(
                header: "{\"alg\":\"ES256\",\"x\":\""
                    + String(repeating: "A", count: 10 << 20) + "\"}")
        },
    ]

    private static let wellSignedPayloads = [
        SpoiltJWS("well signed, and too long", .malformed) {
            try signed { $0.productId = String(repeating: "A", count: 262_144) }
        },
        SpoiltJWS("a signed date in quotes", .malformed) {
            try payload("\"signedDate\":\"1760000000000\"")
        },
        SpoiltJWS("a signed date beyond 64 bits", .malformed) {
            try payload("\"signedDate\":176000000000000000000000")
        },
        SpoiltJWS("a signed date that is no number", .malformed) {
            try payload("\"signedDate\":NaN")
        },
        SpoiltJWS("a quantity of 1e400", .malformed) {
            try payload("\"signedDate\":1760000000000,\"quantity\":1e400")
        },
        SpoiltJWS("a key twice, once with an escape", .malformed) {
            try payload("\"signedDate\":1760000000000,\"a\":1,\"\\u0061\":2")
        },
        SpoiltJWS("a payload nested too deep", .malformed) {
            try payload(
                "\"signedDate\":1760000000000,\"a\":" + String(repeating: "[", count: 100_000)
                    + String(repeating: "]", count: 100_000))
        },
        SpoiltJWS("a payload with half a surrogate pair", .malformed) {
            try payload("\"signedDate\":1760000000000,\"a\":\"\\ud800\"")
        },
        SpoiltJWS("a payload that is an array", .malformed) {
            try Sample.authority().transactions.sign(payload: Array("[1]".utf8))
        },
        SpoiltJWS("a payload of nothing", .malformed) {
            try Sample.authority().transactions.sign(payload: [])
        },
        SpoiltJWS("line breaks in the payload's segment", .malformed) {
            let segments = Tamper.segments(try good())
            return "\(segments[0]).\(segments[1].prefix(8))\r\n\(segments[1].dropFirst(8))."
                + segments[2]
        },
        SpoiltJWS("both alphabets in the signature", .malformed) {
            let segments = Tamper.segments(try good())
            return "\(segments[0]).\(segments[1]).+_\(segments[2].dropFirst(2))"
        },
    ]

    private static func payload(_ members: String) throws -> String {
        try Sample.authority().transactions.sign(
            payload: Array(
                "{\"bundleId\":\"\(Sample.bundleID)\",\"environment\":\"Sandbox\",\(members)}".utf8)
        )
    }

    private static func resigned(_ header: ([String]) throws -> String) throws -> String {
        try Sample.sign(header: header(Tamper.certificates(good())))
    }
}
