// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Crypto

/// The part of a receipt that concerns the app and the device.
public struct ReceiptHeader: Hashable, Sendable {
    /// `ProductionSandbox` or `Production`.
    public var environment: String
    public var bundleID: BundleID
    public var appVersion: String
    /// The app's number at the store. Zero in sandboxes.
    public var appItemID: Int64 = 0
    /// The device's identifier for the vendor: the 16 bytes of a UUID.
    public var device: [UInt8]
    /// Sixteen random bytes that are part of the device's hash.
    public var opaque: [UInt8]
    /// When the receipt was signed. The certificates must be valid at this
    /// date.
    public var creationDate: Timestamp
    /// When the customer first got the app.
    public var originalPurchaseDate: Timestamp
    /// The version that the customer first got.
    public var originalAppVersion: String
    /// Only used for volume purchases.
    public var expirationDate: Timestamp?
    /// The hash of a device whose identifier is unknown.
    private var deviceHash: [UInt8]?

    /// Sets the original purchase date and version to the given ones. Change
    /// them afterwards if they differ.
    public init(
        environment: String, bundleID: BundleID, appVersion: String, device: [UInt8],
        opaque: [UInt8], creationDate: Timestamp
    ) {
        self.environment = environment
        self.bundleID = bundleID
        self.appVersion = appVersion
        self.device = device
        self.opaque = opaque
        self.creationDate = creationDate
        originalPurchaseDate = creationDate
        originalAppVersion = appVersion
    }

    /// The header of a later receipt for the device and the app of this one.
    public init(after receipt: AppReceipt, creationDate: Timestamp) {
        self.init(
            environment: receipt.environment ?? "", bundleID: receipt.bundleID ?? "",
            appVersion: receipt.appVersion ?? "", device: [], opaque: receipt.opaque,
            creationDate: creationDate)
        appItemID = receipt.appItemID ?? 0
        originalPurchaseDate = receipt.originalPurchaseDate ?? creationDate
        originalAppVersion = receipt.originalAppVersion ?? appVersion
        expirationDate = receipt.expirationDate
        deviceHash = receipt.deviceHash
    }

    func attributes() throws -> [ReceiptAttribute] {
        let bundle = try ReceiptAttribute(.bundleID, text: bundleID.value)
        let hash =
            deviceHash
            ?? AppReceipt.deviceHash(
                device: device, opaque: opaque, bundleIDOctets: bundle.value)
        var attributes = [
            try ReceiptAttribute(.environment, text: environment),
            try ReceiptAttribute(.appItemID, integer: appItemID),
            bundle,
            try ReceiptAttribute(.appVersion, text: appVersion),
            // In genuine receipts this is the only attribute with version 2.
            ReceiptAttribute(type: ReceiptField.opaque.rawValue, version: 2, value: opaque),
            ReceiptAttribute(type: ReceiptField.deviceHash.rawValue, value: hash),
            try ReceiptAttribute(.creationDate, date: creationDate),
            try ReceiptAttribute(.originalPurchaseDate, date: originalPurchaseDate),
            try ReceiptAttribute(.originalAppVersion, text: originalAppVersion),
        ]
        if let expirationDate {
            attributes.append(try ReceiptAttribute(.expirationDate, date: expirationDate))
        }
        return attributes
    }
}
