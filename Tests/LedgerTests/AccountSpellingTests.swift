// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire
import Testing

@testable import Ledger

/// Two accounts whose names a database distinguishes, and Swift's `==` does not.
@Suite(.timeLimit(.minutes(5))) struct AccountSpellingTests {
    private static let composed = "jos\u{E9}"
    private static let decomposed = "jose\u{301}"
    private static let both = [composed, decomposed]

    private static func rules() throws -> GrantRules {
        try GrantRules([
            "coins": [
                Grant(name: "coins", kind: .credits(perUnit: 100)),
                Grant(name: "pro", kind: .entitlement(.forever)),
            ]
        ])
    }

    private static func other(than name: String) -> String {
        name.isSame(as: composed) ? decomposed : composed
    }

    private static func coins(_ payload: inout JWSTransactionDecodedPayload) {
        payload.productId = "coins"
        payload.purchaseDate = Book.now.adding(seconds: -60)
    }

    /// An account with 100 coins and a unit.
    private func book(of account: String) async throws -> Book {
        let book = try await Book.open(grants: Self.rules()).reopened(.transfer)
        try await book.take(1, account: account, Self.coins)
        try await book.take(2, account: account)
        return book
    }

    /// The number of purchases and grants whose account has no line.
    private func withoutLine(_ book: Book) async throws -> Int {
        try await book.storage.read { reading in
            try ["purchases", "grants"].reduce(0) { count, table in
                let statement = Statement(
                    "test.withoutLine.\(table)",
                    """
                    SELECT t.account FROM \(table) t WHERE t.account IS NOT NULL
                        AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.account = t.account)
                    """)
                return count + (try reading.query(statement, []).count)
            }
        }
    }

    /// The account can use what moved to it, and the other has nothing left.
    private func checkMoved(to account: String, _ book: Book) async throws {
        #expect(try await withoutLine(book) == 0)
        #expect(try await book.active(account) == ["pro"])
        #expect(try await book.spend("hat", 10, account: account).balance == 90)
        #expect(try await book.redeem("order", id: 2, account: account).unit == 1)
        let other = Self.other(than: account)
        #expect(try await book.active(other) == [])
        #expect(try await book.balance(other) == 0)
        #expect(try await book.unspent(other) == [:])
        #expect(try await book.imbalances() == [])
    }

    @Test(arguments: both)
    func `an account is merged into one of the same name in another spelling`(
        from: String
    ) async throws {
        let book = try await book(of: from)
        let into = Self.other(than: from)

        _ = try await book.ledger.merge(MergeAccountRequest(into: into), account: from)

        try await checkMoved(to: into, book)
    }

    @Test(arguments: both)
    func `a purchase is restored to an account of the same name in another spelling`(
        from: String
    ) async throws {
        let book = try await book(of: from)
        let into = Self.other(than: from)
        func restore(
            _ id: Int, _ change: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
        ) async throws -> String {
            try await book.ledger.restore(
                RestoreRequest(signedTransaction: try Book.signed(id, change)), account: into
            ).outcome
        }

        #expect(try await restore(1, Self.coins) == "transferred")
        #expect(try await restore(2) == "transferred")

        try await checkMoved(to: into, book)
    }

    @Test func `another spelling of its name does not claim an account's purchase`()
        async throws
    {
        let book = try await book(of: Self.composed)

        #expect(
            try await refusal { try await book.take(2, account: Self.decomposed) }
                == ["purchaseClaimed", "account"])
    }

    @Test func `the line of each owner is locked`() async throws {
        let book = try await Book.open()
        try await book.take(1, account: Self.composed)
        try await book.take(2, account: Self.decomposed)
        let keys = try [1, 2].map { id in
            PurchaseKey(
                root: CertificateAuthority.fingerprint(of: try Book.sandbox().root),
                environment: .sandbox,
                bundleID: Book.bundleID.value, transactionID: Book.id(id))
        }
        func revisions() async throws -> [Int64] {
            try await book.storage.read { reading in
                try reading.query(
                    Statement("test.lines", "SELECT revision FROM accounts"), []
                ).map { try $0.integer("revision") }
            }
        }
        let before = try await revisions()
        let isErased = try await book.storage.write {
            try PurchaseOwners.includeErased(of: keys, $0)
        }

        #expect(!isErased)
        #expect(before == [1, 1])
        #expect(try await revisions() == [2, 2])
    }

    @Test func `a difference is reported once, with the spelling that has the purchase`()
        async throws
    {
        let store = FakeStore()
        let book = try await Book.open(asking: store, environments: [.sandbox])
        try await book.take(1, account: Self.composed)
        try await book.take(2, account: Self.decomposed)
        let signed = try (1...3).map { id in
            try Book.signed(id) {
                guard id < 3 else { return }
                $0.signedDate = Book.now.adding(seconds: 9)
                $0.revocationDate = Book.now.adding(seconds: 8)
            }
        }
        store.answers { _ in
            try FakeStore.json(
                HistoryResponse(
                    revision: "3", hasMore: false, bundleId: Book.bundleID.value,
                    appAppleId: nil, environment: "Sandbox", signedTransactions: signed))
        }
        var found: [String] = []
        var after: String?
        repeat {
            let report = try await book.ledger.reconcile(
                ReconcileRequest(after: after, fix: true))
            found += report.differences.map { "\($0.transactionId.suffix(1)) \($0.kind)" }
            after = report.next
        } while after != nil

        #expect(
            found.sorted()
                == ["1 missingRevocation", "2 missingRevocation", "3 unknownTransaction"])
        // Two accounts have used the store's customer.
        #expect(try await book.take(3, account: "ann").account == "ann")
    }

    @Test func `a listed tester is one account`() async throws {
        let opened = try await Book.open(
            environments: [.production, .sandbox], grants: Self.rules())
        var configuration = opened.ledger.configuration
        configuration.accounts = AccountRules(sandboxTesters: [Self.composed])
        let book = Book(
            ledger: try await Ledger.open(
                storage: opened.storage, configuration: configuration,
                ports: opened.ledger.ports), storage: opened.storage)
        for (id, account) in zip(1..., Self.both) {
            try await book.prove(id, account: account, Self.coins)
        }
        func names(_ account: String) async throws -> [String] {
            try await book.ledger.entitlements(account: account, environment: "Production")
                .entitlements.filter(\.isActive).map(\.name)
        }

        #expect(try await names(Self.composed) == ["pro"])
        #expect(try await names(Self.decomposed) == [])
    }
}
