// SPDX-License-Identifier: Apache-2.0

import Commerce

@testable import SignedData

/// Ways to spoil signed data.
enum Tamper {
    /// One DER element.
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            length.insert(UInt8(rest & 255), at: 0)
            rest >>= 8
        }
        return content.count < 128
            ? [tag, UInt8(content.count)] + content
            : [tag, 0x80 | UInt8(length.count)] + length + content
    }

    /// The segments of a compact JWS.
    static func segments(_ compact: String) -> [String] {
        compact.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
    }

    /// The decoded bytes of one segment changed, and encoded again.
    static func change(
        _ compact: String, segment: Int, _ change: (inout [UInt8]) -> Void
    ) -> String {
        var segments = segments(compact)
        var bytes = Base64.decodeURL(Array(segments[segment].utf8)[...]) ?? []
        change(&bytes)
        segments[segment] = String(decoding: Base64.encodeURL(bytes), as: UTF8.self)
        return segments.joined(separator: ".")
    }

    /// The header replaced, the signature kept.
    static func header(_ compact: String, _ json: String) -> String {
        change(compact, segment: 0) { $0 = Array(json.utf8) }
    }

    /// The certificates of a compact JWS, as its header writes them.
    static func certificates(_ compact: String) throws -> [String] {
        try CompactJWS(compact, bytesMax: .max).header(JWSHeader.self).x5c ?? []
    }

    static func header(certificates: [String], algorithm: String = "ES256") -> String {
        let list = certificates.map { "\"\($0)\"" }.joined(separator: ",")
        return "{\"alg\":\"\(algorithm)\",\"x5c\":[\(list)]}"
    }
}
