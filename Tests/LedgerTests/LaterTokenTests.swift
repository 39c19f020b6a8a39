// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Testing

@testable import Ledger

/// A store's app account token that was set or changed after an account got the purchase.
@Suite(.timeLimit(.minutes(5))) struct LaterTokenTests {
    /// How the ledger hears of it.
    enum Road: String, CaseIterable, Sendable {
        case notification, history, reconciliation, number, ownNumber, vouched, own
        case token, other, otherNumber, restore

        /// The code of the refusal with which the call ends.
        var refusal: String? {
            switch self {
            case .notification, .history, .reconciliation, .number, .ownNumber, .vouched, .own:
                nil
            case .token: "purchaseClaimed"
            case .other, .otherNumber, .restore: "accountContradicts"
            }
        }
    }

    private static let token = "99999999-2222-4333-8444-555555555555"
    private let store = FakeStore()

    private func book() async throws -> Book {
        let book = try await Book.open(
            asking: store, environments: [.sandbox],
            grants: try GrantRules([
                "coins": [
                    Grant(name: "coins", kind: .credits(perUnit: 10)),
                    Grant(name: "pro", kind: .entitlement(.forever)),
                ]
            ]))
        try await book.take(1, Self.paid)
        #expect(try await book.active() == ["pro"])
        return book
    }

    private static func paid(_ payload: inout JWSTransactionDecodedPayload) {
        payload.productId = "coins"
        payload.signedDate = Book.now.adding(seconds: 1)
    }

    private static func named(_ payload: inout JWSTransactionDecodedPayload) {
        paid(&payload)
        payload.appAccountToken = token
        payload.signedDate = Book.now.adding(seconds: 5)
    }

    private static func refunded(_ payload: inout JWSTransactionDecodedPayload) {
        named(&payload)
        payload.signedDate = Book.now.adding(seconds: 9)
        payload.revocationDate = Book.now.adding(seconds: 8)
    }

    private struct Reply: Encodable {
        struct Entry: Encodable {
            let transaction_id = Book.id(1)
            let cancellation_date_ms = "\(Book.now.adding(seconds: 8).milliseconds)"
            let app_account_token = LaterTokenTests.token
        }
        let status = 0
        let environment = "Sandbox"
        let latest_receipt_info = [Entry()]
    }

    private func lists(_ signed: String) {
        store.answers { _ in
            try FakeStore.json(
                HistoryResponse(
                    revision: "1", hasMore: false, bundleId: Book.bundleID.value,
                    appAppleId: nil, environment: "Sandbox", signedTransactions: [signed]))
        }
    }

    private func send(_ road: Road, _ book: Book) async throws {
        let signed = try Book.signed(1, Self.refunded)
        store.has([Book.id(1): signed])
        switch road {
        case .notification:
            _ = try await book.ledger.take(try Book.notification(signed, type: "REFUND"))
        case .history: try await missed(signed, book)
        case .reconciliation:
            lists(signed)
            _ = try await book.ledger.reconcile(ReconcileRequest(account: "blob", fix: true))
        case .number: _ = try await book.present(account: nil)
        case .ownNumber: _ = try await book.present()
        case .otherNumber: _ = try await book.present(account: "ann")
        case .vouched: try await vouched(book)
        case .own: try await book.take(1, Self.refunded)
        case .token: try await book.take(1, account: nil, Self.refunded)
        case .other: try await book.take(1, account: "ann", Self.refunded)
        case .restore:
            _ = try await book.ledger.restore(
                RestoreRequest(signedTransaction: signed), account: "ann")
        }
    }

    /// The store has a notification that did not arrive.
    private func missed(_ signed: String, _ book: Book) async throws {
        let payload = try Book.notification(signed, type: "REFUND").signedPayload
        store.answers { _ in
            try FakeStore.json(
                NotificationHistoryResponse(
                    notificationHistory: [
                        NotificationHistoryResponseItem(signedPayload: payload, sendAttempts: [])
                    ], paginationToken: nil))
        }
        #expect(try await book.ledger.fillGaps(isStart: true).map(\.refused) == [0])
    }

    private func vouched(_ book: Book) async throws {
        store.answers { _ in try FakeStore.json(Reply()) }
        let receipt = try Book.receipt(
            [Book.record(product: "coins")], madeAt: Book.now.adding(seconds: 9))
        let outcome = try await book.ledger.present(
            TakeReceiptRequest(receipt: receipt, account: nil, mode: "verifyReceipt"))
        guard case .taken(let taken) = outcome else {
            Issue.record("the store has answered")
            return
        }
        #expect(taken.refused.map(\.error.code) == [])
        #expect(taken.purchases.map(\.account) == ["blob"])
    }

    @Test(arguments: Road.allCases)
    func `a refund is booked for the account that has the purchase, whatever its token is`(
        road: Road
    ) async throws {
        let book = try await book()
        let told = road.refusal.map { [$0, "account"] }

        // A repeat has the same answer.
        for _ in 0..<2 {
            #expect(try await refusal { try await send(road, book) } == told)

            #expect(try await book.active() == [])
            #expect(try await book.balance() == 0)
        }
        let kept = try await book.take(1, Self.paid)
        #expect(kept.account == "blob")
        #expect(kept.revocationDate == Book.now.adding(seconds: 8))
        for stranger in [Self.token, "ann"] {
            #expect(try await book.balance(stranger) == nil)
        }
        #expect(try await book.imbalances() == [])
    }

    @Test func `a later token moves no purchase, and its account may restore it`() async throws {
        let book = try await book().reopened(.transfer)
        let signed = try Book.signed(1, Self.named)
        func restore(_ account: String) async throws -> String {
            try await book.ledger.restore(
                RestoreRequest(signedTransaction: signed), account: account
            ).outcome
        }

        let heard = try await book.ledger.take(try Book.notification(signed))
        #expect(heard.purchase?.account == "blob")
        #expect(try await book.take(1, Self.named).account == "blob")
        #expect(try await restore("blob") == "owned")
        #expect(try await book.active() == ["pro"])
        #expect(try await refusal { try await restore("ann") }?.first == "accountContradicts")
        #expect(try await restore(Self.token) == "transferred")
        #expect(try await book.active() == [])
        #expect(try await book.active(Self.token) == ["pro"])
        #expect(try await book.balance(Self.token) == 10)
        #expect(try await book.imbalances() == [])
    }

    @Test func `a token that differs is reported until its account is part of the other`()
        async throws
    {
        let book = try await book()
        func differences() async throws -> [[String?]] {
            lists(try Book.signed(1, Self.named))
            let report = try await book.ledger.reconcile(
                ReconcileRequest(account: "blob", fix: true))
            return report.differences.map { [$0.kind, $0.field, $0.isFixed ? "fixed" : nil] }
        }

        #expect(try await differences() == [["factsDiffer", "appAccountToken", nil]])
        _ = try await book.ledger.merge(
            MergeAccountRequest(into: "blob"), account: Self.token)
        #expect(try await differences() == [])
    }
}
