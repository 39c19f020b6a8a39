// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// For which account a proof is booked.
///
/// A purchase stays with the account that has it, whatever a later proof says: a store lets
/// the merchant set or change the app account token after the purchase. What the store has
/// signed beside, such as a refund, is booked for that account, and only then is another
/// one refused.
struct PurchaseClaim: Hashable, Sendable {
    /// The account that gets the purchase if it belongs to nobody.
    let account: String?
    /// The account that is refused a purchase of another one. Nil if nobody claims it.
    let claimant: String?
    /// Whether the call and the app account token name two accounts.
    let contradicts: Bool

    /// A call for an account. Without one, the app account token claims.
    static func call(for named: String?, _ proven: ProvenPurchase) -> PurchaseClaim {
        PurchaseClaim(
            account: proven.account ?? named, claimant: named ?? proven.account,
            contradicts: proven.isOfAnother(than: named))
    }

    /// What a store sends, or answers to a question without an account. `account` gets a
    /// purchase without a token.
    static func news(
        _ proven: ProvenPurchase, orElse account: String? = nil
    ) -> PurchaseClaim {
        PurchaseClaim(account: proven.account ?? account, claimant: nil, contradicts: false)
    }

    /// A restore to an account, before it is decided.
    static func restore(to account: String, _ proven: ProvenPurchase) -> PurchaseClaim {
        PurchaseClaim(
            account: nil, claimant: nil, contradicts: proven.isOfAnother(than: account))
    }

    /// Refusal: `accountContradicts`, if the purchase belongs to nobody, and the call and
    /// the token name two accounts.
    func check(owner: String?) throws(LedgerRefusal) {
        if owner == nil, contradicts { throw Self.accountContradicts }
    }

    /// Whether the claimant is neither the owner nor became part of it.
    func isRefused(by owner: String?, _ reading: any Reading) throws -> Bool {
        guard let owner, let claimant else { return false }
        let heir = try Merges.heir(of: claimant, unless: owner, reading)
        return !heir.isSame(as: owner)
    }

    /// Why a claimant does not get a purchase of another account.
    var refusal: LedgerRefusal {
        contradicts
            ? Self.accountContradicts
            : .purchaseClaimed("Another account has claimed this purchase.")
    }

    static var accountContradicts: LedgerRefusal {
        LedgerRefusal(
            .conflict, code: "accountContradicts",
            "The transaction was signed for another account.", field: "account",
            rule: "the transaction's app account token, where it has one",
            remedy: "leave the account out")
    }
}

extension ProvenPurchase {
    /// Whether its app account token names another account.
    func isOfAnother(than named: String?) -> Bool {
        guard let named, let account else { return false }
        return !named.isSame(as: account)
    }
}
