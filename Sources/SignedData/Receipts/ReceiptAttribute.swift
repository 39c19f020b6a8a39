// SPDX-License-Identifier: Apache-2.0

import Commerce
import SwiftASN1

/// One attribute of a receipt or of a purchase in it: a number that identifies
/// its meaning, a version, and octets that usually contain one DER value.
public struct ReceiptAttribute: Hashable, Sendable {
    public let type: Int
    public let version: Int
    /// The octets, unchanged.
    public let value: [UInt8]

    public init(type: Int, version: Int = 1, value: [UInt8]) {
        self.type = type
        self.version = version
        self.value = value
    }

    init(_ field: ReceiptField, text: String) throws {
        self.init(type: field.rawValue, value: try Self.der(ASN1UTF8String(text)))
    }

    init(_ field: ReceiptField, integer: Int64) throws {
        self.init(type: field.rawValue, value: try Self.der(integer))
    }

    /// Writes a date to the second. Nil is written as the empty text.
    init(_ field: ReceiptField, date: Timestamp?) throws {
        let text = date.map { $0.wholeSeconds.description } ?? ""
        self.init(type: field.rawValue, value: try Self.der(ASN1IA5String(text)))
    }

    static func der(_ value: some DERSerializable) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serialize(value)
        return serializer.serializedBytes
    }
}

extension ReceiptAttribute {
    /// Writes SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }.
    func write(into coder: inout DER.Serializer) throws {
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(type)
            try coder.serialize(version)
            coder.appendPrimitiveNode(identifier: .octetString) { $0.append(contentsOf: value) }
        }
    }
}

/// The numbers of the known attributes.
enum ReceiptField: Int {
    case environment = 0
    case appItemID = 1
    case bundleID = 2
    case appVersion = 3
    case opaque = 4
    case deviceHash = 5
    case creationDate = 12
    case purchase = 17
    case originalPurchaseDate = 18
    case originalAppVersion = 19
    case expirationDate = 21

    case quantity = 1701
    case productID = 1702
    case transactionID = 1703
    case purchaseDate = 1704
    case originalTransactionID = 1705
    case originalTransactionDate = 1706
    case productType = 1707
    case expiresDate = 1708
    case webOrderLineItemID = 1711
    case cancellationDate = 1712
    case isTrialPeriod = 1713
    case isInIntroOfferPeriod = 1719
    case cancellationReason = 1720
    case promotionalOfferID = 1721
}

extension Timestamp {
    /// This instant without the fraction of a second, because receipts use
    /// seconds.
    var wholeSeconds: Timestamp {
        let rest = milliseconds % 1000
        return adding(milliseconds: rest < 0 ? -1000 - rest : -rest)
    }
}
