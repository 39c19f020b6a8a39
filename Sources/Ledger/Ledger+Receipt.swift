// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
public import StoreWire

extension Ledger {
    /// Books every purchase in an app receipt once. The receipt is verified here,
    /// without asking a store, or by the store's verifyReceipt if the request says so.
    /// A purchase that a signed transaction has booked, or will book, is the same
    /// purchase.
    ///
    /// Each purchase is booked in a commit of its own. One that cannot be booked is
    /// returned with the reason, and does not keep the others from being booked.
    /// Refusals of the whole receipt, in order: `textInvalid`, `modeInvalid`,
    /// `receiptInvalid`, `rootUntrusted`, `proofInvalid`, `bundleIdRefused`,
    /// `environmentRefused`, `appIdRefused`, `certificateRevoked`, `statusUnknown`; by
    /// verifyReceipt also `storeUnconfigured`, `storeContradicts`, `proofsTooMany`. Of
    /// a purchase: `transactionIncomplete`, `purchaseContradicts`, `accountContradicts`,
    /// `purchaseClaimed`.
    public func present(
        _ request: TakeReceiptRequest, requestID: String = ""
    ) async throws -> ProofOutcome<ReceiptTaken> {
        let account = try request.account.map { try Edge.account($0) }
        let outcome: ProofOutcome<ReceiptTaken>
        switch request.mode {
        case nil, "local":
            outcome = .taken(try await take(local: request.receipt, account: account))
        case "verifyReceipt":
            outcome = try await take(verifyReceipt: request.receipt, account: account)
        default:
            throw LedgerRefusal(
                .badRequest, code: "modeInvalid", "There is no such way to verify a receipt.",
                field: "mode", rule: "local or verifyReceipt", remedy: "leave it out for local")
        }
        if case .taken(let taken) = outcome { tell(taken, requestID) }
        return outcome
    }

    /// Books every purchase in an app receipt once, verified here. See ``present(_:requestID:)``.
    public func take(
        _ request: TakeReceiptRequest, requestID: String = ""
    ) async throws -> ReceiptTaken {
        let account = try request.account.map { try Edge.account($0) }
        let taken = try await take(local: request.receipt, account: account)
        tell(taken, requestID)
        return taken
    }

    private func take(local receipt: String, account: String?) async throws -> ReceiptTaken {
        try await book(try await prove(local: receipt), account: account)
    }

    /// Verifies a receipt without asking a store.
    func prove(local receipt: String) async throws -> ProvenReceipt {
        let bytes = try Edge.receipt(receipt)
        let proven = try prover.receipt(bytes, wall: ports.wall.now)
        try await ports.status?.admit(receipt: bytes, "receipt")
        return proven
    }

    func book(_ proven: ProvenReceipt, account: String?) async throws -> ReceiptTaken {
        let purchases = proven.receipt.purchases.map { purchase in
            VouchedPurchase(
                transactionID: purchase.transactionID,
                proof: Result { () throws(LedgerRefusal) in try proven.purchase(purchase) })
        }
        return try await book(
            purchases, bundleID: proven.bundleID, environment: proven.environment
        ) { .call(for: account, $0) }
    }

    /// Books what a receipt proves, purchase by purchase. `waiting`: the key of the kept
    /// proof. `claim`: for whom each is booked.
    func book(
        _ purchases: [VouchedPurchase], bundleID: String, environment: Environment,
        of waiting: [SQLValue]? = nil, by claim: (ProvenPurchase) -> PurchaseClaim
    ) async throws -> ReceiptTaken {
        var taken: [LedgerPurchase] = []
        var refused: [RefusedPurchase] = []
        for purchase in purchases {
            do {
                let proven = try purchase.proof.get()
                taken.append(try await book(proven, by: claim(proven), of: waiting).wire)
            } catch let refusal as LedgerRefusal {
                refused.append(
                    RefusedPurchase(
                        transactionId: purchase.transactionID, error: refusal.error))
            }
        }
        return ReceiptTaken(
            bundleId: bundleID, environment: environment.rawValue, purchases: taken,
            refused: refused)
    }

    private func tell(_ taken: ReceiptTaken, _ requestID: String) {
        ports.log(
            "took a receipt",
            [
                "requestId": requestID, "bundleId": taken.bundleId,
                "environment": taken.environment, "purchases": "\(taken.purchases.count)",
                "refused": "\(taken.refused.count)",
            ])
    }
}

extension Edge {
    /// Decodes a receipt in Base64. White space is ignored, because encoders break
    /// lines.
    static func receipt(_ text: String) throws(LedgerRefusal) -> [UInt8] {
        // Four characters are three bytes.
        let digits = text.utf8.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard !digits.isEmpty, digits.count / 4 * 3 <= SignedDataLimits.receiptBytesMax,
            let bytes = Base64.decode(digits[...])
        else {
            throw LedgerRefusal(
                .badRequest, code: "receiptInvalid", "This is no app receipt in Base64.",
                field: "receipt", rule: "standard Base64 with padding",
                remedy: "send the bytes of the receipt's file in Base64")
        }
        return bytes
    }
}
