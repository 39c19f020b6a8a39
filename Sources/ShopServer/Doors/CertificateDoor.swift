// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPShell
import Hummingbird
import Shop
import StoreWire

/// The status of the store's certificates, for any client.
struct CertificateDoor: Sendable {
    let store: Store
    let call: Call

    init(_ visit: Visit) {
        store = visit.store
        call = visit.call
    }

    /// Answers a status request (OCSP) in the body.
    func askStatus() async throws -> Response {
        try await answer(try await call.bodyBytes())
    }

    /// Answers a status request in the address, Base64 and percent-encoded (RFC
    /// 6960, A.1).
    func status(_ text: String) async throws -> Response {
        let plain = PercentEncoding.decode(text) ?? text
        return try await answer([UInt8](Data(base64Encoded: plain) ?? Data()))
    }

    private func answer(_ request: [UInt8]) async throws -> Response {
        .bytes(try await store.certificateStatus(request), type: "application/ocsp-response")
    }
}
