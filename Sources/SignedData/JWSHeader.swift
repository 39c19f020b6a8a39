// SPDX-License-Identifier: Apache-2.0

/// The header of signed data: ES256, three certificates.
struct JWSHeader: Decodable {
    let alg: String?
    let x5c: [String]?
    let crit: [String]?

    /// The certificates in DER, in the header's order.
    func certificates() throws(VerificationFailure) -> [[UInt8]] {
        guard alg == "ES256" else {
            throw VerificationFailure(
                .algorithm, "the header's alg must be ES256, not \(alg ?? "absent")")
        }
        guard crit == nil else {
            throw VerificationFailure(.algorithm, "the header's crit names rules unknown here")
        }
        guard let x5c, x5c.count == 3 else {
            throw VerificationFailure(
                .chainLength,
                "the header's x5c must be three certificates (leaf, "
                    + "intermediate, root), not \(x5c?.count ?? 0)")
        }
        var certificates: [[UInt8]] = []
        for text in x5c {
            guard let der = Base64.decode(text.utf8) else {
                throw VerificationFailure(
                    .malformed, "each entry of x5c must be standard Base64 with padding")
            }
            certificates.append(der)
        }
        return certificates
    }
}
