// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire
import TestSupport
import Testing

@testable import Ledger

@Suite(.engineFree, .timeLimit(.minutes(5))) struct NotificationTests {
    @Test func `a notification books the purchase in it, once`() async throws {
        let book = try await Book.open()
        let body = try Book.notification(try Book.signed { $0.appAccountToken = Book.blob })

        let first = try await book.ledger.take(body)
        let again = try await book.ledger.take(body)
        let direct = try await book.take(account: nil) { $0.appAccountToken = Book.blob }

        #expect(first == again)
        #expect(first.notificationType == "ONE_TIME_CHARGE")
        #expect(first.purchase == direct)
        #expect(try await book.unspent(Book.blob).count == 1)
    }

    @Test func `a notification before the device leaves the purchase to be claimed`() async throws {
        let book = try await Book.open()

        _ = try await book.ledger.take(try Book.notification(try Book.signed()))
        let claimed = try await book.take(account: "blob")
        let later = try await book.ledger.take(try Book.notification(try Book.signed()))

        #expect(claimed.account == "blob")
        #expect(later.purchase == claimed)
    }

    @Test func `a refund takes the purchase back`() async throws {
        let book = try await Book.open()
        try await book.take()
        let refund = try Book.notification(
            try Book.signed {
                $0.signedDate = Book.now.adding(seconds: 5)
                $0.revocationDate = Book.now.adding(seconds: 4)
                $0.revocationReason = 0
            }, type: "REFUND")

        let told = try await book.ledger.take(refund)
        // The first telling, once more and late.
        let late = try await book.take()

        #expect(told.purchase?.revocationDate == Book.now.adding(seconds: 4))
        #expect(told.purchase?.unspent == 0)
        #expect(told.purchase?.account == "blob")
        #expect(late == told.purchase)
        #expect(try await refusal { try await book.redeem() }?.first == "purchaseRevoked")
    }

    @Test func `a notification without a transaction is accepted`() async throws {
        let book = try await Book.open()

        let told = try await book.ledger.take(try Book.notification(nil, type: "TEST"))

        #expect(told.notificationType == "TEST")
        #expect(told.purchase == nil)
    }

    @Test func `a summary is kept if it is for this app, and refused for another`() async throws {
        let book = try await Book.open()
        func body(_ bundleID: String?) throws -> ResponseBodyV2 {
            var summary = NotificationSummary()
            summary.bundleId = bundleID
            var payload = ResponseBodyV2DecodedPayload()
            payload.notificationType = "RENEWAL_EXTENSION"
            payload.subtype = "SUMMARY"
            payload.signedDate = Book.now
            payload.summary = summary
            return ResponseBodyV2(
                signedPayload: try Book.sandbox().transactions.sign(payload))
        }

        #expect(try await book.ledger.take(try body(Book.bundleID.value)).purchase == nil)
        for other in ["com.example.other", nil] {
            let told = try await refusal { try await book.ledger.take(try body(other)) }
            #expect(told == ["bundleIdRefused", "bundleId"])
        }
    }

    @Test func `a transaction or renewal info posted as a notification is refused`() async throws {
        let book = try await Book.open()
        var untyped = ResponseBodyV2DecodedPayload()
        untyped.signedDate = Book.now
        untyped.data = NotificationData()
        untyped.data?.bundleId = Book.bundleID.value
        untyped.data?.environment = "Sandbox"
        let bodies = [
            try Book.signed(), try Book.sandbox().transactions.sign(["signedDate": Book.now]),
            try Book.sandbox().transactions.sign(untyped),
        ]

        for body in bodies {
            let told = try await refusal {
                try await book.ledger.take(ResponseBodyV2(signedPayload: body))
            }
            #expect(told == ["notificationInvalid", "signedPayload"])
        }
        #expect(try await book.unspent().isEmpty)
    }

    @Test func `a notification posted as a transaction is refused`() async throws {
        let book = try await Book.open()
        let body = try Book.notification(try Book.signed()).signedPayload

        let told = try await refusal {
            try await book.ledger.take(TakePurchaseRequest(signedTransaction: body))
        }

        #expect(told == ["bundleIdRefused", "bundleId"])
    }

    @Test func `a notification of another's, or that contradicts itself, is refused`() async throws
    {
        let book = try await Book.open(apps: [Book.bundleID, "com.example.other"])
        let transaction = try Book.signed()
        let bodies: [(ResponseBodyV2, [String?])] = [
            (
                try Book.notification(transaction, by: try Book.foreign()),
                ["rootUntrusted", "signedPayload"]
            ),
            (
                try Book.notification(transaction) { $0.bundleId = "com.example.none" },
                ["bundleIdRefused", "bundleId"]
            ),
            (
                try Book.notification(transaction) { $0.environment = "Production" },
                ["environmentRefused", "environment"]
            ),
            (
                try Book.notification(transaction) { $0.bundleId = "com.example.other" },
                ["notificationContradicts", "signedTransactionInfo"]
            ),
            (
                try Book.notification(try Book.signed(by: try Book.foreign())),
                ["rootUntrusted", "signedTransactionInfo"]
            ),
            (try Book.notification("a.b.c"), ["proofInvalid", "signedTransactionInfo"]),
            (ResponseBodyV2(signedPayload: "a.b.c"), ["proofInvalid", "signedPayload"]),
            (ResponseBodyV2(signedPayload: ""), ["proofInvalid", "signedPayload"]),
        ]
        for (body, wanted) in bodies {
            #expect(try await refusal { try await book.ledger.take(body) } == wanted)
        }
        #expect(try await book.unspent().isEmpty)
    }

    @Test func `production's notifications are dated by the wall, as the transactions in them are`()
        async throws
    {
        let book = try await Book.open(environments: [.production])
        let authority = try Book.production()
        func take(_ id: Int, notified: Int64, signed: Int64) async throws -> [String?]? {
            let transaction = try Book.signed(id, by: authority) {
                $0.environment = "Production"
                $0.signedDate = Book.now.adding(seconds: signed)
            }
            var data = NotificationData()
            data.bundleId = Book.bundleID.value
            data.environment = "Production"
            data.signedTransactionInfo = transaction
            var payload = ResponseBodyV2DecodedPayload()
            payload.notificationType = "ONE_TIME_CHARGE"
            payload.signedDate = Book.now.adding(seconds: notified)
            payload.data = data
            let body = ResponseBodyV2(signedPayload: try authority.transactions.sign(payload))
            return try await refusal { try await book.ledger.take(body) }
        }

        #expect(
            try await take(1, notified: 86_400, signed: 0) == ["proofInvalid", "signedPayload"])
        #expect(
            try await take(2, notified: 0, signed: 86_400)
                == ["proofInvalid", "signedTransactionInfo"])
        #expect(try await take(3, notified: 0, signed: 0) == nil)
    }

    @Test func `a notification and its transaction have one root, also where two are trusted`()
        async throws
    {
        let second = try Book.foreign()
        let book = try await Book.open(moreRoots: [
            TrustedRoot(certificate: second.root, environments: [.sandbox])
        ])
        let crossed = [
            try Book.notification(try Book.signed(by: second)),
            try Book.notification(try Book.signed(), by: second),
        ]

        for body in crossed {
            #expect(
                try await refusal { try await book.ledger.take(body) }
                    == ["notificationContradicts", "signedTransactionInfo"])
        }
        let whole = try Book.notification(try Book.signed(by: second), by: second)
        let told = try await book.ledger.take(whole).purchase
        #expect(told?.rootFingerprint == CertificateAuthority.fingerprint(of: second.root))
    }

    @Test func `production's notifications contain the app's number`() async throws {
        let book = try await Book.open(environments: [.production], appID: 1234)
        func body(_ number: Int64?) throws -> ResponseBodyV2 {
            let signed = try Book.signed(by: try Book.production()) {
                $0.environment = "Production"
            }
            return try Book.notification(signed, by: try Book.production()) {
                $0.environment = "Production"
                $0.appAppleId = number
            }
        }

        for wrong in [nil, 1235] as [Int64?] {
            let told = try await refusal { try await book.ledger.take(try body(wrong)) }
            #expect(told == ["appIdRefused", "appAppleId"])
        }
        #expect(try await book.ledger.take(try body(1234)).purchase?.environment == "Production")
    }
}
