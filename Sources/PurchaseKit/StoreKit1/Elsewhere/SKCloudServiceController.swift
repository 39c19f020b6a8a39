// SPDX-License-Identifier: Apache-2.0

public import Foundation

// A music library is no part of a store for purchases. These names exist so that
// code which mentions them compiles. What they ask for is refused.

/// Whether the app may use the customer's music library.
public enum SKCloudServiceAuthorizationStatus: Int, Sendable {
    case notDetermined, denied, restricted, authorized
}

/// What the customer's music library offers to the app.
public struct SKCloudServiceCapability: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    public static let musicCatalogPlayback = SKCloudServiceCapability(rawValue: 1)
    public static let musicCatalogSubscriptionEligible = SKCloudServiceCapability(rawValue: 1 << 1)
    public static let addToCloudMusicLibrary = SKCloudServiceCapability(rawValue: 1 << 8)
}

extension NSNotification.Name {
    /// Never posted here.
    public static let SKCloudServiceCapabilitiesDidChange = NSNotification.Name(
        "SKCloudServiceCapabilitiesDidChangeNotification")
    /// Never posted here: observers hear of another storefront with
    /// `paymentQueueDidChangeStorefront(_:)`.
    public static let SKStorefrontCountryCodeDidChange = NSNotification.Name(
        "SKStorefrontCountryCodeDidChangeNotification")
    /// Never posted here, like ``SKStorefrontCountryCodeDidChange``.
    public static let SKStorefrontIdentifierDidChange = NSNotification.Name(
        "SKStorefrontIdentifierDidChangeNotification")
}

/// Asks about the customer's music library, which this store does not have. The
/// authorization is `denied`, and each request fails with
/// `cloudServicePermissionDenied`, on the main queue.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skcloudservicecontroller)
open class SKCloudServiceController: NSObject, @unchecked Sendable {
    public override init() {
        super.init()
    }

    open class func authorizationStatus() -> SKCloudServiceAuthorizationStatus { .denied }

    open class func requestAuthorization(
        _ handler: @escaping (SKCloudServiceAuthorizationStatus) -> Void
    ) {
        Later.call(handler) { $0(.denied) }
    }

    open func requestCapabilities(
        completionHandler: @escaping (SKCloudServiceCapability, (any Error)?) -> Void
    ) {
        Later.call(completionHandler) { $0([], Self.refusal) }
    }

    open func requestStorefrontCountryCode(
        completionHandler: @escaping (String?, (any Error)?) -> Void
    ) {
        Later.call(completionHandler) { $0(nil, Self.refusal) }
    }

    open func requestStorefrontIdentifier(
        completionHandler: @escaping (String?, (any Error)?) -> Void
    ) {
        Later.call(completionHandler) { $0(nil, Self.refusal) }
    }

    open func requestUserToken(
        forDeveloperToken developerToken: String,
        completionHandler: @escaping (String?, (any Error)?) -> Void
    ) {
        Later.call(completionHandler) { $0(nil, Self.refusal) }
    }

    private static var refusal: SKError {
        SKError(
            .cloudServicePermissionDenied,
            userInfo: [NSLocalizedDescriptionKey: "The store has no music library."])
    }
}
