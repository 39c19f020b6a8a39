// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Ledger

/// App receipts as proofs, beside signed transactions of the same purchases.
@Suite(.timeLimit(.minutes(5))) struct ReceiptTests {
    @Test func `a receipt books every purchase once, and a repeat changes nothing`() async throws {
        let book = try await Book.open()
        let purchases = [
            Book.record(1, quantity: 3), Book.record(2, type: .nonRenewing),
            Book.record(3, type: .nonConsumable), Book.record(4, type: .autoRenewable),
        ]

        let first = try await book.take(receipt: purchases)
        let again = try await book.take(receipt: purchases)

        #expect(first == again)
        #expect(first.environment == "Sandbox")
        #expect(first.refused == [])
        #expect(
            first.purchases.map(\.type) == [
                "Consumable", "Non-Renewing Subscription", "Non-Consumable",
                "Auto-Renewable Subscription",
            ])
        #expect(
            try await book.unspent() == ["2000000000000001": 3, "2000000000000002": 1])
    }

    @Test func `receipt and signed transaction come to one booking, whichever is first`()
        async throws
    {
        let one = try await Book.open()
        let other = try await Book.open()

        let early = try await one.take(receipt: [Book.record()]).purchases
        let refined = try await one.take()
        try await other.take()
        let late = try await other.take(receipt: [Book.record()]).purchases

        // Receipts have whole seconds.
        #expect(early.map(\.purchaseDate) == [Book.now])
        #expect(refined.purchaseDate == Book.now.adding(milliseconds: 1))
        #expect(late.map(\.purchaseDate) == [refined.purchaseDate])
        #expect(late.map(\.transactionId) == [refined.transactionId])
        #expect(try await one.unspent() == ["2000000000000001": 1])
        #expect(try await other.unspent() == ["2000000000000001": 1])
        var rows: [BookedFacts?] = []
        for book in [one, other] {
            rows.append(
                try await book.storage.read {
                    try Booking.find(
                        PurchaseKey(
                            root: refined.rootFingerprint, environment: .sandbox,
                            bundleID: Book.bundleID.value, transactionID: refined.transactionId),
                        $0, at: Book.now)?.facts
                })
        }
        #expect(rows[0] == rows[1])
        #expect(rows[0]?.price == 990)
        #expect(rows[0]?.isFromReceipt == false)
    }

    @Test func `a unit that a receipt brought is not spent again by the transaction`()
        async throws
    {
        let book = try await Book.open()
        try await book.take(receipt: [Book.record()])
        try await book.redeem("a")

        try await book.take()

        #expect(try await refusal { try await book.redeem("b") }?.first == "purchaseSpent")
    }

    /// Apple's receipts end at another root than its signed transactions.
    @Test func `a receipt by the store's other root is the same store's`() async throws {
        let (sandbox, other) = (try Book.addressed(), try Book.foreign())
        let book = try await Book.open(
            moreRoots: [
                TrustedRoot(
                    certificate: sandbox.root, environments: [.sandbox],
                    receiptRoots: [other.root])
            ])

        let booked = try await book.take(receipt: [Book.record()], by: other).purchases
        let signed = try await book.take(by: sandbox)

        #expect(booked.map(\.rootFingerprint) == [signed.rootFingerprint])
        #expect(try await book.unspent() == ["2000000000000001": 1])
        let foreign = try await refusal { try await book.take(2, by: other) }
        #expect(foreign?.first == "rootUntrusted")
    }

    @Test func `a cancellation in a receipt revokes, and one without revives nothing`()
        async throws
    {
        let book = try await Book.open()
        let later = Book.now.adding(seconds: 10)

        try await book.take(receipt: [Book.record()])
        let cancelled = try await book.take(
            receipt: [
                Book.record {
                    $0.cancellationDate = Book.now.adding(seconds: 5)
                    $0.cancellationReason = 1
                }
            ], madeAt: later)
        let stale = try await book.take(
            receipt: [Book.record()], madeAt: later.adding(seconds: 10))
        let reversed = try await book.take { $0.signedDate = later.adding(seconds: 1) }

        #expect(cancelled.purchases.map(\.revocationDate) == [Book.now.adding(seconds: 5)])
        #expect(cancelled.purchases.map(\.revocationReason) == [1])
        #expect(stale.purchases == cancelled.purchases)
        #expect(reversed.revocationDate == nil)
        #expect(try await book.unspent() == ["2000000000000001": 1])
    }

    @Test func `a purchase that cannot be booked does not keep the others out`() async throws {
        let book = try await Book.open()
        try await book.take(1, account: "glob")
        try await book.take(2, account: "blob")

        let taken = try await book.take(
            receipt: [
                Book.record(1), Book.record(2, quantity: 7), Book.record(3, type: nil),
                Book.record(4, quantity: 0), Book.record(5),
            ])

        #expect(taken.purchases.map(\.transactionId) == ["2000000000000005"])
        #expect(
            taken.refused.map { [$0.error.code, $0.error.field] } == [
                ["purchaseClaimed", "account"], ["purchaseContradicts", "quantity"],
                ["transactionIncomplete", "type"], ["transactionIncomplete", "quantity"],
            ])
        #expect(try await book.unspent("glob") == ["2000000000000001": 1])
    }

    @Test func `a receipt of another app, root or environment is refused`() async throws {
        let book = try await Book.open()
        let purchases = [Book.record()]
        let production = try Book.production()
        let texts = [
            try Book.receipt(purchases, by: Book.foreign()),
            try Book.receipt(purchases, bundleID: "com.example.other"),
            try Book.receipt(purchases, environment: "Production"),
            try Book.receipt(purchases, by: production, environment: "Production"),
            try Book.receipt(purchases, environment: "Moon"), "", "?", "AAAA",
            try Book.signed(),
        ]

        var told: [String??] = []
        for text in texts {
            told.append(
                try await refusal {
                    try await book.ledger.take(TakeReceiptRequest(receipt: text, account: "blob"))
                }?.first)
        }

        #expect(
            told == [
                "rootUntrusted", "bundleIdRefused", "environmentRefused", "environmentRefused",
                "environmentRefused", "receiptInvalid", "receiptInvalid", "proofInvalid",
                "receiptInvalid",
            ])
        #expect(try await book.unspent().isEmpty)
    }

    @Test func `a spoilt receipt proves nothing, and broken lines are ignored`() async throws {
        let book = try await Book.open()
        let text = try Book.receipt([Book.record()])
        var bytes = try #require(Base64.decode(text.utf8))
        bytes[bytes.count - 1] ^= 1
        let spoilt = Base64.encode(bytes)
        let lines = stride(from: 0, to: text.count, by: 64).map {
            String(text.dropFirst($0).prefix(64))
        }.joined(separator: "\r\n")

        let told = try await refusal {
            try await book.ledger.take(TakeReceiptRequest(receipt: spoilt, account: "blob"))
        }
        let taken = try await book.ledger.take(
            TakeReceiptRequest(receipt: lines, account: "blob"))

        #expect(told == ["proofInvalid", "receipt"])
        #expect(taken.purchases.count == 1)
    }

    @Test func `production's receipt has the app's number, and is not from the future`()
        async throws
    {
        let book = try await Book.open(environments: [.production], appID: 77)
        func take(_ number: Int64, _ madeAt: Timestamp) async throws -> [String?]? {
            try await refusal {
                try await book.ledger.take(
                    TakeReceiptRequest(
                        receipt: try Book.receipt(
                            [Book.record()], by: Book.production(), environment: "Production",
                            madeAt: madeAt, appItemID: number)))
            }
        }

        #expect(try await take(78, Book.now) == ["appIdRefused", "appAppleId"])
        #expect(
            try await take(77, Book.now.adding(seconds: 3600)) == ["proofInvalid", "receipt"])
        #expect(try await take(77, Book.now) == nil)
    }
}
