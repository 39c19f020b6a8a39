// SPDX-License-Identifier: Apache-2.0

extension AppReceipt {
    /// Reads the octets of a receipt without believing them.
    package init(octets: [UInt8]) throws(VerificationFailure) {
        try self.init(content: octets)
    }
}

/// Certificates alone, without anything that they signed.
package enum CertificateChainCheck {
    /// Judges leaf, intermediate and root by some of the rules.
    package static func check(
        _ der: [[UInt8]], roots: [[UInt8]] = [], rules: VerificationRules = .all
    ) throws(VerificationFailure) {
        _ = try CertificateChain.prove(der, roots: TrustedRoots(roots), rules: rules)
    }
}
