// SPDX-License-Identifier: Apache-2.0

public import Foundation

// A page of the store within an app needs a screen and an app store. These names
// exist so that code which mentions them compiles. They are no view controllers.

public let SKStoreProductParameterITunesItemIdentifier: String = "id"
public let SKStoreProductParameterProductIdentifier: String = "productIdentifier"
public let SKStoreProductParameterCustomProductPageIdentifier: String =
    "customProductPageIdentifier"
public let SKStoreProductParameterAffiliateToken: String = "at"
public let SKStoreProductParameterCampaignToken: String = "ct"
public let SKStoreProductParameterProviderToken: String = "pt"
public let SKStoreProductParameterAdvertisingPartnerToken: String = "advp"
// Of advertisements. Their values are not confirmed.
public let SKStoreProductParameterAdNetworkAttributionSignature: String =
    "adNetworkAttributionSignature"
public let SKStoreProductParameterAdNetworkCampaignIdentifier: String = "adNetworkCampaignId"
public let SKStoreProductParameterAdNetworkSourceIdentifier: String = "adNetworkSourceId"
public let SKStoreProductParameterAdNetworkIdentifier: String = "adNetworkId"
public let SKStoreProductParameterAdNetworkNonce: String = "adNetworkNonce"
public let SKStoreProductParameterAdNetworkTimestamp: String = "adNetworkTimestamp"
public let SKStoreProductParameterAdNetworkSourceAppStoreIdentifier: String =
    "adNetworkSourceAppStoreIdentifier"
public let SKStoreProductParameterAdNetworkVersion: String = "adNetworkPayloadVersion"

/// A page of the store within an app. There is none: ``loadProduct(withParameters:completionBlock:)``
/// fails with `unsupportedPlatform`, on the main queue.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skstoreproductviewcontroller)
open class SKStoreProductViewController: NSObject, @unchecked Sendable {
    /// Held weakly. Not called.
    weak open var delegate: (any SKStoreProductViewControllerDelegate)?

    public override init() {
        super.init()
    }

    open func loadProduct(
        withParameters parameters: [String: Any], impression: SKAdImpression,
        completionBlock block: ((Bool, (any Error)?) -> Void)? = nil
    ) {
        loadProduct(withParameters: parameters, completionBlock: block)
    }

    open func loadProduct(
        withParameters parameters: [String: Any],
        completionBlock block: ((Bool, (any Error)?) -> Void)? = nil
    ) {
        Later.call(block) {
            $0(
                false,
                SKError(
                    .unsupportedPlatform,
                    userInfo: [
                        NSLocalizedDescriptionKey: "This platform shows no pages of the store."
                    ]))
        }
    }
}

/// Is notified when a page of the store is closed.
public protocol SKStoreProductViewControllerDelegate: NSObjectProtocol {
    /// Optional.
    func productViewControllerDidFinish(_ viewController: SKStoreProductViewController)
}

extension SKStoreProductViewControllerDelegate {
    public func productViewControllerDidFinish(_ viewController: SKStoreProductViewController) {}
}
