// SPDX-License-Identifier: Apache-2.0

public import Commerce
import SwiftASN1
import X509

/// Asks whether the certificates of proven data still hold (OCSP, RFC 6960),
/// at the addresses that they name themselves.
///
/// Give it only what a verifier has proven: the addresses are then those that
/// a trusted root has signed. An answer holds for a quarter of an hour, as in
/// Apple's libraries; that there was none, for some seconds.
///
/// An actor, because its callers share what it remembers, and because of many
/// who ask about one chain at once only the first asks the responder.
public actor CertificateStatusCheck {
    public enum Verdict: Hashable, Sendable {
        /// Every certificate that names an address holds.
        case good
        /// A responder of the chain's own authority has signed that one is revoked.
        case revoked
        /// Nobody has said that all of them hold: no answer, or none that
        /// proves it. Asking later may help.
        case unanswered
        /// No certificate names an address, so nobody was asked.
        case noAddress
    }

    /// Sends a request, DER, to an address, and returns the answer's bytes.
    public typealias Ask =
        @Sendable (_ request: [UInt8], _ url: String) async throws -> [UInt8]

    /// How long an answer holds.
    public static let holdsSeconds: Int64 = 15 * 60
    /// How long it is before a responder that did not answer is asked again.
    public static let retrySeconds: Int64 = 5
    /// Chains that are remembered. A store signs with one or two at a time.
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

    /// `wall`: the machine's time; responders live in it.
    public init(wall: WallClock, ask: @escaping Ask) {
        self.wall = wall
        self.ask = ask
    }

    /// How many chains are remembered.
    var knownCount: Int { known.count }

    /// About the chain of a JWS that was proven.
    public func verdict(ofSignedJSON compact: String) async -> Verdict {
        let jws = try? CompactJWS(compact, bytesMax: SignedDataLimits.jwsBytesMax)
        let chain = try? jws?.header(JWSHeader.self).certificates()
        return await verdict(of: chain ?? [])
    }

    /// About three certificates in DER that were proven: leaf, intermediate, root.
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
        // Only what a responder has signed counts as revoked: nothing else
        // fails in this mode.
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

/// Our own rules have judged the chain, at the date at which it signed: an old
/// transaction does not expire with its certificate.
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
