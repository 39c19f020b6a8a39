// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
public import StoreWire

extension Ledger {
    /// Books every purchase in an app receipt once. The receipt is verified here,
    /// without asking a store. A purchase that a signed transaction has booked, or
    /// will book, is the same purchase.
    ///
    /// Each purchase is booked in a commit of its own. One that cannot be booked is
    /// returned with the reason, and does not keep the others from being booked.
    /// Refusals of the whole receipt, in order: `textInvalid`, `receiptInvalid`,
    /// `rootUntrusted`, `proofInvalid`, `bundleIdRefused`, `environmentRefused`,
    /// `appIdRefused`, `certificateRevoked`, `statusUnknown`. Of a purchase:
    /// `transactionIncomplete`, `purchaseContradicts`, `purchaseClaimed`.
    public func take(
        _ request: TakeReceiptRequest, requestID: String = ""
    ) async throws -> ReceiptTaken {
        let account = try request.account.map { try Edge.account($0) }
        let bytes = try Edge.receipt(request.receipt)
        let proven = try prover.receipt(bytes, wall: ports.wall.now)
        try await ports.status?.admit(receipt: bytes, "receipt")
        var taken: [LedgerPurchase] = []
        var refused: [RefusedPurchase] = []
        for purchase in proven.receipt.purchases {
            do {
                let booked = try await book(try proven.purchase(purchase), account: account)
                taken.append(booked.wire)
            } catch let refusal as LedgerRefusal {
                refused.append(
                    RefusedPurchase(
                        transactionId: purchase.transactionID, error: refusal.error))
            }
        }
        ports.log(
            "took a receipt",
            [
                "requestId": requestID, "bundleId": proven.bundleID,
                "environment": proven.environment.rawValue, "purchases": "\(taken.count)",
                "refused": "\(refused.count)",
            ])
        return ReceiptTaken(
            bundleId: proven.bundleID, environment: proven.environment.rawValue,
            purchases: taken, refused: refused)
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
