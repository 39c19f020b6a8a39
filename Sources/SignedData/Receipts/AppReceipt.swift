// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Crypto
import SwiftASN1

/// What a receipt says, once a ``ReceiptVerifier`` has checked it.
public struct AppReceipt: Hashable, Sendable {
    /// `Production`, `ProductionSandbox`, or another store's word.
    public let environment: String?
    public let appItemID: Int64?
    public let bundleID: BundleID?
    public let appVersion: String?
    /// Bytes that go into the device's hash.
    public let opaque: [UInt8]
    /// SHA-1 over the device's identifier, the opaque bytes and the bundle id.
    public let deviceHash: [UInt8]
    /// When it was signed.
    public let creationDate: Timestamp
    public let originalPurchaseDate: Timestamp?
    public let originalAppVersion: String?
    public let expirationDate: Timestamp?
    /// In the receipt's order.
    public let purchases: [ReceiptPurchase]
    /// Attributes that this module does not know, kept as they came.
    public let unknown: [ReceiptAttribute]
    /// The bundle id with its tag and length, as the hash takes it.
    let bundleIDOctets: [UInt8]

    /// Whether the receipt was made for a device: on phones the 16 bytes of
    /// the identifier for the vendor, on a Mac its six-byte network address.
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
    /// Reads the octets that were signed. Some signers wrap the SET in one
    /// more OCTET STRING, which is taken off.
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
