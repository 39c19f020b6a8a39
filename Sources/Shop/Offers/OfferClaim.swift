// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// The exclusive use of something by one payment.
struct OfferClaim: Sendable {
    /// The payment that claims.
    struct Claimant: Hashable, Sendable {
        let customer: CustomerID
        let bundleID: BundleID
        let purchaseID: PurchaseID
        /// The refused payment that this one replaces. Its claims pass on.
        var replaces: PurchaseID?
    }

    let kind: OfferClaimKind
    let subject: String
    let claimant: Claimant
    let code: OfferCode?

    static func nonce(_ nonce: UUIDText, _ claimant: Claimant) -> OfferClaim {
        OfferClaim(kind: .nonce, subject: nonce.text, claimant: claimant, code: nil)
    }

    static func code(
        _ code: OfferCode, for product: ProductID, _ offerName: String, _ claimant: Claimant
    ) -> OfferClaim {
        OfferClaim(
            kind: .code, subject: "\(product)/\(offerName)", claimant: claimant, code: code)
    }

    /// The key of the claim's row.
    var holderKey: [SQLValue] {
        [
            .text(claimant.bundleID.value), .text(kind.rawValue), .text(subject),
            .integer(kind == .code ? claimant.customer.value : 0),
        ]
    }

    /// Writes the claim. Returns whether the payment has it: now, or since before.
    /// `isRefused` says of an earlier payment of the same customer whether it is
    /// known to have failed, so that its claim on a code may pass on.
    func write(
        _ writing: any Writing, at wall: Timestamp, passingOnIf isRefused: (PurchaseID) -> Bool
    ) throws -> Bool {
        let rest: [SQLValue] = [
            .integer(claimant.customer.value), .text(claimant.purchaseID.value),
            .optional(code?.text), .integer(wall.milliseconds),
        ]
        let mine = try writing.first(Statement.Offers.claim, holderKey + rest)
        if mine != nil { return true }
        guard let row = try writing.first(Statement.Offers.claimed, holderKey) else { return false }
        let holder = try row.integer("claimant_id")
        let purchase = PurchaseID(try row.text("purchase_id"))
        guard holder == claimant.customer.value else { return false }
        if purchase == claimant.purchaseID { return true }
        guard purchase == claimant.replaces || kind == .code && isRefused(purchase) else {
            return false
        }
        return try writing.first(
            Statement.Offers.passOn,
            holderKey + [.text(purchase.value), .text(claimant.purchaseID.value)]) != nil
    }
}
