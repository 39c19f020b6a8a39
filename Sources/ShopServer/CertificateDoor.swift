// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPShell
import Hummingbird
import Shop
import StoreWire

/// The store's certificates. Any client may ask for their status. Operators can
/// list, rotate and revoke them.
struct CertificateDoor: Sendable {
    let store: Store
    let call: Call

    /// Answers a status request (OCSP) in the body.
    func askStatus() async throws -> Response {
        try await answer(try await call.bodyBytes())
    }

    /// Answers a status request in the address, Base64 and percent-encoded (RFC
    /// 6960, A.1).
    func status(_ text: String) async throws -> Response {
        let plain = text.removingPercentEncoding ?? text
        return try await answer([UInt8](Data(base64Encoded: plain) ?? Data()))
    }

    func operate(_ route: Route) async throws -> Response {
        switch route {
        case .rotateCertificates:
            let request = try await call.body(RotateCertificatesRequest.self)
            return try .json(
                CertificateList(
                    certificates: try await store.rotateCertificates(request, call.context)),
                status: 201)
        case .revokeCertificate:
            let request = try await call.body(RevokeCertificateRequest.self)
            return try .json(try await store.revokeCertificate(request.serialNumber, call.context))
        default:
            return try .json(CertificateList(certificates: try await store.certificates()))
        }
    }

    private func answer(_ request: [UInt8]) async throws -> Response {
        .bytes(try await store.certificateStatus(request), type: "application/ocsp-response")
    }
}
