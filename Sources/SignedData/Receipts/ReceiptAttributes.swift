// SPDX-License-Identifier: Apache-2.0

import Commerce
import SwiftASN1

/// The attributes of a receipt or a purchase during parsing. Each known one is
/// removed once. The others are unknown and kept.
struct ReceiptAttributes {
    private(set) var remaining: [ReceiptAttribute]
    /// A name of the value being read, for messages.
    private let place: String

    /// Reads a SET OF attributes in any order, because genuine receipts do not
    /// sort it as DER requires.
    init(der: some Collection<UInt8>, place: String) throws(VerificationFailure) {
        self.place = place
        do {
            remaining = try DER.set(DER.parse(Array(der)), identifier: .set) { nodes in
                var attributes: [ReceiptAttribute] = []
                while let node = nodes.next() {
                    guard attributes.count < SignedDataLimits.attributesMax else {
                        throw ASN1Error.invalidASN1Object(reason: "too many attributes")
                    }
                    attributes.append(try Self.attribute(node))
                }
                return attributes
            }
        } catch {
            throw VerificationFailure(
                breaking: .payload,
                "\(place) must be a DER SET of SEQUENCE (type INTEGER, version "
                    + "INTEGER, value OCTET STRING), at most \(SignedDataLimits.attributesMax)")
        }
    }

    private static func attribute(_ node: ASN1Node) throws -> ReceiptAttribute {
        try DER.sequence(node, identifier: .sequence) { nodes in
            ReceiptAttribute(
                type: try Int(derEncoded: &nodes), version: try Int(derEncoded: &nodes),
                value: Array(try ASN1OctetString(derEncoded: &nodes).bytes))
        }
    }

    /// Removes and returns every attribute of one type.
    mutating func takeAll(_ field: ReceiptField) -> [[UInt8]] {
        let taken = remaining.filter { $0.type == field.rawValue }.map(\.value)
        remaining.removeAll { $0.type == field.rawValue }
        return taken
    }

    /// Returns the octets of an attribute that may occur once.
    mutating func octets(_ field: ReceiptField) throws(VerificationFailure) -> [UInt8]? {
        let taken = takeAll(field)
        guard taken.count <= 1 else { throw failure(field, "may stand only once") }
        return taken.first
    }

    mutating func text(_ field: ReceiptField) throws(VerificationFailure) -> String? {
        guard let octets = try octets(field) else { return nil }
        guard let node = try? DER.parse(octets), case .primitive(let bytes) = node.content,
            node.identifier == .utf8String || node.identifier == .ia5String,
            let text = String(validating: bytes, as: UTF8.self)
        else { throw failure(field, "must be a text") }
        return text
    }

    mutating func integer(_ field: ReceiptField) throws(VerificationFailure) -> Int64? {
        guard let octets = try octets(field) else { return nil }
        guard let integer = try? Int64(derEncoded: octets) else {
            throw failure(field, "must be an INTEGER of at most 64 bits")
        }
        return integer
    }

    /// Nil if the attribute is absent or its text is empty.
    mutating func date(_ field: ReceiptField) throws(VerificationFailure) -> Timestamp? {
        guard let text = try text(field), !text.isEmpty else { return nil }
        guard let date = Timestamp(iso8601: text) else {
            throw failure(field, "must be a date such as 2026-11-21T04:27:06Z")
        }
        return date
    }

    func failure(_ field: ReceiptField, _ rule: String) -> VerificationFailure {
        VerificationFailure(
            breaking: .payload, "attribute \(field.rawValue) of \(place) \(rule)")
    }
}
