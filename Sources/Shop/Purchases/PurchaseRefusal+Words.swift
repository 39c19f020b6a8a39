// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire

extension PurchaseRefusal {
    /// The refusal in a device's answer.
    var wireError: WireError {
        let (message, field, rule, remedy) = words
        return WireError(
            code: rawValue, message: message, field: field, rule: rule, remedy: remedy)
    }

    private var words: (message: String, field: String?, rule: String, remedy: String) {
        switch self {
        case .simulated:
            (
                "This sandbox is configured to make payments fail.", nil,
                "settings._storeKitErrors of its catalogue file",
                "switch the simulated error off"
            )
        case .storeFault:
            (
                "The store has failed.", nil, "this sandbox fails on purpose: `fault set devices`",
                "`shopkeeper fault clear devices`"
            )
        case .unknownProduct:
            (
                "The app sells no product of this id.", "productId",
                "an id of the app's catalogue", "ask for the app's products first"
            )
        case .notSoldYet:
            (
                "The store lists this type of product and does not sell it yet.", "productId",
                "a subscription has a group and a period; a year in monthly parts has a billing "
                    + "plan for them", "complete its terms"
            )
        case .quantityOutOfRange:
            (
                "The quantity is out of range.", "quantity",
                "1 to \(Payment.quantityMax)", "buy several times"
            )
        case .quantityOfNonConsumable:
            (
                "A product that is bought once is bought one at a time.", "quantity",
                "1 for a non-consumable or a subscription", "ask for one"
            )
        case .offerTokenInvalid, .offerKeyUnknown, .offerSignatureInvalid, .offerOutdated,
            .offerNonceUsed:
            wordsOfSignedOffer
        case .offerCodeInvalid:
            (
                "The code cannot be redeemed.", "offer.code",
                "a code of the app that is active, and neither expired nor used up",
                "ask the merchant for another one"
            )
        case .offerUnknown:
            (
                "The product has no such offer in this storefront.", "offer",
                "the id of one of the subscription's offers, of the kind that is asked for",
                "ask for the app's products to see their offers"
            )
        case .offerNotEligible:
            (
                "The customer does not get this offer.", "offer",
                "promotional offers are for customers who subscribe or did, win-back offers for "
                    + "those whose subscription has expired, and codes say for whom they are",
                "buy without it"
            )
        case .purchasesNotAllowed:
            (
                "This customer may not buy.", nil, "the store lets the customer buy",
                "ask the store's operator"
            )
        case .priceChanged:
            (
                "The price is not the one that was shown.", "unitPrice",
                "the price and currency that the product has now",
                "show the product as it is now and let the customer confirm again, under a "
                    + "new purchase id"
            )
        case .noProcessor:
            (
                "This realm has no payment processor.", nil,
                "a production realm sells through a processor",
                "configure one, or buy in a sandbox"
            )
        case .declined:
            (
                "The payment was declined.", nil, "the processor approves the payment",
                "pay another way, under a new purchase id"
            )
        case .approvalDeclined:
            (
                "The parent has declined the purchase.", nil,
                "an Ask to Buy purchase is sold only after a parent approves it",
                "ask again, under a new purchase id"
            )
        case .approvalTimedOut:
            (
                "The purchase was not approved in time.", nil,
                "an approval comes within 24 hours", "ask again, under a new purchase id"
            )
        case .notRecorded:
            (
                "The store could not record the sale, and gives the sum back.", nil,
                "a sale is recorded before it counts",
                "ask the store's operator, then pay again under a new purchase id"
            )
        }
    }

    private var wordsOfSignedOffer: (String, String?, String, String) {
        switch self {
        case .offerTokenInvalid:
            (
                "The token is not one for this use.", "offer.token",
                "ES256; the audience, app, product and offer of this payment; a transaction of "
                    + "this customer, if it names one; no `exp`",
                "make a token for this payment"
            )
        case .offerKeyUnknown:
            (
                "The offer is signed with a key that the app does not have.", "offer.keyId",
                "a server key of the app that is not revoked, and in a token its issuer",
                "list the keys, or create one"
            )
        case .offerSignatureInvalid:
            (
                "The signature does not match this payment.", "offer.signature",
                "the key's signature over app, key, product, offer, username, nonce and time, "
                    + "with UUIDs in lower case",
                "sign exactly what the payment states"
            )
        case .offerOutdated:
            (
                "The offer was not signed within the last 24 hours.", "offer.timestamp",
                "a time at most 24 hours ago, and not in the future", "sign it anew"
            )
        default:
            (
                "The nonce was used before.", "offer.nonce",
                "one nonce, one payment, also if that has failed", "sign it anew"
            )
        }
    }
}
