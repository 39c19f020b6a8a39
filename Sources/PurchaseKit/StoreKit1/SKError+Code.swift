// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension SKError {
    /// What went wrong. Open: any number makes a code, and a `switch` over it
    /// wants `@unknown default`.
    /// [Apple's page](https://developer.apple.com/documentation/storekit/skerror/code)
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Code: Hashable, Sendable {
        case unknown, clientInvalid, paymentCancelled, paymentInvalid, paymentNotAllowed
        case storeProductNotAvailable
        case cloudServicePermissionDenied, cloudServiceNetworkConnectionFailed
        case cloudServiceRevoked
        case privacyAcknowledgementRequired, unauthorizedRequestData
        case invalidOfferIdentifier, invalidSignature, missingOfferParams, invalidOfferPrice
        case overlayCancelled, overlayInvalidConfiguration, overlayTimeout
        case ineligibleForOffer, unsupportedPlatform, overlayPresentedInBackgroundScene
        @available(*, unavailable, message: "match it with @unknown default")
        case _undocumented(Int)
    }
}

extension SKError.Code: RawRepresentable {
    /// In the order of their numbers, from 0.
    private static let documented: [Self] = [
        .unknown, .clientInvalid, .paymentCancelled, .paymentInvalid, .paymentNotAllowed,
        .storeProductNotAvailable, .cloudServicePermissionDenied,
        .cloudServiceNetworkConnectionFailed, .cloudServiceRevoked,
        .privacyAcknowledgementRequired, .unauthorizedRequestData, .invalidOfferIdentifier,
        .invalidSignature, .missingOfferParams, .invalidOfferPrice, .overlayCancelled,
        .overlayInvalidConfiguration, .overlayTimeout, .ineligibleForOffer,
        .unsupportedPlatform, .overlayPresentedInBackgroundScene,
    ]

    public init?(rawValue: Int) {
        self =
            Self.documented.indices.contains(rawValue)
            ? Self.documented[rawValue] : UndocumentedNumber(rawValue).value()
    }

    public var rawValue: Int {
        if case ._undocumented(let number) = self { return number }
        return Self.documented.firstIndex(of: self) ?? 0
    }
}

extension SKError.Code: _ErrorCodeProtocol {
    public typealias _ErrorType = SKError
}
