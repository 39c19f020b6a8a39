// SPDX-License-Identifier: Apache-2.0

package import Commerce
import SwiftASN1
import X509

/// The contents of a certificate, as text.
package struct CertificateFacts: Hashable, Sendable {
    package let subject: String
    package let issuer: String
    package let notBefore: Timestamp
    package let notAfter: Timestamp
    /// SHA-256 of the DER, in lower-case hexadecimal digits.
    package let fingerprint: String

    /// Nil if the bytes are not a certificate.
    package init?(der: [UInt8]) {
        guard let certificate = try? Certificate(derEncoded: der) else { return nil }
        let validity = ValidityInterval([certificate])
        subject = "\(certificate.subject)"
        issuer = "\(certificate.issuer)"
        notBefore = validity.first
        notAfter = validity.last
        fingerprint = CertificateAuthority.fingerprint(of: der)
    }

    /// SHA-256 of the roots that Apple publishes, with their names there
    /// (https://www.apple.com/certificateauthority/).
    package static let appleRoots: [String: String] = [
        "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179": "Apple Root CA - G3",
        "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024": "Apple Root CA",
    ]
}
