// SPDX-License-Identifier: Apache-2.0

@testable import SignedData

extension SpoiltJWS {
    /// Too few, too many, and each of the parts with one bit changed.
    static let lengths = [
        SpoiltJWS("an empty x5c", .chainLength) {
            try header { _ in Tamper.header(certificates: []) }
        },
        SpoiltJWS("the leaf alone", .chainLength) {
            try header { Tamper.header(certificates: [$0[0]]) }
        },
        SpoiltJWS("x5c that is one text", .malformed) {
            try header { "{\"alg\":\"ES256\",\"x5c\":\"\($0[0])\"}" }
        },
        SpoiltJWS("a flipped bit in the intermediate's signature", .chain) {
            try header { Tamper.header(certificates: [$0[0], Self.flipped($0[1]), $0[2]]) }
        },
        SpoiltJWS("a flipped bit in the root's signature", .root) {
            try header { Tamper.header(certificates: [$0[0], $0[1], Self.flipped($0[2])]) }
        },
        SpoiltJWS("65 bytes of signature", .signature) {
            Tamper.change(try good(), segment: 2) { $0.append(0) }
        },
        SpoiltJWS("a zero in front of the signature", .signature) {
            Tamper.change(try good(), segment: 2) { $0.insert(0, at: 0) }
        },
        SpoiltJWS("the signature twice", .signature) {
            Tamper.change(try good(), segment: 2) { $0 += $0 }
        },
        SpoiltJWS("r and s exchanged", .signature) {
            Tamper.change(try good(), segment: 2) { $0 = Array($0[32...] + $0[..<32]) }
        },
        SpoiltJWS("a quantity in quotes", .malformed) {
            try Sample.authority().transactions.sign(
                payload: Array("{\"quantity\":\"3\",\"signedDate\":1760000000000}".utf8))
        },
    ]

    private static func flipped(_ certificate: String) -> String {
        var bytes = Base64.decode(certificate.utf8) ?? []
        bytes[bytes.count - 1] ^= 1
        return Base64.encode(bytes)
    }
}
