// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The domain of ``SKError``.
public let SKErrorDomain: String = "SKErrorDomain"

/// What went wrong with a payment.
///
/// `userInfo` contains the store's sentence for `NSLocalizedDescriptionKey`
/// and, after a network failure, the `URLError` for `NSUnderlyingErrorKey`.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skerror)
public struct SKError: _BridgedStoredNSError {
    public let _nsError: NSError

    /// Wraps any `NSError`, as Apple's type does. Apps and test doubles pass
    /// whatever a delegate received, and a connection error has another domain
    /// than ``SKErrorDomain``.
    public init(_nsError error: NSError) {
        _nsError = error
    }

    public static var errorDomain: String { SKErrorDomain }
    public static var _nsErrorDomain: String { SKErrorDomain }

    public static var unknown: Code { .unknown }
    public static var clientInvalid: Code { .clientInvalid }
    public static var paymentCancelled: Code { .paymentCancelled }
    public static var paymentInvalid: Code { .paymentInvalid }
    public static var paymentNotAllowed: Code { .paymentNotAllowed }
    public static var storeProductNotAvailable: Code { .storeProductNotAvailable }
    public static var cloudServicePermissionDenied: Code { .cloudServicePermissionDenied }
    public static var cloudServiceNetworkConnectionFailed: Code {
        .cloudServiceNetworkConnectionFailed
    }
    public static var cloudServiceRevoked: Code { .cloudServiceRevoked }
    public static var privacyAcknowledgementRequired: Code { .privacyAcknowledgementRequired }
    public static var unauthorizedRequestData: Code { .unauthorizedRequestData }
    public static var invalidOfferIdentifier: Code { .invalidOfferIdentifier }
    public static var invalidSignature: Code { .invalidSignature }
    public static var missingOfferParams: Code { .missingOfferParams }
    public static var invalidOfferPrice: Code { .invalidOfferPrice }
    public static var overlayCancelled: Code { .overlayCancelled }
    public static var overlayInvalidConfiguration: Code { .overlayInvalidConfiguration }
    public static var overlayTimeout: Code { .overlayTimeout }
    public static var ineligibleForOffer: Code { .ineligibleForOffer }
    public static var unsupportedPlatform: Code { .unsupportedPlatform }
    public static var overlayPresentedInBackgroundScene: Code {
        .overlayPresentedInBackgroundScene
    }
    public static var paymentMethodBindingConfigurationRequired: Code {
        .paymentMethodBindingConfigurationRequired
    }
}
