// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import StrictJSON
import _CryptoExtras

/// A compact JWS (RFC 7515) with ES256, split into its parts and not verified.
struct CompactJWS: Sendable {
    /// The signed payload, provided that the signature is valid.
    let payload: [UInt8]
    private let bytes: [UInt8]
    private let rules: VerificationRules
    private let headerEnd: Int
    private let payloadEnd: Int
    private let signature: [UInt8]

    init(
        _ compact: String, bytesMax: Int, rules: VerificationRules = .all
    ) throws(VerificationFailure) {
        bytes = Array(compact.utf8)
        try rules.check(.size, bytes.count <= bytesMax, "it has more than \(bytesMax) bytes")
        let segments = "a compact JWS has three segments with a dot between them"
        guard let headerEnd = Self.dot(bytes, from: 0),
            let payloadEnd = Self.dot(bytes, from: headerEnd + 1)
        else { throw VerificationFailure(breaking: .segments, segments) }
        let third = Self.dot(bytes, from: payloadEnd + 1)
        try rules.check(.segments, third == nil, segments)
        self.rules = rules
        self.headerEnd = headerEnd
        self.payloadEnd = payloadEnd
        payload = try Self.decode(bytes[(headerEnd + 1)..<payloadEnd], "payload", rules)
        signature = try Self.decode(
            bytes[(payloadEnd + 1)..<(third ?? bytes.count)], "signature", rules)
    }

    var encodedHeader: ArraySlice<UInt8> { bytes[..<headerEnd] }

    /// Whether the encoded header consists of exactly these bytes.
    func hasHeader(_ encoded: [UInt8]) -> Bool {
        guard encoded.count == headerEnd else { return false }
        return bytes.withUnsafeBytes { bytes in
            encoded.withUnsafeBytes { encoded in
                guard let left = bytes.baseAddress, let right = encoded.baseAddress else {
                    return false
                }
                return memcmp(left, right, encoded.count) == 0
            }
        }
    }

    func header<Header: Decodable>(_ type: Header.Type) throws(VerificationFailure) -> Header {
        let json = try Self.decode(encodedHeader, "header", rules)
        do {
            return try StrictJSON.decode(type, from: json)
        } catch {
            throw VerificationFailure(
                breaking: .header,
                "the header is not the JSON expected: \(VerificationFailure.reason(error))")
        }
    }

    func checkSignature(by key: P256.Signing.PublicKey) throws(VerificationFailure) {
        let signature =
            signature.count == 64
            ? try? P256.Signing.ECDSASignature(rawRepresentation: signature) : nil
        guard let signature else {
            return try rules.check(
                .signature, false,
                "an ES256 signature is 64 bytes (r and s), not \(self.signature.count)")
        }
        try rules.check(
            .signature, key.isValidSignature(signature, for: Self.digest(bytes[..<payloadEnd])),
            "the signature does not match the header and payload")
    }

    /// Checks a signature by RS256 (RSASSA-PKCS1-v1_5 with SHA-256).
    func checkSignature(by key: _RSA.Signing.PublicKey) throws(VerificationFailure) {
        try rules.check(
            .signature,
            key.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: signature),
                for: Self.digest(bytes[..<payloadEnd]), padding: .insecurePKCS1v1_5),
            "the signature does not match the header and payload")
    }

    /// Signs a payload. `prefix` is the JWS before it.
    static func sign(
        prefix: JWSPrefix, payload: [UInt8], by key: P256.Signing.PrivateKey
    ) throws -> String {
        var text: [UInt8] = []
        // 87 characters: the second dot, and 64 bytes in Base64.
        text.reserveCapacity(prefix.bytes.count + Base64.encodedCount(payload.count) + 87)
        text.append(contentsOf: prefix.bytes)
        Base64.appendURL(payload, to: &text)
        let signature = try key.signature(for: prefix.digest(text))
        text.append(UInt8(ascii: "."))
        signature.withUnsafeBytes { Base64.appendURL($0, to: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    private static func digest(_ bytes: ArraySlice<UInt8>) -> SHA256.Digest {
        bytes.withUnsafeBytes { bytes in
            var hash = SHA256()
            hash.update(bufferPointer: bytes)
            return hash.finalize()
        }
    }

    /// Returns the index of the next dot. A loop in Swift would take longer
    /// than hashing the same bytes.
    private static func dot(_ bytes: [UInt8], from start: Int) -> Int? {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, start < bytes.count,
                let found = memchr(
                    base + start, Int32(UInt8(ascii: ".")), bytes.count - start)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }

    private static func decode(
        _ text: ArraySlice<UInt8>, _ segment: String, _ rules: VerificationRules
    ) throws(VerificationFailure) -> [UInt8] {
        if let bytes = Base64.decodeURL(text) { return bytes }
        try rules.check(
            .base64, false, "the \(segment) must be URL-safe Base64 without padding")
        return Base64.decodeLeniently(text)
    }
}

/// The encoded header of a JWS with the dot after it. It is hashed once, because it holds
/// the certificates and is far longer than a payload.
///
/// `@unchecked`: swift-crypto 4 declares that a hash may be shared, and version 3 does not.
/// A copy of a hash has its own state there too.
struct JWSPrefix: @unchecked Sendable {
    fileprivate let bytes: [UInt8]
    private let hash: SHA256

    /// `header`: the bytes of a JSON object.
    init(header: [UInt8]) {
        bytes = Base64.encodeURL(header) + [UInt8(ascii: ".")]
        var hash = SHA256()
        hash.update(data: bytes)
        self.hash = hash
    }

    /// The digest of a text that begins with this one.
    fileprivate func digest(_ text: [UInt8]) -> SHA256.Digest {
        var hash = hash
        text.withUnsafeBytes { text in
            hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: text[bytes.count...]))
        }
        return hash.finalize()
    }
}
