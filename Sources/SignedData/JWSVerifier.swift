// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Crypto
import StrictJSON
import Synchronization
import X509

/// Verifies compact JWS against a set of roots.
///
/// The rules, in the order in which the first broken one is reported:
/// 1. three segments of URL-safe Base64 without padding (`malformed`);
/// 2. `alg` is exactly ES256 and nothing is `crit` (`algorithm`);
/// 3. `x5c` is exactly three certificates in standard Base64
///    (`chainLength`, `malformed`);
/// 4. the last is a trusted root (`root`), and the chain holds (`chain`,
///    `purpose`, see ``CertificateAuthority`` for the profile);
/// 5. 64 bytes of signature by the leaf's P-256 key (`signature`);
/// 6. the payload is the JSON asked for, with a signed date (`malformed`);
/// 7. the certificates were valid at the signed date (`notYetValid`,
///    `expired`);
/// 8. it was not signed in the future (`signedInFuture`).
///
/// A class, because callers share its memory of chains already proven: a
/// second JWS by the same leaf costs one P-256 check. Only a chain whose leaf
/// signed something is remembered, so others cannot fill that memory.
public final class JWSVerifier: Sendable {
    private let roots: TrustedRoots
    private let proven = Mutex<[ProvenHeader]>([])

    /// `roots`: certificates in DER.
    public init(roots: [[UInt8]]) {
        self.roots = TrustedRoots(roots)
    }

    /// How many chains are remembered.
    var provenCount: Int { proven.withLock { $0.count } }

    /// Verifies and decodes. `signedDate` finds the payload's own date, at
    /// which certificates are judged; `now` is the signer's time, nil where
    /// it is not known.
    public func verify<Payload: Decodable & Sendable>(
        _ compact: String, as type: Payload.Type, signedDate: (Payload) -> Timestamp?,
        now: Timestamp?
    ) throws(VerificationFailure) -> Verified<Payload> {
        let (header, bytes) = try verifySignature(compact)
        let payload = try Self.decode(type, from: bytes)
        guard let date = signedDate(payload) else {
            throw VerificationFailure(.malformed, "the payload has no signed date")
        }
        try header.validity.check(date)
        try SignedDate.checkFuture(date, now: now)
        return Verified(payload: payload, compact: compact)
    }

    /// Verifies and gives the payload's bytes, which must be dated `date`.
    public func verifyBytes(
        _ compact: String, at date: Timestamp
    ) throws(VerificationFailure) -> [UInt8] {
        let (header, bytes) = try verifySignature(compact)
        try header.validity.check(date)
        return bytes
    }

    private func verifySignature(
        _ compact: String
    ) throws(VerificationFailure) -> (ProvenHeader, [UInt8]) {
        let jws = try CompactJWS(compact, bytesMax: SignedDataLimits.jwsBytesMax)
        if let known = recall(jws) {
            try jws.checkSignature(by: known.key)
            return (known, jws.payload)
        }
        let header = try ProvenHeader(jws, roots: roots)
        try jws.checkSignature(by: header.key)
        remember(header)
        return (header, jws.payload)
    }

    private func recall(_ jws: CompactJWS) -> ProvenHeader? {
        proven.withLock { proven in proven.first { jws.hasHeader($0.encoded) } }
    }

    private func remember(_ header: ProvenHeader) {
        proven.withLock { proven in
            guard !proven.contains(where: { $0.encoded == header.encoded }) else { return }
            if proven.count == SignedDataLimits.provenChainsMax { proven.removeFirst() }
            proven.append(header)
        }
    }

    private static func decode<Payload: Decodable>(
        _ type: Payload.Type, from bytes: [UInt8]
    ) throws(VerificationFailure) -> Payload {
        do {
            return try StrictJSON.decode(type, from: bytes)
        } catch {
            throw VerificationFailure(.malformed, "the payload is not the JSON expected: \(error)")
        }
    }
}

/// A header whose three certificates have been proven, and its leaf's key.
/// A class, so that finding one costs no copy.
final class ProvenHeader: Sendable {
    let encoded: [UInt8]
    let key: P256.Signing.PublicKey
    let validity: ValidityInterval

    init(_ jws: CompactJWS, roots: TrustedRoots) throws(VerificationFailure) {
        let chain = try CertificateChain.prove(
            jws.header(JWSHeader.self).certificates(), roots: roots)
        guard let key = P256.Signing.PublicKey(chain.leaf.publicKey) else {
            throw VerificationFailure(.purpose, "the leaf's key is not a P-256 key")
        }
        encoded = Array(jws.encodedHeader)
        self.key = key
        validity = chain.validity
    }
}
