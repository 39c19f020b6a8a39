// SPDX-License-Identifier: Apache-2.0

/// The header of signed data, which must have ES256 and three certificates.
struct JWSHeader: Decodable {
    let alg: String?
    let x5c: [String]?
    /// Whether it has `crit`, in any form, which lists extensions that a reader
    /// must understand.
    let hasCritical: Bool

    private enum CodingKeys: String, CodingKey { case alg, x5c, crit }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        alg = try container.decodeIfPresent(String.self, forKey: .alg)
        x5c = try container.decodeIfPresent([String].self, forKey: .x5c)
        hasCritical = container.contains(.crit)
    }

    /// Returns the certificates in DER, in the order of the header. There must
    /// be `count`.
    func certificates(
        count: Int = 3, rules: VerificationRules = .all
    ) throws(VerificationFailure) -> [[UInt8]] {
        try rules.check(
            .algorithm, alg == "ES256", "the header's alg must be ES256, not \(alg ?? "absent")")
        try rules.check(
            .criticalHeader, !hasCritical, "the header's crit names rules unknown here")
        let x5c = x5c ?? []
        try rules.check(
            .chainLength, x5c.count == count,
            count == 3
                ? "the header's x5c must be three certificates (leaf, intermediate, root), "
                    + "not \(x5c.count)"
                : "the header's x5c must be one certificate, not \(x5c.count)")
        var certificates: [[UInt8]] = []
        for text in x5c {
            let der = Base64.decode(text.utf8)
            try rules.check(
                .certificateBase64, der != nil,
                "each entry of x5c must be standard Base64 with padding")
            certificates.append(der ?? Base64.decodeLeniently(text.utf8))
        }
        return certificates
    }
}
