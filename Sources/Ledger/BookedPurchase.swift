// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// A purchase as a row of the ledger's books.
struct BookedPurchase: Hashable, Sendable {
    let key: PurchaseKey
    let facts: BookedFacts
    let fate: PurchaseFate
    let account: String?
    let spent: Int
    /// The number of units that are reserved at present.
    let held: Int
    /// Whether it has granted something by the rules of its product.
    private(set) var isGranted: Bool
    let revision: Int64

    init(
        _ proven: ProvenPurchase, account: String?, facts: BookedFacts? = nil,
        fate: PurchaseFate? = nil, spent: Int = 0, held: Int = 0, isGranted: Bool = false,
        revision: Int64
    ) {
        key = proven.key
        self.facts = facts ?? proven.facts
        self.fate = fate ?? proven.fate
        self.account = account
        self.spent = spent
        self.held = held
        self.isGranted = isGranted
        self.revision = revision
    }

    init(_ row: Row) throws {
        key = try PurchaseKey(row)
        facts = BookedFacts(
            productID: try row.text("product_id"), type: try row.text("product_type"),
            quantity: Int(try row.integer("quantity")),
            purchasedAt: Timestamp(milliseconds: try row.integer("purchased_at")),
            originalTransactionID: try row.text("original_transaction_id"),
            price: try row.optionalInteger("price"), currency: try row.optionalText("currency"),
            isFromReceipt: try row.boolean("from_receipt"))
        fate = PurchaseFate(
            signedAt: Timestamp(milliseconds: try row.integer("signed_at")),
            revokedAt: try row.optionalInteger("revoked_at").map(Timestamp.init(milliseconds:)),
            revocationReason: try row.optionalInteger("revocation_reason").map { Int($0) },
            expiresAt: try row.optionalInteger("expires_at").map(Timestamp.init(milliseconds:)),
            isUpgraded: try row.value("is_upgraded") == .null
                ? false : row.boolean("is_upgraded"),
            takesRefundBack: try row.optionalInteger("reversed_at") == row.integer("signed_at"))
        account = try row.optionalText("account")
        spent = Int(try row.integer("spent"))
        held = Int(try row.integer("held"))
        isGranted = try row.boolean("granted")
        revision = try row.integer("revision")
    }

    /// The purchase after it was granted `count` things, which may be none.
    func granted(_ count: Int) -> BookedPurchase {
        var purchase = self
        purchase.isGranted = isGranted || count > 0
        return purchase
    }

    /// Why none of its units can be spent. Nil if one can.
    var unspendable: Unspendable? {
        if !facts.isRedeemable { return .notRedeemable }
        if fate.revokedAt != nil { return .revoked }
        if isGranted { return .granted }
        if spent >= facts.quantity { return .spent }
        return spent + held < facts.quantity ? nil : .reserved
    }

    var wire: LedgerPurchase {
        LedgerPurchase(
            rootFingerprint: key.root, environment: key.environment.rawValue,
            bundleId: key.bundleID, transactionId: key.transactionID,
            originalTransactionId: facts.originalTransactionID, productId: facts.productID,
            type: facts.type, purchaseDate: facts.purchasedAt, quantity: facts.quantity,
            unspent: unspendable == nil ? facts.quantity - spent - held : 0, account: account,
            revocationDate: fate.revokedAt, revocationReason: fate.revocationReason,
            revision: revision)
    }

    /// Why a purchase cannot be spent. The cases are in order of precedence.
    enum Unspendable: Hashable, Sendable, CaseIterable {
        case notRedeemable, revoked, granted, spent, reserved
    }
}

/// The change that a proof requires in the books. Decided from values alone.
enum Taking: Hashable, Sendable {
    /// The proof contains nothing new.
    case nothing
    /// Insert the purchase, assign it to `account`, write finer facts, or write
    /// its fate, as far as these are given.
    case change(account: String?, facts: BookedFacts?, fate: PurchaseFate?)

    /// `account` gets a purchase that belongs to nobody; one that has an account keeps it.
    /// Rejects a proof that contradicts the books: `purchaseContradicts` with the field.
    static func decide(
        _ booked: BookedPurchase, _ proven: ProvenPurchase, account: String?
    ) throws(LedgerRefusal) -> Taking {
        if let field = booked.facts.difference(from: proven.facts) {
            throw LedgerRefusal(
                .conflict, code: "purchaseContradicts",
                "The ledger has another \(field) for this transaction.", field: field,
                rule: "the facts of a transaction never change",
                remedy: "a store that was recreated needs a ledger of its own, or a root of "
                    + "its own")
        }
        let fate = booked.fate.merged(with: proven.fate)
        let claim = booked.account == nil ? account : nil
        let news = fate == booked.fate ? nil : fate
        let facts = booked.facts.refined(by: proven.facts)
        return claim == nil && news == nil && facts == nil
            ? .nothing : .change(account: claim, facts: facts, fate: news)
    }
}

extension LedgerRefusal {
    static func purchaseClaimed(_ message: String) -> LedgerRefusal {
        LedgerRefusal(
            .conflict, code: "purchaseClaimed", message, field: "account",
            rule: "a purchase belongs to the account that claimed it first, and a renewal "
                + "to the account of its subscription",
            remedy: "submit it for the account that it belongs to, or restore it")
    }
}
