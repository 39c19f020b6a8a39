// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Measuring advertisements is no part of a store for purchases. These names exist
// so that code which mentions them compiles. What they ask for is refused.

/// The domain of ``SKANError``.
public let SKANErrorDomain: String = "SKANErrorDomain"

/// What went wrong with the measurement of an advertisement.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skanerror)
public struct SKANError: _BridgedStoredNSError {
    public let _nsError: NSError

    /// Wraps any `NSError`, as Apple's type does.
    public init(_nsError error: NSError) {
        _nsError = error
    }

    public static var errorDomain: String { SKANErrorDomain }
    public static var _nsErrorDomain: String { SKANErrorDomain }

    public enum Code: Int, Sendable, _ErrorCodeProtocol {
        public typealias _ErrorType = SKANError

        case impressionMissingRequiredValue, unsupported, adNetworkIdMissing
        case mismatchedSourceAppId, impressionNotFound, invalidCampaignId
        case invalidConversionValue, invalidSourceAppId, invalidAdvertisedAppId
        case invalidVersion, unknown, impressionTooShort
    }

    public static var unsupported: Code { .unsupported }
    public static var unknown: Code { .unknown }
}

/// Measures advertisements, which this store does not: what can fail fails with
/// `SKANError.unsupported`, on the main queue.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skadnetwork)
open class SKAdNetwork: NSObject, @unchecked Sendable {
    /// How much a conversion is worth, roughly.
    public struct CoarseConversionValue: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public static let high = CoarseConversionValue(rawValue: "high")
        public static let medium = CoarseConversionValue(rawValue: "medium")
        public static let low = CoarseConversionValue(rawValue: "low")
    }

    public override init() {
        super.init()
    }

    /// Does nothing.
    open class func registerAppForAdNetworkAttribution() {}
    /// Does nothing.
    open class func updateConversionValue(_ conversionValue: Int) {}

    open class func updatePostbackConversionValue(
        _ conversionValue: Int, completionHandler: (((any Error)?) -> Void)? = nil
    ) {
        Later.call(completionHandler) { $0(Self.refusal) }
    }

    open class func updatePostbackConversionValue(
        _ fineValue: Int, coarseValue: CoarseConversionValue,
        completionHandler: (((any Error)?) -> Void)? = nil
    ) {
        Later.call(completionHandler) { $0(Self.refusal) }
    }

    open class func updatePostbackConversionValue(
        _ fineValue: Int, coarseValue: CoarseConversionValue, lockWindow: Bool,
        completionHandler: (((any Error)?) -> Void)? = nil
    ) {
        Later.call(completionHandler) { $0(Self.refusal) }
    }

    open class func startImpression(
        _ impression: SKAdImpression, completionHandler: (((any Error)?) -> Void)? = nil
    ) {
        Later.call(completionHandler) { $0(Self.refusal) }
    }

    open class func endImpression(
        _ impression: SKAdImpression, completionHandler: (((any Error)?) -> Void)? = nil
    ) {
        Later.call(completionHandler) { $0(Self.refusal) }
    }

    private static var refusal: SKANError {
        SKANError(
            .unsupported,
            userInfo: [NSLocalizedDescriptionKey: "The store measures no advertisements."])
    }
}

/// An advertisement that was seen. It only keeps values.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skadimpression)
open class SKAdImpression: NSObject, @unchecked Sendable {
    open var sourceAppStoreItemIdentifier: NSNumber = 0
    open var advertisedAppStoreItemIdentifier: NSNumber = 0
    open var adNetworkIdentifier = ""
    open var adCampaignIdentifier: NSNumber = 0
    open var adImpressionIdentifier = ""
    open var timestamp: NSNumber = 0
    open var signature = ""
    open var version = ""
    open var adType: String?
    open var adDescription: String?
    open var adPurchaserName: String?

    public override init() {
        super.init()
    }
}
