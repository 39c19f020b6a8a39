// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Live
import Outbound
import SignedData

/// Asks over HTTP, as status requests go, whether certificates still hold.
/// They are proven before, so that a trusted root has signed the address;
/// responders inside one's own network are called too.
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

    /// A responder that does not answer with 200.
    private struct StatusRefused: Error { let status: Int }
}

/// What a ledger does about revocation.
enum OnlineChecks: String, ExpressibleByArgument, CaseIterable {
    /// Asks, and books nothing without an answer: what Apple's libraries do.
    case hard
    /// Asks, and refuses only what was revoked for certain.
    case soft
    /// Asks nobody.
    case off
}
