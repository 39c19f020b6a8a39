// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation

/// A compact JWS taken apart, of which nothing is believed yet.
struct UnverifiedJWS {
    private let bytes: [UInt8]
    private let headerEnd: Int
    private let payloadEnd: Int
    private let payload: [UInt8]
    private let signature: [UInt8]

    init(_ compact: String) throws(VerificationFailure) {
        bytes = Array(compact.utf8)
        guard bytes.count <= SignedDataLimits.jwsBytesMax else {
            throw VerificationFailure(
                .malformed, "a JWS has at most \(SignedDataLimits.jwsBytesMax) bytes")
        }
        let dot = UInt8(ascii: ".")
        guard let first = bytes.firstIndex(of: dot), let last = bytes.lastIndex(of: dot),
            first < last, !bytes[(first + 1)..<last].contains(dot)
        else {
            throw VerificationFailure(
                .malformed, "a compact JWS has three segments with a dot between them")
        }
        headerEnd = first
        payloadEnd = last
        guard let payload = Base64.decodeURL(bytes[(first + 1)..<last]) else {
            throw Self.malformed("payload")
        }
        guard let signature = Base64.decodeURL(bytes[(last + 1)...]) else {
            throw Self.malformed("signature")
        }
        self.payload = payload
        self.signature = signature
    }

    var encodedHeader: ArraySlice<UInt8> { bytes[..<headerEnd] }

    /// The header's certificates in DER, in its order.
    func certificates() throws(VerificationFailure) -> [[UInt8]] {
        let header = try header()
        guard header.alg == "ES256" else {
            throw VerificationFailure(
                .algorithm, "the header's alg must be ES256, not \(header.alg ?? "absent")")
        }
        guard header.crit == nil else {
            throw VerificationFailure(.algorithm, "the header's crit names rules unknown here")
        }
        guard let texts = header.x5c, texts.count == 3 else {
            throw VerificationFailure(
                .chainLength,
                "the header's x5c must be three certificates (leaf, "
                    + "intermediate, root), not \(header.x5c?.count ?? 0)")
        }
        var certificates: [[UInt8]] = []
        for text in texts {
            guard let der = Base64.decode(text.utf8) else {
                throw VerificationFailure(
                    .malformed, "each entry of x5c must be standard Base64 with padding")
            }
            certificates.append(der)
        }
        return certificates
    }

    /// The payload, when `key` signed it and the header.
    func payload(signedBy key: P256.Signing.PublicKey) throws(VerificationFailure) -> [UInt8] {
        guard signature.count == 64,
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else {
            throw VerificationFailure(
                .signature, "an ES256 signature is 64 bytes (r and s), not \(signature.count)")
        }
        guard key.isValidSignature(signature, for: digest()) else {
            throw VerificationFailure(
                .signature, "the signature does not match the header and payload")
        }
        return payload
    }

    private func digest() -> SHA256.Digest {
        bytes[..<payloadEnd].withUnsafeBytes { signed in
            var hash = SHA256()
            hash.update(bufferPointer: signed)
            return hash.finalize()
        }
    }

    private func header() throws(VerificationFailure) -> Header {
        guard let json = Base64.decodeURL(encodedHeader) else { throw Self.malformed("header") }
        guard let header = try? JSONDecoder().decode(Header.self, from: Data(json)) else {
            throw VerificationFailure(
                .malformed, "the header must be a JSON object with alg and x5c")
        }
        return header
    }

    private static func malformed(_ segment: String) -> VerificationFailure {
        VerificationFailure(
            .malformed, "the \(segment) must be URL-safe Base64 without padding")
    }

    private struct Header: Decodable {
        let alg: String?
        let x5c: [String]?
        let crit: [String]?
    }
}
