// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Ledger

@Suite(.timeLimit(.minutes(5))) struct TakeTests {
    @Test func `a signed transaction is booked once, and a repeat changes nothing`() async throws {
        let book = try await Book.open()

        let first = try await book.take { $0.quantity = 3 }
        let again = try await book.take { $0.quantity = 3 }

        #expect(first == again)
        #expect(first.unspent == 3)
        #expect(first.account == "blob")
        #expect(
            first.rootFingerprint
                == CertificateAuthority.fingerprint(of: try Book.sandbox().root))
        #expect(try await book.unspent() == ["2000000000000001": 3])
    }

    @Test func `the app account token names the account, in upper or lower case`() async throws {
        let book = try await Book.open()

        let bought = try await book.take(account: nil) {
            $0.appAccountToken = Book.blob.uppercased()
        }
        let named = try await book.take(account: Book.blob.uppercased()) {
            $0.appAccountToken = Book.blob
        }

        #expect(bought.account == Book.blob)
        #expect(named == bought)
        #expect(try await book.unspent(Book.blob.uppercased()).count == 1)
    }

    @Test func `an account that contradicts the token is refused`() async throws {
        let book = try await Book.open()

        let told = try await refusal {
            try await book.take(account: "glob") { $0.appAccountToken = Book.blob }
        }

        #expect(told == ["accountContradicts", "account"])
        #expect(try await book.unspent("glob").isEmpty)
    }

    @Test func `what one account has claimed no other can`() async throws {
        let book = try await Book.open()
        try await book.take(account: "blob")

        let told = try await refusal { try await book.take(account: "glob") }
        let token = try await refusal {
            try await book.take(account: nil) { $0.appAccountToken = Book.blob }
        }

        #expect(told == ["purchaseClaimed", "account"])
        #expect(token == ["purchaseClaimed", "account"])
        #expect(try await book.unspent("glob").isEmpty)
        #expect(try await book.unspent("blob").count == 1)
    }

    @Test func `a commit larger than a page of the unspent list is listed whole`() async throws {
        let book = try await Book.open()
        for id in 1...5 { try await book.take(id) }
        let together = Statement("test.oneCommit", "UPDATE purchases SET revision = 5")
        try await book.storage.write { try $0.execute(together, []) }

        var ids: [String] = []
        var after: String?
        repeat {
            let page = try await book.ledger.unspent(account: "blob", after: after, limit: 2)
            ids += page.purchases.map(\.transactionId)
            after = page.next
        } while after != nil && ids.count < 10

        #expect(ids == (1...5).map { "\(2_000_000_000_000_000 + $0)" })
    }

    @Test(arguments: ["", "x", "1", "1.2.3", "-1.2.3.4", "1.2.3.\0"])
    func `a cursor that no page ended with is refused`(after: String) async throws {
        let book = try await Book.open()

        let told = try await refusal {
            try await book.ledger.unspent(account: "blob", after: after)
        }

        #expect(told == ["cursorInvalid", "after"])
    }

    @Test func `a purchase without an account goes to the first that claims it`() async throws {
        let book = try await Book.open()

        let nobodys = try await book.take(account: nil)
        let claimed = try await book.take(account: "blob")
        let later = try await book.take(account: nil)

        #expect(nobodys.account == nil)
        #expect(nobodys.revision == 0)
        #expect(claimed.account == "blob")
        #expect(later == claimed)
    }

    @Test(
        arguments: [
            FieldChange("productId") { $0.productId = "credits.10" },
            FieldChange("type") { $0.type = "Non-Consumable" },
            FieldChange("quantity") { $0.quantity = 2 },
            FieldChange("purchaseDate") { $0.purchaseDate = Book.now },
            FieldChange("originalTransactionId") { $0.originalTransactionId = "9" },
            FieldChange("price") { $0.price = 1 }, FieldChange("currency") { $0.currency = "EUR" },
        ])
    func `the same transaction with other facts is refused by field`(
        change: FieldChange
    ) async throws {
        let book = try await Book.open()
        let first = try await book.take()

        let told = try await refusal { try await book.take(account: "blob") { change.make(&$0) } }

        #expect(told == ["purchaseContradicts", change.field])
        #expect(try await book.take() == first)
    }

    @Test func `a price that appears later is not a contradiction`() async throws {
        let book = try await Book.open()
        try await book.take {
            $0.price = nil
            $0.currency = nil
        }

        #expect(try await refusal { try await book.take() } == nil)
    }

    @Test func `two stores may give one number`() async throws {
        let storage = try await Book.open().storage
        let configuration = try LedgerConfiguration(
            roots: [try Book.sandbox(), try Book.foreign()].map {
                TrustedRoot(certificate: $0.root, environments: [.sandbox])
            }, apps: [LedgerApp(bundleID: Book.bundleID, environments: [.sandbox])])
        let ledger = try await Ledger.open(
            storage: storage, configuration: configuration,
            ports: LedgerPorts(wall: .standing(at: Book.now), randomness: .seeded(1)) { _, _ in })
        let book = Book(ledger: ledger, storage: storage)

        let ours = try await book.take()
        let theirs = try await book.take(by: try Book.foreign()) { $0.productId = "other" }

        #expect(ours.rootFingerprint != theirs.rootFingerprint)
        #expect(try await ledger.unspent(account: "blob").purchases == [ours, theirs])
    }

    @Test func `pages resume where the last one ended`() async throws {
        let book = try await Book.open()
        for id in 1...5 { try await book.take(id) }

        var seen: [String] = []
        var after: String?
        repeat {
            let page = try await book.ledger.unspent(account: "blob", after: after, limit: 2)
            #expect(page.purchases.count <= 2)
            seen += page.purchases.map(\.transactionId)
            after = page.next
        } while after != nil && seen.count < 10

        #expect(seen == (1...5).map { "\(2_000_000_000_000_000 + $0)" })
        #expect(
            try await refusal { try await book.ledger.unspent(account: "blob", limit: 101) }
                == ["limitInvalid", "limit"])
    }

    @Test func `only what can be spent is listed`() async throws {
        let book = try await Book.open()
        try await book.take(1) { $0.type = "Non-Consumable" }
        try await book.take(2) { $0.type = "Auto-Renewable Subscription" }
        try await book.take(3) { $0.type = "Non-Renewing Subscription" }
        try await book.take(4) { $0.revocationDate = Book.now }
        try await book.take(5)

        #expect(
            try await book.unspent() == ["2000000000000003": 1, "2000000000000005": 1])
    }

    @Test func `a book opened again has its purchases`() async throws {
        let book = try await Book.open()
        let taken = try await book.take()

        let again = try await Book.open(storage: book.storage)

        #expect(book.ledger.admits(book.ledger.accessKey))
        #expect(!again.ledger.admits(book.ledger.accessKey.dropLast() + "x"))
        #expect(!again.ledger.admits(""))
        #expect(try await again.ledger.unspent(account: "blob").purchases == [taken])
    }

    @Test func `every statement can be prepared`() async throws {
        let book = try await Book.open()
        let names = Statement.LedgerBook.all.map(\.name)
        #expect(Set(names).count == names.count)

        for statement in Statement.LedgerBook.all {
            // Values that name nothing; a row of them breaks a rule of its table.
            await #expect(throws: (any Error).self, "\(statement.name)") {
                try await book.storage.write { writing in
                    do {
                        _ = try writing.query(statement, statement.parameters.map(Self.nothing))
                    } catch let fault as StorageFault where fault.code != .constraint {
                        Issue.record("\(statement.name): \(fault)")
                    }
                    throw CancellationError()
                }
            }
        }
    }

    private static func nothing(_ type: SQLType) -> SQLValue {
        switch type {
        case .integer: .integer(0)
        case .text: .text("")
        case .blob: .blob([])
        case .boolean: .boolean(false)
        }
    }
}
