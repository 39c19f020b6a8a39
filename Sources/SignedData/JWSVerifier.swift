// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Crypto
import StrictJSON
import Synchronization
import X509

/// Verifies compact JWS against a set of roots.
///
/// The rules are ``VerificationRule/signedJSON``. The first broken one, in this
/// order, is reported: the form; three certificates that end at a trusted root;
/// an ES256 signature by the first certificate; a payload of the expected type
/// with a signed date, which lies in the validity of the certificates and not
/// in the future. The signature's s may be high, because the format allows it
/// and the App Store makes such signatures.
///
/// A class, because callers share its cache of proven chains: a second JWS from
/// the same leaf costs one P-256 check. A chain is cached only if its leaf
/// signed something, so that an attacker cannot fill the cache with other
/// chains.
public final class JWSVerifier: Sendable {
    private let roots: TrustedRoots
    let rules: VerificationRules
    private let proven = Mutex<[ProvenHeader]>([])

    /// `roots`: certificates in DER.
    public convenience init(roots: [[UInt8]]) {
        self.init(roots: roots, rules: .all)
    }

    /// A verifier that applies only some of the rules.
    package init(roots: [[UInt8]], rules: VerificationRules) {
        self.roots = TrustedRoots(roots)
        self.rules = rules
    }

    /// The number of cached chains.
    var provenCount: Int { proven.withLock { $0.count } }

    /// Verifies and decodes. `signedDate` returns the payload's date, for which
    /// the certificates must be valid. `now` is the signer's time, or nil if
    /// unknown.
    public func verify<Payload: Decodable & Sendable>(
        _ compact: String, as type: Payload.Type, signedDate: (Payload) -> Timestamp?,
        now: Timestamp?
    ) throws(VerificationFailure) -> Verified<Payload> {
        let (header, bytes) = try verifySignature(compact)
        let payload = try Self.decode(type, from: bytes)
        guard let date = signedDate(payload) else {
            throw VerificationFailure(breaking: .payload, "the payload has no signed date")
        }
        try header.validity.check(date, rules: rules)
        try SignedDate.checkFuture(date, now: now, rules: rules)
        return Verified(payload: payload, compact: compact)
    }

    /// Verifies and returns the payload's bytes, which must be dated `date`.
    public func verifyBytes(
        _ compact: String, at date: Timestamp
    ) throws(VerificationFailure) -> [UInt8] {
        let (header, bytes) = try verifySignature(compact)
        try header.validity.check(date, rules: rules)
        return bytes
    }

    /// Returns the serial numbers of the leaf and the intermediate in a JWS, as
    /// ``IssuedCertificate/serialText``, for a reader that knows which certificates were
    /// revoked. Only of use for one that was verified.
    public func serials(of compact: String) throws(VerificationFailure) -> [String] {
        let jws = try CompactJWS(
            compact, bytesMax: SignedDataLimits.jwsBytesMax, rules: rules)
        var serials: [String] = []
        for der in try jws.header(JWSHeader.self).certificates(rules: rules).prefix(2) {
            let certificate = try CertificateChain.parse(der, "certificate")
            serials.append(hexadecimal(CertificateStatusResponder.serial(certificate)))
        }
        return serials
    }

    private func verifySignature(
        _ compact: String
    ) throws(VerificationFailure) -> (ProvenHeader, [UInt8]) {
        let jws = try CompactJWS(
            compact, bytesMax: SignedDataLimits.jwsBytesMax, rules: rules)
        if let known = recall(jws) {
            try jws.checkSignature(by: known.key.value)
            return (known, jws.payload)
        }
        let header = try ProvenHeader(jws, roots: roots, rules: rules)
        try jws.checkSignature(by: header.key.value)
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

    static func decode<Payload: Decodable>(
        _ type: Payload.Type, from bytes: [UInt8]
    ) throws(VerificationFailure) -> Payload {
        do {
            return try StrictJSON.decode(type, from: bytes)
        } catch {
            throw VerificationFailure(
                breaking: .payload,
                "the payload is not the JSON expected: \(VerificationFailure.reason(error))")
        }
    }
}

/// A header whose three certificates are proven, with its leaf's key. A class,
/// so that a lookup copies nothing.
final class ProvenHeader: Sendable {
    let encoded: [UInt8]
    let key: SharedKey<P256.Signing.PublicKey>
    let validity: ValidityInterval

    init(
        _ jws: CompactJWS, roots: TrustedRoots, rules: VerificationRules
    ) throws(VerificationFailure) {
        let chain = try CertificateChain.prove(
            jws.header(JWSHeader.self).certificates(rules: rules), roots: roots, rules: rules)
        guard let key = P256.Signing.PublicKey(chain.leaf.publicKey) else {
            throw VerificationFailure(breaking: .leafKey, "the leaf's key is not a P-256 key")
        }
        encoded = Array(jws.encodedHeader)
        self.key = SharedKey(key)
        validity = chain.validity
    }
}
