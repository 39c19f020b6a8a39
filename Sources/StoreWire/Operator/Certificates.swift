// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A certificate that the store has issued.
public struct CertificateSummary: Hashable, Sendable, Codable {
    /// `sandbox` or `production`.
    public var kind: String
    /// `intermediate`, `transactions`, `receipts`.
    public var role: String
    /// Hexadecimal digits.
    public var serialNumber: String
    /// The number of the rotation that issued it, from 1.
    public var generation: Int
    /// Whether it is used for signing at present.
    public var isInUse: Bool
    /// Wall time.
    public var revokedDate: Timestamp?

    public init(
        kind: String, role: String, serialNumber: String, generation: Int, isInUse: Bool,
        revokedDate: Timestamp? = nil
    ) {
        self.kind = kind
        self.role = role
        self.serialNumber = serialNumber
        self.generation = generation
        self.isInUse = isInUse
        self.revokedDate = revokedDate
    }
}

public struct CertificateList: Hashable, Sendable, Codable {
    public var certificates: [CertificateSummary]

    public init(certificates: [CertificateSummary]) {
        self.certificates = certificates
    }
}

/// Requests new leaves, and optionally a new intermediate.
public struct RotateCertificatesRequest: Hashable, Sendable, Codable {
    /// `sandbox` (if missing) or `production`.
    public var kind: String?
    public var withIntermediate: Bool?
    /// The root's private key as PEM, if the store does not have it.
    public var rootKey: String?

    public init(kind: String? = nil, withIntermediate: Bool? = nil, rootKey: String? = nil) {
        self.kind = kind
        self.withIntermediate = withIntermediate
        self.rootKey = rootKey
    }
}

public struct RevokeCertificateRequest: Hashable, Sendable, Codable {
    public var serialNumber: String

    public init(serialNumber: String) {
        self.serialNumber = serialNumber
    }
}
