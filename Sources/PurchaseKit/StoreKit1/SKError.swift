// SPDX-License-Identifier: Apache-2.0

public import CStoreKit
public import Foundation

/// The domain of ``SKError``.
public let SKErrorDomain: String = "SKErrorDomain"

/// What went wrong with a payment.
///
/// `userInfo` holds the store's sentence under `NSLocalizedDescriptionKey`
/// and, where the network was at fault, the `URLError` under
/// `NSUnderlyingErrorKey`.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skerror)
public struct SKError: _BridgedStoredNSError {
    /// Open: any raw value makes a code.
    public typealias Code = SKErrorCode

    public let _nsError: NSError

    /// Wraps an `NSError` of ``SKErrorDomain``, as test doubles do.
    public init(_nsError error: NSError) {
        precondition(error.domain == SKErrorDomain, "an SKError is of the domain SKErrorDomain")
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
}

extension SKErrorCode: @retroactive _ErrorCodeProtocol {
    public typealias _ErrorType = SKError
}
