// SPDX-License-Identifier: Apache-2.0

import SwiftASN1
import X509
import _CryptoExtras

/// Signs app receipts.
public struct ReceiptSigner: Sendable {
    private let key: _RSA.Signing.PrivateKey
    private let issuer: [UInt8]
    private let serial: [UInt8]
    private let chain: [[UInt8]]

    /// `chain`: leaf, intermediate and root in DER.
    init(key: _RSA.Signing.PrivateKey, leaf: Certificate, chain: [[UInt8]]) throws {
        let name = try ReceiptEnvelope.SignerName(leaf)
        self.key = key
        self.chain = chain
        issuer = name.issuer
        serial = name.serial
    }

    /// Returns a receipt: PKCS#7 in DER over the header's attributes and
    /// `records`, which are results of ``ReceiptPurchase/encoded()``. This
    /// costs one RSA signature and copies the records.
    public func sign(
        _ header: ReceiptHeader, records: [[UInt8]], digest: ReceiptDigest = .sha256
    ) throws -> [UInt8] {
        var content = DER.Serializer()
        try content.appendConstructedNode(identifier: .set) { coder in
            for attribute in try header.attributes() { try attribute.write(into: &coder) }
            for record in records { coder.serializeRawBytes(record) }
        }
        let octets = content.serializedBytes
        return try ReceiptAttribute.der(
            ReceiptEnvelope(
                digest: digest, content: octets, certificates: chain,
                signer: ReceiptEnvelope.SignerName(issuer: issuer, serial: serial),
                signature: digest.sign(octets, key)))
    }
}
