// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension SKError {
    /// The kind of error. Open: any number makes a code, and a `switch` over it
    /// needs `@unknown default`.
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
        /// Its number is not confirmed.
        case paymentMethodBindingConfigurationRequired
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
        .paymentMethodBindingConfigurationRequired,
    ]

    public init?(rawValue: Int) {
        self =
            Self.documented.indices.contains(rawValue)
            ? Self.documented[rawValue] : UndocumentedNumber(rawValue).value()
    }

    /// Written out, because `==` compares raw values.
    public var rawValue: Int {
        switch self {
        case .unknown: 0
        case .clientInvalid: 1
        case .paymentCancelled: 2
        case .paymentInvalid: 3
        case .paymentNotAllowed: 4
        case .storeProductNotAvailable: 5
        case .cloudServicePermissionDenied: 6
        case .cloudServiceNetworkConnectionFailed: 7
        case .cloudServiceRevoked: 8
        case .privacyAcknowledgementRequired: 9
        case .unauthorizedRequestData: 10
        case .invalidOfferIdentifier: 11
        case .invalidSignature: 12
        case .missingOfferParams: 13
        case .invalidOfferPrice: 14
        case .overlayCancelled: 15
        case .overlayInvalidConfiguration: 16
        case .overlayTimeout: 17
        case .ineligibleForOffer: 18
        case .unsupportedPlatform: 19
        case .overlayPresentedInBackgroundScene: 20
        case .paymentMethodBindingConfigurationRequired: 21
        case ._undocumented(let number): number
        }
    }
}

extension SKError.Code: _ErrorCodeProtocol {
    public typealias _ErrorType = SKError
}
