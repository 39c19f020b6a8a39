// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// An offer that the publisher's server has signed for one payment, as it sends it to
/// the app.
struct SignedOffer: Decodable {
    let offerId: String
    let keyId: String
    let nonce: UUID
    /// In milliseconds.
    let timestamp: Int64
    let signature: String

    init?(_ data: Data) {
        guard let offer = try? JSONDecoder().decode(SignedOffer.self, from: data) else {
            return nil
        }
        self = offer
    }

    var discount: SKPaymentDiscount {
        SKPaymentDiscount(
            identifier: offerId, keyIdentifier: keyId, nonce: nonce, signature: signature,
            timestamp: NSNumber(value: timestamp))
    }
}
