// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire
import TestSupport
import Testing

@testable import Ledger

/// App receipts that the store verifies (verifyReceipt).
@Suite(.engineFree, .timeLimit(.minutes(5))) struct VouchedTests {
    private let store = FakeStore()

    private struct Reply: Encodable {
        struct Receipt: Encodable {
            var bundle_id = Book.bundleID.value
            var in_app: [[String: String]] = []
        }

        var status: Int
        var environment = "Sandbox"
        var receipt = Receipt()
        var latest_receipt_info: [[String: String]] = []
    }

    private func present(
        _ book: Book, _ records: [ReceiptPurchase], account: String? = "blob"
    ) async throws -> ProofOutcome<ReceiptTaken> {
        // No root that the ledger trusts has signed it: the store vouches for it.
        let receipt = try Book.receipt(records, by: try Book.foreign())
        return try await book.ledger.present(
            TakeReceiptRequest(receipt: receipt, account: account, mode: "verifyReceipt"))
    }

    private func answers(_ sandbox: Reply) {
        store.answers { call in
            try FakeStore.json(
                call.url.hasPrefix(FakeStore.production) ? Reply(status: 21_007) : sandbox)
        }
    }

    @Test func `production is asked first, and the sandbox on 21007`() async throws {
        let book = try await Book.open(asking: store)
        answers(Reply(status: 0))

        let outcome = try await present(book, [Book.record()])

        #expect(store.heard() == ["production/verifyReceipt", "sandbox/verifyReceipt"])
        guard case .taken(let taken) = outcome else { return #expect(Bool(false)) }
        #expect(taken.environment == "Sandbox")
        // A signed transaction is the same purchase.
        #expect(try await book.take().transactionId == taken.purchases.first?.transactionId)
        #expect(try await book.unspent(environment: "Sandbox") == [Book.id(1): 1])
    }

    @Test func `what the answer says was cancelled is revoked`() async throws {
        let book = try await Book.open(asking: store)
        let entry = [
            "transaction_id": Book.id(1),
            "cancellation_date_ms": "\(Book.now.adding(seconds: 60).milliseconds)",
            "cancellation_reason": "1",
        ]
        answers(Reply(status: 0, receipt: Reply.Receipt(in_app: [entry])))

        _ = try await present(book, [Book.record(1), Book.record(2)])

        #expect(try await book.unspent(environment: "Sandbox") == [Book.id(2): 1])
    }

    @Test func `the answer's account is the purchase's, whoever sends the receipt`() async throws {
        let book = try await Book.open(asking: store)
        let entry = ["transaction_id": Book.id(1), "app_account_token": Book.blob.uppercased()]
        answers(Reply(status: 0, latest_receipt_info: [entry]))

        let outcome = try await present(book, [Book.record()])
        guard case .taken(let taken) = outcome else { return #expect(Bool(false)) }
        #expect(taken.refused.map(\.error.code) == ["accountContradicts"])

        _ = try await present(book, [Book.record()], account: nil)
        #expect(try await book.unspent(Book.blob, environment: "Sandbox").count == 1)
    }

    @Test(arguments: [21_003, 21_010])
    func `a receipt that the store refuses books nothing`(status: Int) async throws {
        let book = try await Book.open(asking: store)
        answers(Reply(status: status))

        let told = try await refusal { try await present(book, [Book.record()]) }

        #expect(told == ["proofInvalid", "receipt"])
    }

    @Test(arguments: [21_002, 21_004, 21_005, 21_009, 21_100, 21_199])
    func `trouble at the store keeps the receipt, and it is settled later`(status: Int)
        async throws
    {
        let clock = MovedClock()
        let book = try await Book.open(asking: store, wall: clock.wall)
        answers(Reply(status: status))

        guard case .kept = try await present(book, [Book.record()]) else {
            return #expect(Bool(false))
        }
        answers(Reply(status: 0))
        clock.move(seconds: 60)
        #expect(try await book.ledger.settleProofs() == 1)
        #expect(try await book.unspent(environment: "Sandbox") == [Book.id(1): 1])
    }

    /// Apple's page on the statuses: the data is malformed, or there is a temporary issue.
    @Test func `a receipt that the store cannot read is refused when it has said so six times`()
        async throws
    {
        let clock = MovedClock()
        let book = try await Book.open(asking: store, wall: clock.wall)
        answers(Reply(status: 21_002))
        guard case .kept = try await present(book, [Book.record()]) else {
            return #expect(Bool(false))
        }
        var settled: [Int] = []
        for _ in 1...6 {
            clock.move(seconds: 3600)
            settled.append(try await book.ledger.settleProofs())
        }

        #expect(settled == [0, 0, 0, 0, 0, 1])
        let proofs = try await book.ledger.waitingProofs(account: "blob").proofs
        #expect(proofs.map(\.refusal) == ["proofInvalid"])
    }

    @Test func `an answer about another app, a mode or an environment that is not, is refused`()
        async throws
    {
        let book = try await Book.open(asking: store)
        answers(Reply(status: 0, receipt: Reply.Receipt(bundle_id: "com.example.other")))
        #expect(
            try await refusal { try await present(book, [Book.record()]) }?.first
                == "storeContradicts")
        answers(Reply(status: 21_008))
        #expect(
            try await refusal { try await present(book, [Book.record()]) }?.first
                == "environmentRefused")
        let told = try await refusal {
            try await book.ledger.present(
                TakeReceiptRequest(receipt: try Book.receipt([Book.record()]), mode: "trust"))
        }
        #expect(told == ["modeInvalid", "mode"])
        #expect(try await book.unspent(environment: "Sandbox").isEmpty)
    }
}
