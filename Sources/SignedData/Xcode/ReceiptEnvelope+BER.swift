// SPDX-License-Identifier: Apache-2.0

import SwiftASN1

extension ReceiptEnvelope {
    /// Parses an envelope in BER: lengths may be indefinite and the content in
    /// pieces. The signed octets stay unchanged.
    init(ber bytes: [UInt8]) throws(VerificationFailure) {
        guard bytes.count <= SignedDataLimits.receiptBytesMax else {
            throw VerificationFailure(
                breaking: .size,
                "a receipt has at most \(SignedDataLimits.receiptBytesMax) bytes")
        }
        guard let der = DefiniteLengths.der(bytes) else {
            throw VerificationFailure(breaking: .envelope, "a receipt must be PKCS#7 in BER")
        }
        try self.init(der)
    }
}

/// Converts BER to definite lengths and octet strings in one piece, as in DER.
/// The parser limits the nesting.
enum DefiniteLengths {
    /// Nil if the bytes are not BER.
    static func der(_ bytes: [UInt8]) -> [UInt8]? {
        guard let node = try? BER.parse(bytes) else { return nil }
        var coder = DER.Serializer()
        write(node, into: &coder)
        return coder.serializedBytes
    }

    /// Writes a value with definite lengths, and an octet string in one piece.
    private static func write(_ node: ASN1Node, into coder: inout DER.Serializer) {
        switch node.content {
        case .primitive(let bytes):
            coder.appendPrimitiveNode(identifier: node.identifier) {
                $0.append(contentsOf: bytes)
            }
        case .constructed(let nodes) where node.identifier == .octetString:
            let octets = pieces(nodes)
            coder.appendPrimitiveNode(identifier: node.identifier) {
                $0.append(contentsOf: octets)
            }
        case .constructed(let nodes):
            coder.appendConstructedNode(identifier: node.identifier) { coder in
                for node in nodes { write(node, into: &coder) }
            }
        }
    }

    private static func pieces(_ nodes: ASN1NodeCollection) -> [UInt8] {
        var octets: [UInt8] = []
        for node in nodes {
            switch node.content {
            case .primitive(let bytes): octets += bytes
            case .constructed(let nodes): octets += pieces(nodes)
            }
        }
        return octets
    }
}
