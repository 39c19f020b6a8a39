// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Work

/// A purchase's key: customer, app, and the device's id.
struct PurchaseKey: Hashable, Sendable {
    let customer: CustomerID
    let bundleID: BundleID
    let purchaseID: PurchaseID

    var values: [SQLValue] {
        [.integer(customer.value), .text(bundleID.value), .text(purchaseID.value)]
    }

    /// Identifies the purchase in due work and errands, together with its
    /// customer.
    var subject: String { "\(bundleID)/\(purchaseID)" }

    init(customer: CustomerID, bundleID: BundleID, purchaseID: PurchaseID) {
        self.customer = customer
        self.bundleID = bundleID
        self.purchaseID = purchaseID
    }

    /// Parses a ``subject``. Nil if the text is not one.
    init?(customer: CustomerID, subject: String) {
        guard let slash = subject.lastIndex(of: "/") else { return nil }
        self.customer = customer
        bundleID = BundleID(String(subject[..<slash]))
        purchaseID = PurchaseID(String(subject[subject.index(after: slash)...]))
    }

    /// Reads the key in a row.
    init(_ row: Row) throws {
        customer = CustomerID(try row.integer("customer_id"))
        bundleID = BundleID(try row.text("bundle_id"))
        purchaseID = PurchaseID(try row.text("purchase_id"))
    }

    /// Returns the processor's key of the purchase. The purchase id alone would
    /// let one customer claim a charge that another has paid under the same id.
    ///
    /// `history` is the revision at which the customer's purchases were last
    /// deleted before this one was requested. It distinguishes the purchase
    /// from a deleted one with the same id. It is not the revision of the
    /// request, because a purchase that a restored store has lost must get the
    /// same key when its device sends it again.
    func charge(in realm: String, since history: Int64?) -> String {
        ChargeKey.ofPurchase(purchaseID, of: customer, bundleID, in: realm, since: history)
    }
}

/// A purchase as its row contains it.
struct PurchaseRow: Sendable {
    let key: PurchaseKey
    let payment: Payment
    let state: PurchaseState
    /// The sum that the processor was asked for.
    let total: Amount?
    /// What it waits or waited for.
    let waitingFor: WaitingReason?
    /// The answer that it waited for, if there is one.
    let approval: ApprovalAnswer?
    let askedAt: Timestamp
    let revision: Int64
    /// The revision at which the customer's purchases were last deleted before
    /// this one was requested.
    let historyRevision: Int64?
    /// What is owed to the processor, or was captured. Nil once it is given back.
    let debt: PurchaseEvent.Debt?

    /// Nil if the row contains no purchase.
    init?(_ row: Row, key: PurchaseKey) throws {
        guard let product = try row.optionalText("product_id") else { return nil }
        guard let currency = Currency(code: try row.text("currency")) else {
            throw StorageFault(.malformedRow, "a purchase in no known currency")
        }
        self.key = key
        payment = Payment(
            productID: ProductID(product), quantity: Int(try row.integer("quantity")),
            shownUnitPrice: Money(
                Amount(milliunits: try row.integer("unit_price")), currency),
            applicationUsername: try row.optionalText("application_username"),
            replaces: try row.optionalText("replaces").map { PurchaseID($0) },
            simulatesAskToBuy: try row.boolean("simulates_ask_to_buy"),
            offer: try row.optionalText("offer").map {
                try StoredJSON.value($0, "a requested offer that cannot be read")
            }, isCommitted: try row.boolean("is_committed"))
        state = try Self.state(row)
        total = try row.optionalInteger("total_price").map(Amount.init(milliunits:))
        waitingFor = try row.optionalText("waiting_for").flatMap(WaitingReason.init)
        approval = try row.optionalText("approval").flatMap(ApprovalAnswer.init)
        askedAt = Timestamp(milliseconds: try row.integer("asked_at"))
        revision = try row.integer("revision")
        historyRevision = try row.optionalInteger("history_revision")
        debt = try Self.debt(row, state)
    }

    /// The processor's key of the purchase, the same for ever.
    func charge(in realm: String) -> String { key.charge(in: realm, since: historyRevision) }

    private static func debt(
        _ row: Row, _ state: PurchaseState
    ) throws -> PurchaseEvent.Debt? {
        if try row.optionalInteger("void_owed_at") != nil { return .void }
        // A product that was owned already is sold, and its sum is given back.
        guard case .sold = state, try row.optionalInteger("voided_at") == nil,
            try row.optionalText("processor_reference") != nil
        else { return nil }
        return .capture
    }

    private static func state(_ row: Row) throws -> PurchaseState {
        switch try row.text("state") {
        case "asked": return .asked
        case "authorising": return .authorising
        case "joined":
            if let first = try row.optionalText("joins") { return .joined(PurchaseID(first)) }
        case "sold": return .sold(TransactionID(try row.integer("transaction_id")))
        case PurchaseState.refusedWord:
            if let refusal = PurchaseRefusal(rawValue: try row.text("refusal")) {
                return .refused(refusal)
            }
        case "waiting":
            if let reason = WaitingReason(rawValue: try row.text("waiting_for")) {
                return .waiting(reason)
            }
        default: break
        }
        throw StorageFault(.malformedRow, "a purchase in no known state")
    }
}

extension PurchaseState {
    static let refusedWord = "refused"

    /// The name in rows and on the wire.
    var word: String {
        switch self {
        case .asked: "asked"
        case .authorising: "authorising"
        case .sold: "sold"
        case .refused: Self.refusedWord
        case .waiting: "waiting"
        case .joined: "joined"
        }
    }

    var refusal: PurchaseRefusal? {
        if case .refused(let refusal) = self { return refusal }
        return nil
    }

    var waitingFor: String? {
        if case .waiting(let reason) = self { return reason.rawValue }
        return nil
    }

    /// The purchase that decides this one too.
    var joins: PurchaseID? {
        if case .joined(let first) = self { return first }
        return nil
    }

    /// Whether the state is final.
    var isDecided: Bool {
        switch self {
        case .sold, .refused: true
        case .asked, .authorising, .waiting, .joined: false
        }
    }
}

/// The state of a purchase after a commit, or as an earlier one left it.
struct PurchaseOutcome: Sendable {
    let state: PurchaseState
    /// Present with `sold`.
    let transaction: TransactionFacts?
    /// What a processor is to be asked for. Present with `authorising`.
    var charge: Charge?
    let revision: Int64
    /// The commercial time of the answer.
    let now: Timestamp
    /// The leased errand for calling the processor. Present with `authorising`,
    /// if this call wrote it.
    var errand: Errand?
    /// Why the commit changed the purchase. Nil if an earlier one left it.
    var cause: PurchaseCause?
    /// Whether the commit left work to do.
    var owesWork = false
}
