// SPDX-License-Identifier: Apache-2.0

public import Commerce
import SwiftASN1
import X509

/// Asks whether the certificates of verified data are still valid (OCSP, RFC
/// 6960), at the addresses in the certificates.
///
/// Use it only for what a verifier has accepted, so that a trusted root has
/// signed the addresses. An answer is reused for a quarter of an hour, as in
/// Apple's libraries. A missing answer is remembered for some seconds.
///
/// An actor, because callers share its cache. If several ask about one chain at
/// once, only the first asks the responder.
public actor CertificateStatusCheck {
    public enum Verdict: Hashable, Sendable {
        /// Every certificate that names an address is valid.
        case good
        /// A responder of the chain's own authority has signed that a
        /// certificate is revoked.
        case revoked
        /// There is no proof that all of them are valid: no answer, or an
        /// unproven one. A later attempt may succeed.
        case unanswered
        /// No certificate names an address, so no responder was asked.
        case noAddress
    }

    /// Sends a request in DER to an address, and returns the answer's bytes.
    public typealias Ask =
        @Sendable (_ request: [UInt8], _ url: String) async throws -> [UInt8]

    /// How long an answer is reused.
    public static let holdsSeconds: Int64 = 15 * 60
    /// How long after a missing answer a responder is asked again.
    public static let retrySeconds: Int64 = 5
    /// The number of cached chains. A store signs with one or two at a time.
    public static let chainsMax = 32

    private struct Known {
        let verdict: Verdict
        let from: Timestamp

        func holds(at now: Timestamp) -> Bool {
            let seconds =
                verdict == .unanswered
                ? CertificateStatusCheck.retrySeconds : CertificateStatusCheck.holdsSeconds
            return from <= now && now < from.adding(seconds: seconds)
        }
    }

    private let wall: WallClock
    private let ask: Ask
    private var known: [[[UInt8]]: Known] = [:]
    private var underWay: [[[UInt8]]: Task<Verdict, Never>] = [:]

    /// `wall`: the machine's time, which responders use.
    public init(wall: WallClock, ask: @escaping Ask) {
        self.wall = wall
        self.ask = ask
    }

    /// The number of cached chains.
    var knownCount: Int { known.count }

    /// Asks about the chain of a verified JWS.
    public func verdict(ofSignedJSON compact: String) async -> Verdict {
        let jws = try? CompactJWS(compact, bytesMax: SignedDataLimits.jwsBytesMax)
        let chain = try? jws?.header(JWSHeader.self).certificates()
        return await verdict(of: chain ?? [])
    }

    /// Asks about the chain of a verified receipt.
    public func verdict(ofReceipt bytes: [UInt8]) async -> Verdict {
        await verdict(of: (try? ReceiptEnvelope(bytes, rules: .all))?.certificates ?? [])
    }

    /// Asks about three verified certificates in DER: leaf, intermediate, root.
    public func verdict(of chain: [[UInt8]]) async -> Verdict {
        let now = wall.now
        if let known = known[chain], known.holds(at: now) { return known.verdict }
        if let task = underWay[chain] { return await task.value }
        let ask = ask
        let task = Task { await Self.ask(chain, ask) }
        underWay[chain] = task
        let verdict = await task.value
        underWay[chain] = nil
        if known.count >= Self.chainsMax { known = known.filter { $0.value.holds(at: now) } }
        if known.count >= Self.chainsMax { known = [:] }
        known[chain] = Known(verdict: verdict, from: now)
        return verdict
    }

    private static func ask(_ der: [[UInt8]], _ ask: @escaping Ask) async -> Verdict {
        let chain = der.compactMap { try? Certificate(derEncoded: $0) }
        guard chain.count == 3 else { return .unanswered }
        guard chain.prefix(2).contains(where: Self.namesAddress) else { return .noAddress }
        if await holds(chain, .hard, ask) { return .good }
        // In this mode the check fails only if a responder has signed that a
        // certificate is revoked.
        return await holds(chain, .soft, ask) ? .unanswered : .revoked
    }

    private static func namesAddress(_ certificate: Certificate) -> Bool {
        let access = try? certificate.extensions.authorityInformationAccess
        return access?.contains { $0.method == .ocspServer } ?? false
    }

    private static func holds(
        _ chain: [Certificate], _ mode: OCSPFailureMode, _ ask: @escaping Ask
    ) async -> Bool {
        let requester = Requester(isHard: mode == .hard, ask: ask)
        var verifier = Verifier(rootCertificates: CertificateStore([chain[2]])) {
            ProvenAlready()
            OCSPVerifierPolicy(failureMode: mode, requester: requester)
        }
        switch await verifier.validate(
            leaf: chain[0], intermediates: CertificateStore([chain[1]]))
        {
        case .validCertificate: return true
        default: return false
        }
    }
}

/// Accepts the chain, because our own rules have judged it for the date of its
/// signature. An old transaction does not expire with its certificate.
private struct ProvenAlready: VerifierPolicy {
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.keyUsage,
    ]

    mutating func chainMeetsPolicyRequirements(
        chain: UnverifiedCertificateChain
    ) async -> PolicyEvaluationResult { .meetsPolicy }
}

private struct Requester: OCSPRequester {
    let isHard: Bool
    let ask: CertificateStatusCheck.Ask

    func query(request: [UInt8], uri: String) async -> OCSPRequesterQueryResult {
        do { return .response(try await ask(request, uri)) } catch {
            return isHard ? .terminalError(error) : .nonTerminalError(error)
        }
    }
}
