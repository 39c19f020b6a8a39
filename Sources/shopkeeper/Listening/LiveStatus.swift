// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Live
import Outbound
import SignedData

/// Asks over HTTP, as usual for status requests, whether certificates are still
/// valid. The certificates are verified before, so a trusted root has signed
/// the address. Responders in one's own network are allowed too.
enum LiveStatus {
    static func check() -> CertificateStatusCheck {
        let client = OutboundClient(policy: .open)
        return CertificateStatusCheck(wall: Live.wallClock) { request, url in
            var outbound = OutboundRequest(
                "POST", url, headers: [.init("Content-Type", "application/ocsp-request")],
                body: request)
            outbound.timeoutMilliseconds = 8_000
            let answer = try await client.send(outbound)
            guard answer.status == 200 else { throw StatusRefused(status: answer.status) }
            return answer.body
        }
    }

    /// A responder answered with a status other than 200.
    private struct StatusRefused: Error { let status: Int }
}

/// What a ledger does about revoked certificates.
enum OnlineChecks: String, ExpressibleByArgument, CaseIterable {
    /// Asks, and books nothing without an answer, like Apple's libraries.
    case hard
    /// Asks, and refuses only certificates that are certainly revoked.
    case soft
    /// Does not ask.
    case off
}
