// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Crypto
import SwiftASN1

/// The contents of a receipt, after a ``ReceiptVerifier`` has verified it.
public struct AppReceipt: Hashable, Sendable {
    /// `Production`, `ProductionSandbox`, or another store's name.
    public let environment: String?
    public let appItemID: Int64?
    public let bundleID: BundleID?
    public let appVersion: String?
    /// Random bytes that are part of the device's hash.
    public let opaque: [UInt8]
    /// SHA-1 over the device's identifier, the opaque bytes and the bundle id.
    public let deviceHash: [UInt8]
    /// When it was signed.
    public let creationDate: Timestamp
    public let originalPurchaseDate: Timestamp?
    public let originalAppVersion: String?
    public let expirationDate: Timestamp?
    /// In the order of the receipt.
    public let purchases: [ReceiptPurchase]
    /// Attributes that this module does not know, unchanged.
    public let unknown: [ReceiptAttribute]
    /// The bundle id with its tag and length, which the hash covers.
    let bundleIDOctets: [UInt8]

    /// Whether the receipt was made for a device: on phones the 16 bytes of the
    /// identifier for the vendor, on a Mac its network address of six bytes.
    public func isForDevice(_ device: [UInt8]) -> Bool {
        deviceHash
            == Self.deviceHash(device: device, opaque: opaque, bundleIDOctets: bundleIDOctets)
    }

    static func deviceHash(
        device: [UInt8], opaque: [UInt8], bundleIDOctets: [UInt8]
    ) -> [UInt8] {
        var hash = Insecure.SHA1()
        hash.update(data: device)
        hash.update(data: opaque)
        hash.update(data: bundleIDOctets)
        return Array(hash.finalize())
    }
}

extension AppReceipt {
    /// Reads the signed octets. Some signers wrap the SET in another OCTET
    /// STRING, which is removed.
    init(content: [UInt8]) throws(VerificationFailure) {
        let inner = (try? ASN1OctetString(derEncoded: content)).map { Array($0.bytes) }
        var attributes = try ReceiptAttributes(der: inner ?? content, place: "the receipt")
        var purchases: [ReceiptPurchase] = []
        for record in attributes.takeAll(.purchase) {
            purchases.append(try ReceiptPurchase(der: record))
        }
        self.purchases = purchases
        environment = try attributes.text(.environment)
        appItemID = try attributes.integer(.appItemID)
        var bundle = attributes
        bundleIDOctets = try bundle.octets(.bundleID) ?? []
        bundleID = try attributes.text(.bundleID).map { BundleID($0) }
        appVersion = try attributes.text(.appVersion)
        opaque = try attributes.octets(.opaque) ?? []
        deviceHash = try attributes.octets(.deviceHash) ?? []
        guard let creationDate = try attributes.date(.creationDate) else {
            throw attributes.failure(.creationDate, "is missing; it dates the signature")
        }
        self.creationDate = creationDate
        originalPurchaseDate = try attributes.date(.originalPurchaseDate)
        originalAppVersion = try attributes.text(.originalAppVersion)
        expirationDate = try attributes.date(.expirationDate)
        unknown = attributes.remaining
    }
}

extension AppReceipt {
    /// Reads a receipt that another party vouches for, such as the store's
    /// verifyReceipt. Its signature and its certificates are **not** verified.
    public init(vouchedFor bytes: [UInt8]) throws(VerificationFailure) {
        try self.init(content: try ReceiptEnvelope(bytes, rules: .all).content)
    }
}
