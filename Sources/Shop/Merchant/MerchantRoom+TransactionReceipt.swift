// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire

extension MerchantRoom {
    /// Answers about a single transaction, as Apple does about receipts of before iOS 7.
    /// Throws a ``BrokenReceipt`` for what is wrong first: the shared secret (21004), what
    /// a sandbox simulates, and a transaction that is gone (21010). A subscription that
    /// has ended is 21006, with the transaction beside it.
    func answer(
        _ request: VerifyReceiptRequest, about payload: JWSTransactionDecodedPayload,
        _ bundleID: BundleID
    ) async throws -> VerifyReceiptResponse {
        let isSubscription = payload.type == ProductType.autoRenewable.name
        try await checkSecret(request.password, of: bundleID, isNeeded: isSubscription)
        try await simulate()
        guard let facts = try await facts(of: payload, bundleID) else {
            throw BrokenReceipt(.accountNotFound)
        }
        var receipt = TransactionReceipt(ReceiptTransaction(facts), bundleID: bundleID.value)
        receipt.appVersion = try await lastDevice(of: facts.customer, bundleID)?
            .optionalText("app_version")
        guard isSubscription else { return Self.response(.valid, receipt) }
        let now = try await now(for: facts.customer)
        let holdings = try await holdings(of: facts.customer, bundleID, at: now)
        let latest = holdings.latest(of: facts.originalID, at: now) ?? facts
        receipt.latest = ReceiptTransaction(latest)
        receipt.latestReceipt = Base64.encode(Array(try realm.sign(latest, at: now).utf8))
        receipt.renewal = holdings.pending(
            environment: realm.description.environment, at: now
        ).first { $0.originalTransactionID == facts.originalID.description }
        let status = holdings.status(of: facts.originalID, at: now)
        receipt.hasExpired = ![.active, .grace].contains(status)
        return Self.response(receipt.hasExpired ? .expired : .valid, receipt)
    }

    private static func response(
        _ status: ReceiptStatus, _ receipt: TransactionReceipt
    ) -> VerifyReceiptResponse {
        var answer = VerifyReceiptResponse(status)
        answer.transaction = receipt
        return answer
    }

    /// The transaction as it is now.
    private func facts(
        of payload: JWSTransactionDecodedPayload, _ bundleID: BundleID
    ) async throws -> TransactionFacts? {
        guard let number = payload.transactionId.flatMap(Edge.number) else { return nil }
        let row = try await realm.read(ofNumber: number) {
            try $0.first(Statement.Transactions.byID, [.integer(number)])
        }
        guard let row, try row.text("bundle_id") == bundleID.value else { return nil }
        return try TransactionFacts(row: row)
    }
}
