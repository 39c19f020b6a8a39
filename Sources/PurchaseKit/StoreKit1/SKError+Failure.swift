// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire

extension SKError.Code {
    /// Translates a failure. StoreKit has no code for a payment that the store
    /// declines, for declined or missing approvals, and for a network or a disk
    /// that fails: these are `unknown`, as is a word of a newer version.
    init(_ code: PaymentFailure.Code) {
        self =
            switch code {
            case .cancelled: .paymentCancelled
            case .notAllowed: .paymentNotAllowed
            case .productUnavailable: .storeProductNotAvailable
            case .contentsInvalid: .paymentInvalid
            case .requestDataReserved: .unauthorizedRequestData
            case .offerUnknown: .invalidOfferIdentifier
            case .offerNotEligible: .ineligibleForOffer
            case .offerSignatureInvalid: .invalidSignature
            case .offerIncomplete: .missingOfferParams
            case .callRefused, .notSetUp: .clientInvalid
            default: .unknown
            }
    }
}

extension SKError {
    /// The error that the app receives.
    init(_ failure: PaymentFailure) {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: failure.message]
        if let code = failure.urlErrorCode {
            userInfo[NSUnderlyingErrorKey] = URLError(URLError.Code(rawValue: code) ?? .unknown)
        } else if let code = failure.systemErrorCode {
            userInfo[NSUnderlyingErrorKey] = NSError(domain: NSPOSIXErrorDomain, code: code)
        }
        userInfo[StoreRefusal.key] = failure.refusal
        self.init(Code(failure.code), userInfo: userInfo)
    }
}

extension PaymentFailure {
    /// The error of a transaction.
    var transactionError: any Error {
        if let error = StoreServiceError(self) { return error }
        return SKError(self)
    }

    /// The error of a restore: the `URLError` itself for a network failure.
    var requestError: any Error {
        if let code = urlErrorCode {
            return URLError(URLError.Code(rawValue: code) ?? .unknown)
        }
        return transactionError
    }
}

extension DeviceFault {
    /// The error of a products request: the `URLError` itself for a network
    /// failure.
    var requestError: any Error {
        switch self {
        case .notSent(let error), .unknown(let error?): error
        default: paymentFailure.transactionError
        }
    }
}

extension DeviceFault {
    /// The error of a call about promotions: `storeProductNotAvailable` for a product
    /// that the app does not have, the `URLError` itself for a network failure.
    var promotionError: any Error {
        if case .refused(_, let error) = self,
            ["productIdUnknown", "productRemoved"].contains(error.code)
        {
            return SKError(PaymentFailure(.productUnavailable, error.message))
        }
        return requestError
    }
}
