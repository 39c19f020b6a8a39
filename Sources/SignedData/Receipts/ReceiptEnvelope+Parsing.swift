// SPDX-License-Identifier: Apache-2.0

import SwiftASN1

extension ReceiptEnvelope {
    /// Parses an envelope without verifying it.
    init(_ bytes: [UInt8], rules: VerificationRules = .all) throws(VerificationFailure) {
        try rules.check(
            .size, bytes.count <= SignedDataLimits.receiptBytesMax,
            "a receipt has at most \(SignedDataLimits.receiptBytesMax) bytes")
        guard bytes.count < 2 || bytes[0] != 0x30 || bytes[1] != 0x80 else {
            throw VerificationFailure(
                breaking: .envelope,
                "receipts with indefinite lengths (BER, as Xcode's tests make them) "
                    + "are no store's; use a receipt signed by a store")
        }
        guard !ValueCount.exceeds(SignedDataLimits.receiptNodesMax, in: bytes) else {
            throw VerificationFailure(
                breaking: .envelope,
                "the envelope has more than \(SignedDataLimits.receiptNodesMax) parts")
        }
        do {
            self = try Self.contentInfo(DER.parse(bytes), rules)
        } catch let failure as VerificationFailure {
            throw failure
        } catch {
            throw VerificationFailure(
                breaking: .envelope,
                "a receipt must be PKCS#7 SignedData in DER, version 1, over data, "
                    + "with one signer and no signed attributes")
        }
    }

    private static func contentInfo(
        _ node: ASN1Node, _ rules: VerificationRules
    ) throws -> ReceiptEnvelope {
        try DER.sequence(node, identifier: .sequence) { nodes in
            try expect(ASN1ObjectIdentifier(derEncoded: &nodes) == OID.signedData)
            return try DER.explicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
                try DER.sequence($0, identifier: .sequence) { try signedData(&$0, rules) }
            }
        }
    }

    private static func signedData(
        _ nodes: inout ASN1NodeCollection.Iterator, _ rules: VerificationRules
    ) throws -> ReceiptEnvelope {
        try expect(Int(derEncoded: &nodes) == 1)
        let digests = try next(&nodes)
        try expect(digests.identifier == .set)
        let content = try DER.sequence(next(&nodes), identifier: .sequence) { nodes in
            try expect(ASN1ObjectIdentifier(derEncoded: &nodes) == OID.data)
            return try DER.explicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) {
                Array(try ASN1OctetString(derEncoded: $0).bytes)
            }
        }
        let certificates = try certificates(next(&nodes))
        // Revocation lists, which are never used here, would come before the
        // signers.
        return try DER.set(next(&nodes), identifier: .set) { signers in
            let envelope = try DER.sequence(next(&signers), identifier: .sequence) { nodes in
                try signer(&nodes, rules, content: content, certificates: certificates)
            }
            var count = 1
            while signers.next() != nil { count += 1 }
            try rules.check(
                .oneSigner, count == 1, "a receipt has one signer, this has \(count)")
            return envelope
        }
    }

    private static func certificates(_ node: ASN1Node) throws -> [[UInt8]] {
        let identifier = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
        return try DER.sequence(node, identifier: identifier) { nodes in
            var certificates: [[UInt8]] = []
            while let node = nodes.next() { certificates.append(Array(node.encodedBytes)) }
            return certificates
        }
    }

    private static func signer(
        _ nodes: inout ASN1NodeCollection.Iterator, _ rules: VerificationRules,
        content: [UInt8], certificates: [[UInt8]]
    ) throws -> ReceiptEnvelope {
        try expect(Int(derEncoded: &nodes) == 1)
        let name = try DER.sequence(next(&nodes), identifier: .sequence) { nodes in
            let issuer = try next(&nodes)
            let serial = try next(&nodes)
            return SignerName(
                issuer: Array(issuer.encodedBytes), serial: Array(serial.encodedBytes))
        }
        let digestOID = try algorithm(next(&nodes))
        guard let digest = ReceiptDigest.allCases.first(where: { $0.oid == digestOID }) else {
            throw VerificationFailure(
                breaking: .signatureAlgorithm,
                "the digest must be SHA-256 or SHA-1, not \(digestOID)")
        }
        // Signed attributes ([0]) would come here. `algorithm` rejects them.
        let signatureOID = try algorithm(next(&nodes))
        try rules.check(
            .signatureAlgorithm, digest.signatureOIDs.contains(signatureOID),
            "the signature must be RSA over \(digest), not \(signatureOID)")
        let signature = Array(try ASN1OctetString(derEncoded: &nodes).bytes)
        return ReceiptEnvelope(
            digest: digest, content: content, certificates: certificates, signer: name,
            signature: signature)
    }

    /// Reads an algorithm whose parameters are NULL or absent.
    private static func algorithm(_ node: ASN1Node) throws -> ASN1ObjectIdentifier {
        try DER.sequence(node, identifier: .sequence) { nodes in
            let oid = try ASN1ObjectIdentifier(derEncoded: &nodes)
            if let parameters = nodes.next() { _ = try ASN1Null(derEncoded: parameters) }
            return oid
        }
    }

    private static func next(_ nodes: inout ASN1NodeCollection.Iterator) throws -> ASN1Node {
        guard let node = nodes.next() else {
            throw ASN1Error.invalidASN1Object(reason: "too few values")
        }
        return node
    }

    private static func expect(_ condition: Bool) throws {
        guard condition else { throw ASN1Error.invalidASN1Object(reason: "an unexpected value") }
    }
}

/// Counts the values in DER without parsing them, because a parser needs a hundred times
/// the memory of its input.
enum ValueCount {
    /// Whether there are more values than `most`. The bytes need not be DER: what is
    /// malformed ends the count.
    static func exceeds(_ most: Int, in bytes: [UInt8]) -> Bool {
        var (index, count) = (0, 0)
        while index < bytes.count {
            count += 1
            guard count <= most else { return true }
            let first = bytes[index]
            index += 1
            if first & 0x1F == 0x1F {
                while index < bytes.count, bytes[index] & 0x80 != 0 { index += 1 }
                index += 1
            }
            guard let length = length(in: bytes, &index) else { return false }
            // The values in a constructed one follow.
            if first & 0x20 == 0 { index += length }
        }
        return false
    }

    /// Nil at the end, and for a length that no array has.
    private static func length(in bytes: [UInt8], _ index: inout Int) -> Int? {
        guard index < bytes.count else { return nil }
        let first = Int(bytes[index])
        index += 1
        guard first >= 0x80 else { return first }
        let octets = first & 0x7F
        guard octets <= 4, index + octets <= bytes.count else { return nil }
        var length = 0
        for _ in 0..<octets {
            length = length << 8 | Int(bytes[index])
            index += 1
        }
        return length
    }
}
