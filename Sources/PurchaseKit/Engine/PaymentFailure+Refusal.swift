// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire

extension PaymentFailure {
    /// Makes a failure of the store's refusal, with the store's sentence.
    /// Refusals that an app handles alike share a code. The store's own code is
    /// in ``refusal``.
    init(refusal: WireError) {
        let code: Code =
            switch PurchaseRefusal(rawValue: refusal.code) {
            case .unknownProduct, .notSoldYet: .productUnavailable
            case .quantityOutOfRange, .quantityOfNonConsumable: .contentsInvalid
            case .purchasesNotAllowed: .notAllowed
            case .offerUnknown: .offerUnknown
            case .offerNotEligible, .offerCodeInvalid: .offerNotEligible
            case .offerTokenInvalid, .offerKeyUnknown, .offerSignatureInvalid, .offerOutdated,
                .offerNonceUsed:
                .offerSignatureInvalid
            case .priceChanged, .noProcessor, .declined, .approvalDeclined, .approvalTimedOut,
                .notRecorded, .simulated:
                .refused
            case .storeFault: .storeFault
            case nil: Self.code(ofCall: refusal.code)
            }
        self.init(code, refusal.sentences)
        self.refusal = StoreRefusal(refusal)
    }

    private static func code(ofCall code: String) -> Code {
        switch code {
        case "purchaseIdReused": .contentsInvalid
        case ContentsRefusal.offerFieldMissing.rawValue: .offerIncomplete
        case "signInRefused", "tooManyAttempts", "customerMissing": .signInFailed
        default: .callRefused
        }
    }
}
