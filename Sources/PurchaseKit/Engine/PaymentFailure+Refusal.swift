// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire

extension PaymentFailure {
    /// Converts the store's refusal to the code that an app would handle, with
    /// the store's sentence.
    ///
    /// `declined`, `noProcessor` and codes of newer stores become `unknown`,
    /// because StoreKit has no code for them. So do declined and missing
    /// approvals, for which Apple documents no code. `notSoldYet` becomes
    /// `storeProductNotAvailable`.
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
