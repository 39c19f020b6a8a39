// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire

extension PaymentFailure {
    /// The store's refusal, with the code that an app would switch on and the
    /// store's own sentence.
    ///
    /// `declined`, `noProcessor` and whatever a newer store says are
    /// `unknown`: StoreKit has no code for them. So are an approval that was
    /// declined or did not come, for which Apple documents none. `notSoldYet`
    /// is `storeProductNotAvailable`.
    init(refusal: WireError) {
        let code: SKError.Code =
            switch PurchaseRefusal(rawValue: refusal.code) {
            case .unknownProduct, .notSoldYet: .storeProductNotAvailable
            case .quantityOutOfRange, .quantityOfNonConsumable: .paymentInvalid
            case .purchasesNotAllowed: .paymentNotAllowed
            case .priceChanged, .noProcessor, .declined, .approvalDeclined, .approvalTimedOut,
                .notRecorded, .simulated:
                .unknown
            case nil: Self.code(ofCall: refusal.code)
            }
        self.init(code, refusal.sentences)
        self.refusal = StoreRefusal(refusal)
    }

    private static func code(ofCall code: String) -> SKError.Code {
        switch code {
        case "purchaseIdReused": .paymentInvalid
        default: .clientInvalid
        }
    }
}
