// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Shop
import StoreWire

/// What everyone may ask, and the figures.
extension Routes {
    static let open: [Route] = [
        Route("GET", "/health", .probe) { try PublicDoor($0).health() },
        Route("GET", "/ready", .probe) { try await PublicDoor($0).ready() },
        Route("GET", "/metrics", .store(.metrics)) { try await MetricsDoor($0).text() },
    ]

    static let certificates: [Route] = [
        Route("GET", "/certificates/root", .everyone) {
            try await PublicDoor($0).rootCertificate()
        },
        Route("POST", "/certificates/status", .everyone) {
            try await CertificateDoor($0).askStatus()
        },
        Route("GET", "/certificates/status/{}", .everyone) {
            try await CertificateDoor($0).status($0.parts.raw[0])
        },
        Route("GET", "/operator/v1/certificates", .store(.operator)) {
            try .json(CertificateList(certificates: try await $0.store.certificates()))
        },
        Route("POST", "/operator/v1/certificates/rotations", .store(.operator)) {
            try .created(
                CertificateList(
                    certificates: try await $0.store.rotateCertificates(
                        try await $0.body(), $0.context)))
        },
        Route("POST", "/operator/v1/certificates/revocations", .store(.operator)) {
            let request = try await $0.body(RevokeCertificateRequest.self)
            return try .json(
                try await $0.store.revokeCertificate(request.serialNumber, $0.context))
        },
    ]
}
