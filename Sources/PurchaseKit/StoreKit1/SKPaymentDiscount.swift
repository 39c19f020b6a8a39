// SPDX-License-Identifier: Apache-2.0

import Commerce
public import Foundation
import StoreWire

/// A promotional offer for one payment, as the merchant's server has signed it.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skpaymentdiscount)
open class SKPaymentDiscount: NSObject, @unchecked Sendable {
    private let number: Int64
    private let names: (offer: String, key: String)
    private let proof: (nonce: UUID, signature: String)

    /// Makes an empty offer, for subclasses in tests.
    public override init() {
        names = ("", "")
        proof = (UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), "")
        number = 0
        super.init()
    }

    /// `timestamp` has milliseconds since 1970.
    public init(
        identifier: String, keyIdentifier: String, nonce: UUID, signature: String,
        timestamp: NSNumber
    ) {
        names = (identifier, keyIdentifier)
        proof = (nonce, signature)
        number = timestamp.int64Value
        super.init()
    }

    /// The offer's id.
    open var identifier: String { names.offer }
    /// The id of the key that signed.
    open var keyIdentifier: String { names.key }
    /// Used once.
    open var nonce: UUID { proof.nonce }
    /// In Base64.
    open var signature: String { proof.signature }
    /// When it was signed: milliseconds since 1970.
    open var timestamp: NSNumber { NSNumber(value: number) }
}

extension SKPaymentDiscount {
    /// Nil if a payment asks for another kind of offer.
    convenience init?(_ request: OfferRequest?) {
        guard let request, request.kind == OfferKind.promotional.rawValue,
            let nonce = request.nonce.flatMap(UUID.init(uuidString:)),
            let signature = request.signature
        else { return nil }
        self.init(
            identifier: request.offerId ?? "", keyIdentifier: request.keyId ?? "", nonce: nonce,
            signature: signature,
            timestamp: NSNumber(value: request.timestamp?.milliseconds ?? 0))
    }

    /// The offer on the wire.
    var request: OfferRequest {
        OfferRequest(
            kind: OfferKind.promotional.rawValue, offerId: identifier, keyId: keyIdentifier,
            nonce: nonce.uuidString.lowercased(),
            timestamp: Timestamp(milliseconds: timestamp.int64Value), signature: signature)
    }
}
