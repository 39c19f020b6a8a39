// SPDX-License-Identifier: Apache-2.0

import SwiftASN1

extension ReceiptEnvelope {
    /// Takes an envelope in BER apart: lengths may be indefinite and the
    /// content in pieces. What was signed, the octets, stays as it is.
    init(ber bytes: [UInt8]) throws(VerificationFailure) {
        guard bytes.count <= SignedDataLimits.receiptBytesMax else {
            throw VerificationFailure(
                breaking: .size,
                "a receipt has at most \(SignedDataLimits.receiptBytesMax) bytes")
        }
        let der: [UInt8]
        do {
            var coder = DER.Serializer()
            Self.write(try BER.parse(bytes), into: &coder)
            der = coder.serializedBytes
        } catch {
            throw VerificationFailure(breaking: .envelope, "a receipt must be PKCS#7 in BER")
        }
        try self.init(der)
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
