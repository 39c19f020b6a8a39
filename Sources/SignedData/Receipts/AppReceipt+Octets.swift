// SPDX-License-Identifier: Apache-2.0

extension AppReceipt {
    /// Reads the octets of a receipt without verifying anything.
    package init(octets: [UInt8]) throws(VerificationFailure) {
        try self.init(content: octets)
    }
}

/// Checks certificates alone, without data that they signed.
package enum CertificateChainCheck {
    /// Checks leaf, intermediate and root against some of the rules.
    package static func check(
        _ der: [[UInt8]], roots: [[UInt8]] = [], rules: VerificationRules = .all
    ) throws(VerificationFailure) {
        _ = try CertificateChain.prove(der, roots: TrustedRoots(roots), rules: rules)
    }
}
