// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

/// What limits offers. All of it is at the home, because it is counted over all
/// customers.
extension RealmSchema {
    /// Codes for offers of subscriptions. `offer_name` is the offer's label. `batch`
    /// is the same for codes that were made together. `claimed_at` is that of the
    /// last claim: writing it locks the code.
    static let offerCodes = Table(
        "offer_codes", key: ["bundle_id", "code"], as: .tree,
        [
            "bundle_id": .bundleID, "code": .offerCode, "product_id": .id,
            "offer_name": .text(bytes: 1...Edge.textBytesMax), "batch": .uuid,
            "redemptions_max": .integer(1...OfferCode.redemptionsMax),
            "expires_at": .time.optional, "made_at": .time, "deactivated_at": .time.optional,
            "claimed_at": .time.optional,
        ],
        references: [ofApp, .init(["bundle_id", "product_id"], to: "products")])

    /// What was used once: the nonce of a signed offer (`holder` 0), and a code's
    /// offer by a customer (`holder`). The claim belongs to a payment. `claimed_at`
    /// is wall time.
    static let offerClaims = Table(
        "offer_claims", key: ["bundle_id", "kind", "subject", "holder"], as: .tree,
        [
            "bundle_id": .bundleID, "kind": .word(OfferClaimKind.allCases.map(\.rawValue)),
            "subject": .text(bytes: 1...1024), "holder": .customerOrNone,
            "claimant_id": .customer, "purchase_id": .uuid, "code": .offerCode.optional,
            "claimed_at": .time,
        ],
        indexes: [
            .init("offer_claims_by_code", on: ["bundle_id", "code"], where: "code IS NOT NULL"),
            .init("offer_claims_by_purchase", on: ["claimant_id", "bundle_id", "purchase_id"]),
        ],
        references: [ofApp, .init(["claimant_id"], to: "customers", ["customer_id"])])
}

/// What a claim is on.
enum OfferClaimKind: String, CaseIterable, Sendable {
    /// The nonce of a signed offer. It stays used if the payment fails.
    case nonce
    /// The offer of a code, once for each customer. It is released if the payment
    /// fails.
    case code
}

extension ValueRule {
    static let offerCode = text(OfferCode.rule) { OfferCode(text: $0)?.text == $0 }
}
