// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// A purchase's key: whose, in which app, under which id of the device.
struct PurchaseKey: Hashable, Sendable {
    let customer: CustomerID
    let bundleID: BundleID
    let purchaseID: PurchaseID

    var values: [SQLValue] {
        [.integer(customer.value), .text(bundleID.value), .text(purchaseID.value)]
    }

    /// What a processor knows the purchase by. The purchase id alone would
    /// let one customer claim what another has paid under the same id.
    func charge(in realm: String) -> String {
        "\(realm)/\(customer)/\(bundleID)/\(purchaseID)"
    }
}

/// A purchase as its row holds it.
struct PurchaseRow: Sendable {
    let key: PurchaseKey
    let payment: Payment
    let state: PurchaseState
    /// What the processor was asked for.
    let total: Amount?
    /// The sum is still to be given back.
    let isVoidOwed: Bool
    let revision: Int64

    /// Nil when the row holds no purchase.
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
            replaces: try row.optionalText("replaces").map { PurchaseID($0) })
        state = try Self.state(row)
        total = try row.optionalInteger("total_price").map(Amount.init(milliunits:))
        isVoidOwed = try row.optionalInteger("void_owed_at") != nil
        revision = try row.integer("revision")
    }

    private static func state(_ row: Row) throws -> PurchaseState {
        switch try row.text("state") {
        case "asked": return .asked
        case "authorising": return .authorising
        case "sold": return .sold(TransactionID(try row.integer("transaction_id")))
        case "refused":
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
    /// The word in rows and on the wire.
    var word: String {
        switch self {
        case .asked: "asked"
        case .authorising: "authorising"
        case .sold: "sold"
        case .refused: "refused"
        case .waiting: "waiting"
        }
    }
}

/// What a purchase looks like after a commit, or as an earlier one left it.
struct PurchaseOutcome: Sendable {
    let state: PurchaseState
    /// With `sold`.
    let transaction: TransactionFacts?
    /// What a processor is to be asked for, with `authorising`.
    let charge: Charge?
    let isVoidOwed: Bool
    let revision: Int64
    /// Commercial time of the answer.
    let now: Timestamp
    /// Whether this call is the one that wrote it.
    var isNew = false
    /// Whether the commit left work to do.
    var owesWork = false
}

/// Thrown to leave a write without committing: the purchase was asked for
/// before, and asking again changes nothing.
struct AskedBefore: Error {
    let outcome: PurchaseOutcome
}
