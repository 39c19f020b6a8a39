// SPDX-License-Identifier: Apache-2.0

import SwiftASN1

/// The certificates and fields of a receipt in DER or BER, for display,
/// whatever its signature. Nothing of it is verified.
struct ReceiptOutline {
    /// In DER, in the order of the envelope.
    let certificates: [[UInt8]]
    /// Nil if the content is not a receipt.
    let receipt: AppReceipt?

    /// Nil if the bytes are not PKCS#7.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= SignedDataLimits.receiptBytesMax,
            let der = DefiniteLengths.der(bytes),
            let (content, certificates) = try? Self.contentInfo(DER.parse(der))
        else { return nil }
        self.certificates = certificates
        let read = try? AppReceipt(content: content)
        // The content may itself be in BER.
        receipt = read ?? DefiniteLengths.der(content).flatMap { try? AppReceipt(content: $0) }
    }

    private typealias Parts = (content: [UInt8], certificates: [[UInt8]])

    private static func contentInfo(_ node: ASN1Node) throws -> Parts {
        try DER.sequence(node, identifier: .sequence) { nodes in
            _ = try ASN1ObjectIdentifier(derEncoded: &nodes)
            return try DER.explicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
                try DER.sequence($0, identifier: .sequence) { try signedData(&$0) }
            }
        }
    }

    private static func signedData(_ nodes: inout ASN1NodeCollection.Iterator) throws -> Parts {
        _ = try Int(derEncoded: &nodes)
        _ = nodes.next()
        guard let info = nodes.next() else {
            throw ASN1Error.invalidASN1Object(reason: "too few values")
        }
        let content = try DER.sequence(info, identifier: .sequence) { nodes in
            _ = try ASN1ObjectIdentifier(derEncoded: &nodes)
            return try DER.explicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
                Array(try ASN1OctetString(derEncoded: $0).bytes)
            }
        }
        var certificates: [[UInt8]] = []
        let tag = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
        while let node = nodes.next() {
            guard node.identifier == tag, case .constructed(let children) = node.content else {
                continue
            }
            certificates += children.map { Array($0.encodedBytes) }
        }
        return (content, certificates)
    }
}
