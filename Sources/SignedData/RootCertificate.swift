// SPDX-License-Identifier: Apache-2.0

import SwiftASN1
import X509

/// Reads a root certificate from a file in DER or PEM.
public enum RootCertificate {
    /// Returns the DER of the one certificate in a file's bytes, for a
    /// verifier's roots. Throws `malformed` if the bytes are neither DER nor
    /// PEM, or are PEM with more than one certificate.
    public static func der(ofFile bytes: [UInt8]) throws(VerificationFailure) -> [UInt8] {
        let isPEM = String(decoding: bytes.prefix(4096), as: UTF8.self).contains("-----BEGIN")
        do {
            let certificate =
                isPEM
                ? try Certificate(pemEncoded: String(decoding: bytes, as: UTF8.self))
                : try Certificate(derEncoded: bytes)
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            return serializer.serializedBytes
        } catch {
            throw VerificationFailure(
                .malformed, "a root must be one certificate in DER (.cer) or PEM (.pem)")
        }
    }
}
