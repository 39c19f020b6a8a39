// SPDX-License-Identifier: Apache-2.0

import Commerce
import X509

/// A certificate that an authority issued and that can be revoked.
public struct IssuedCertificate: Hashable, Sendable {
    public enum Role: String, Sendable {
        case intermediate, transactions, receipts
    }

    public let role: Role
    /// The serial number as big-endian octets without leading zeros.
    public let serial: [UInt8]

    /// The serial number in lower-case hexadecimal digits.
    public var serialText: String { hexadecimal(serial) }

    /// `certificates`: in the order of ``AuthorityFile/certificates``.
    static func all(_ certificates: [Certificate]) -> [IssuedCertificate] {
        [
            IssuedCertificate(.intermediate, certificates[1]),
            IssuedCertificate(.transactions, certificates[2]),
            IssuedCertificate(.receipts, certificates[3]),
        ]
    }

    init(_ role: Role, _ certificate: Certificate) {
        self.role = role
        serial = CertificateStatusResponder.serial(certificate)
    }
}
