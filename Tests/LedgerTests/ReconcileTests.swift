// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Ledger

/// The books against the store.
@Suite(.engineFree, .timeLimit(.minutes(5))) struct ReconcileTests {
    private let store = FakeStore()

    /// A store's customer has these transactions, two a page.
    private func history(_ signed: [String]) {
        store.answers { call in
            let from = call.url.split(separator: "=").last.flatMap { Int($0) } ?? 0
            let end = min(from + 2, signed.count)
            return try FakeStore.json(
                HistoryResponse(
                    revision: "\(end)", hasMore: end < signed.count,
                    bundleId: Book.bundleID.value, appAppleId: nil, environment: "Sandbox",
                    signedTransactions: Array(signed[from..<end])))
        }
    }

    private static func revoked(_ id: Int) throws -> String {
        try Book.signed(id) {
            $0.signedDate = Book.now.adding(seconds: 9)
            $0.revocationDate = Book.now.adding(seconds: 8)
        }
    }

    private func book() async throws -> Book {
        let book = try await Book.open(asking: store, environments: [.sandbox])
        for id in 1...3 { try await book.take(id) }
        return book
    }

    private func kinds(_ report: ReconcileReport) -> [String] {
        report.differences.map { "\($0.transactionId.last ?? "-") \($0.kind) \($0.isFixed)" }
    }

    @Test func `books that agree have no difference, and cost a call for each page`() async throws {
        let book = try await book()
        history(try (1...3).map { try Book.signed($0) { $0.signedDate = Book.now } })

        let report = try await book.ledger.reconcile(ReconcileRequest())
        #expect(report.account == "blob")
        #expect(report.checked == 3)
        #expect(report.differences.isEmpty)
        #expect(store.heard().count == 2)
        let end = try await book.ledger.reconcile(ReconcileRequest(after: report.next))
        #expect(end == ReconcileReport(account: nil, checked: 0, differences: [], next: nil))
    }

    @Test(arguments: ["a\0b", "\0", String(repeating: "a", count: 256)])
    func `a place to go on that is no account's name is refused`(after: String) async throws {
        let book = try await book()

        let told = try await refusal {
            try await book.ledger.reconcile(ReconcileRequest(after: after))
        }

        #expect(told == ["textInvalid", "after"])
    }

    @Test func `what differs is reported, and corrected on request`() async throws {
        let book = try await book()
        let other = try Book.signed(2) { $0.quantity = 5 }
        history([try Self.revoked(1), other, try Book.signed(4)])

        let found = try await book.ledger.reconcile(ReconcileRequest(account: "blob"))
        #expect(
            kinds(found) == [
                "1 missingRevocation false", "2 factsDiffer false", "4 unknownTransaction false",
                "3 notInStore false",
            ])
        #expect(found.differences[1].field == "quantity")
        #expect(try await book.unspent().count == 3)

        let fixed = try await book.ledger.reconcile(ReconcileRequest(account: "blob", fix: true))
        #expect(kinds(fixed).filter { $0.hasSuffix("true") }.count == 2)
        #expect(try await Set(book.unspent().keys) == Set([2, 3, 4].map(Book.id)))
        let again = try await book.ledger.reconcile(ReconcileRequest(account: "blob", fix: true))
        #expect(kinds(again) == ["2 factsDiffer false", "3 notInStore false"])
    }

    @Test func `what is found beside another account's purchase is left unclaimed`() async throws {
        let book = try await book()
        try await book.take(5, account: "other")
        history(try [1, 2, 3, 4, 5].map { try Book.signed($0) })

        _ = try await book.ledger.reconcile(ReconcileRequest(account: "blob", fix: true))

        #expect(try await book.unspent()[Book.id(4)] == nil)
        #expect(try await book.take(4, account: "other").account == "other")
    }

    /// A store's customer has used two accounts.
    @Test(arguments: [false, true])
    func `of all accounts a difference is reported once`(fix: Bool) async throws {
        let book = try await book()
        try await book.take(5, account: "other")
        try await book.take(6, account: nil)
        history([
            try Self.revoked(1), try Book.signed(2) { $0.quantity = 5 }, try Book.signed(3),
            try Book.signed(4), try Self.revoked(5), try Self.revoked(6),
        ])
        var checked: [Int] = []
        func reports() async throws -> [String] {
            var all: [String] = []
            var after: String?
            repeat {
                let report = try await book.ledger.reconcile(
                    ReconcileRequest(after: after, fix: fix))
                all += kinds(report).map { "\(report.account ?? "-"): \($0)" }
                checked.append(report.checked)
                after = report.next
            } while after != nil
            return all
        }

        #expect(
            try await reports() == [
                "blob: 1 missingRevocation \(fix)", "blob: 2 factsDiffer false",
                "blob: 4 unknownTransaction \(fix)", "blob: 6 missingRevocation \(fix)",
                "other: 5 missingRevocation \(fix)",
            ])
        // Each transaction is counted once.
        #expect(checked == [5, 1, 0])
        // One account that is named shows all of the history.
        let named = try await book.ledger.reconcile(ReconcileRequest(account: "other"))
        #expect(named.differences.count == (fix ? 1 : 5))
        #expect(named.checked == 6)
    }

    /// Reconciles every account with `fix`.
    private func fixAll(_ book: Book) async throws -> [LedgerDifference] {
        var all: [LedgerDifference] = []
        var after: String?
        repeat {
            let report = try await book.ledger.reconcile(
                ReconcileRequest(after: after, fix: true))
            all += report.differences
            after = report.next
        } while after != nil
        return all
    }

    @Test(arguments: ["expiresDate", "isUpgraded"])
    func `other terms of a period are reported, and corrected on request`(
        field: String
    ) async throws {
        func period(
            _ seconds: Int64, isUpgraded: Bool?
        ) -> (inout JWSTransactionDecodedPayload) -> Void {
            return { payload in
                payload.type = "Auto-Renewable Subscription"
                payload.signedDate = Book.now.adding(seconds: seconds)
                let isLater = seconds > 0 && isUpgraded == nil
                payload.expiresDate = Book.now.adding(seconds: isLater ? 9_000 : 5_000)
                payload.isUpgraded = isUpgraded
            }
        }
        let book = try await Book.open(asking: store, environments: [.sandbox])
        try await book.take(1, period(0, isUpgraded: nil))
        let isUpgraded = field == "isUpgraded" ? true : nil
        history([try Book.signed(1, period(5, isUpgraded: isUpgraded))])

        let found = try await book.ledger.reconcile(ReconcileRequest(account: "blob"))
        #expect(kinds(found) == ["1 staleTerms false"])
        #expect(found.differences.first?.field == field)

        let fixed = try await fixAll(book)
        #expect(fixed.map(\.isFixed) == [true])
        #expect(try await fixAll(book).isEmpty)
    }

    /// Ann has an earlier period; the newest was Ben's, who was erased.
    @Test func `a renewal is the living subscriber's after an erasure`() async throws {
        func period(_ number: Int64) -> (inout JWSTransactionDecodedPayload) -> Void {
            return { payload in
                payload.type = "Auto-Renewable Subscription"
                payload.originalTransactionId = Book.id(1)
                payload.purchaseDate = Book.now.adding(seconds: -1000 + number)
                payload.appAccountToken =
                    number == 2 ? "00000000-0000-4000-8000-00000000000b" : nil
            }
        }
        let book = try await Book.open(asking: store, environments: [.sandbox])
        try await book.take(1, account: "ann", period(1))
        try await book.take(2, account: nil, period(2))
        _ = try await book.ledger.erase(account: "00000000-0000-4000-8000-00000000000b")

        let told = try await refusal {
            try await book.take(3, account: "stranger", period(3))
        }

        #expect(told?.first == "purchaseClaimed")
        #expect(try await book.take(3, account: nil, period(3)).account == "ann")
    }

    @Test func `a renewal of an erased account's subscription is unclaimed, as by news`()
        async throws
    {
        func period(_ payload: inout JWSTransactionDecodedPayload) {
            payload.type = "Auto-Renewable Subscription"
            payload.originalTransactionId = Book.id(1)
        }
        let book = try await Book.open(asking: store, environments: [.sandbox])
        try await book.take(1, period)
        _ = try await book.ledger.erase(account: "blob")
        history(try (1...2).map { try Book.signed($0, period) })
        let fixed = try await fixAll(book)

        #expect(fixed.map(\.kind) == ["unknownTransaction"])
        #expect(fixed.map(\.isFixed) == [true])
        #expect(try await fixAll(book).isEmpty)
        #expect(try await book.take(2, account: "new", period).account == "new")
    }

    @Test func `a refund of an erased account's purchase is booked, with its token too`()
        async throws
    {
        func token(_ payload: inout JWSTransactionDecodedPayload) {
            payload.appAccountToken = Book.blob
        }
        let book = try await Book.open(asking: store, environments: [.sandbox])
        try await book.take(1, account: nil, token)
        _ = try await book.ledger.erase(account: Book.blob)
        history([
            try Book.signed(1) {
                token(&$0)
                $0.signedDate = Book.now.adding(seconds: 9)
                $0.revocationDate = Book.now.adding(seconds: 8)
            }
        ])
        let fixed = try await LedgerActor.$current.withValue(LedgerActor("test")) {
            try await fixAll(book)
        }

        #expect(fixed.map(\.kind) == ["missingRevocation"])
        #expect(fixed.map(\.refusal) == [nil])
        #expect(fixed.map(\.isFixed) == [true])
        #expect(try await fixAll(book).isEmpty)
        #expect(
            try await refusal { try await book.ledger.export(account: Book.blob) }?.first
                == "accountUnknown")
        let entries = try await book.storage.read {
            try $0.query(Statement("test.audit", "SELECT account FROM audit"), [])
        }
        #expect(try entries.map { try $0.optionalText("account") } == [nil])
    }

    @Test func `a store that does not answer corrects nothing, and says so`() async throws {
        let book = try await book()
        store.isDown()

        let told = try await refusal {
            try await book.ledger.reconcile(ReconcileRequest(account: "blob", fix: true))
        }

        #expect(told == ["storeUnanswered", "account"])
        #expect(try await book.unspent().count == 3)
    }
}
