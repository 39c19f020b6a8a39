// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire
import Testing

@testable import Ledger

/// The last value that passes each limit, and the first that does not.
@Suite(.timeLimit(.minutes(5))) struct EdgeTests {
    @Test func `a text of exactly the limit passes, and one byte more does not`() throws {
        let longest = String(repeating: "a", count: Edge.textBytesMax)

        #expect(try Edge.text(longest, "field") == longest)
        #expect(try Edge.optional(longest, "field") == longest)
        #expect(try Edge.optional(nil, "field") == nil)
        #expect(try Edge.text(longest + "a", "field", bytesMax: Edge.purposeBytesMax).count == 256)
        for wrong in ["", longest + "a", "a\0"] {
            let refused = #expect(throws: LedgerRefusal.self) { try Edge.text(wrong, "field") }
            #expect(refused?.error.code == "textInvalid")
            #expect(refused?.error.field == "field")
        }
    }

    @Test(arguments: ["a\u{202E}b", "a\u{200B}", "a\nb", "\u{1B}[2J", "", "a\0"])
    func `a key's name has no invisible character`(name: String) async throws {
        let book = try await Book.open()

        let refused = await #expect(throws: LedgerRefusal.self) {
            try await book.ledger.createKey(CreateLedgerKeyRequest(name: name, scope: "app"))
        }
        #expect(refused?.error.code == "textInvalid")
        #expect(refused?.error.field == "name")
        #expect(refused?.error.rule != nil && refused?.error.remedy != nil)
        #expect(try await book.ledger.keys().keys.isEmpty)
    }

    @Test func `a key's name may have letters of every script`() async throws {
        let ledger = try await Book.open().ledger

        let names = ["shop 1", "متجر", "👩‍💻"]
        for name in names {
            _ = try await ledger.createKey(CreateLedgerKeyRequest(name: name, scope: "app"))
        }
        #expect(try await Set(ledger.keys().keys.map(\.name)) == Set(names))
    }

    @Test func `a page has 1 to 100 purchases`() throws {
        #expect(try Edge.limit(nil) == 100)
        #expect(try Edge.limit(1) == 1)
        #expect(try Edge.limit(100) == 100)
        for wrong in [-1, 0, 101] {
            let refused = #expect(throws: LedgerRefusal.self) { try Edge.limit(wrong) }
            #expect(refused?.error.code == "limitInvalid")
        }
    }

    @Test func `a page that is exactly full is the last`() async throws {
        let book = try await Book.open()
        for id in 1...4 { try await book.take(id) }

        let first = try await book.ledger.unspent(account: "blob", limit: 2)
        let second = try await book.ledger.unspent(
            account: "blob", after: first.next, limit: 2)

        #expect([first, second].map(\.purchases.count) == [2, 2])
        #expect(first.next != nil && second.next == nil)
    }

    @Test func `a cursor of exactly the limit is read, and one byte more is not`() throws {
        let text = "7.1.root." + String(repeating: "a", count: 1024 - 9)

        #expect(try UnspentCursor(text).text == text)
        #expect(try UnspentCursor("0.1.root.com.example.app").bundleID == "com.example.app")
        #expect(throws: LedgerRefusal.self) { try UnspentCursor(text + "a") }
    }

    @Test func `a purchase has 1 to 10,000 units`() async throws {
        let book = try await Book.open()

        #expect(try await book.take(1) { $0.quantity = 10_000 }.unspent == 10_000)
        #expect(try await book.take(2) { $0.quantity = 1 }.unspent == 1)
        #expect(try await book.take(3) { $0.quantity = nil }.unspent == 1)
    }

    @Test func `a transaction without the date of its signature is refused`() async throws {
        let book = try await Book.open()

        let told = try await refusal { try await book.take { $0.signedDate = nil } }

        #expect(told == ["proofInvalid", "signedTransaction"])
    }

    @Test func `an empty app account token counts as absent`() async throws {
        let book = try await Book.open()

        #expect(try await book.take { $0.appAccountToken = "" }.account == "blob")
    }

    @Test func `production may be ahead of the wall by the tolerance, and no more`() async throws {
        let book = try await Book.open(environments: [.production])
        let latest = Book.now.adding(
            milliseconds: SignedDataLimits.signedDateToleranceMilliseconds)
        func take(_ id: Int, at date: Timestamp) async throws -> [String?]? {
            try await refusal {
                try await book.take(id, by: try Book.production()) {
                    $0.environment = "Production"
                    $0.signedDate = date
                }
            }
        }

        #expect(try await take(1, at: latest) == nil)
        #expect(
            try await take(2, at: latest.adding(milliseconds: 1))
                == ["proofInvalid", "signedTransaction"])
    }

    @Test func `a notification without a type is refused`() async throws {
        let book = try await Book.open()

        let told = try await refusal {
            try await book.ledger.take(try Book.notification(try Book.signed(), type: ""))
        }

        #expect(told == ["notificationInvalid", "signedPayload"])
        #expect(try await book.unspent().isEmpty)
    }

    @Test func `only production asks for the app's number`() async throws {
        let book = try await Book.open(environments: [.sandbox, .production], appID: 1234)

        let told = try await book.ledger.take(
            try Book.notification(try Book.signed()) { $0.appAppleId = 1 })

        #expect(told.purchase?.environment == "Sandbox")
    }

    @Test func `a redemption names a transaction or a product`() async throws {
        let book = try await Book.open()
        try await book.take()

        #expect(
            try await refusal { try await book.redeem(id: nil) }
                == ["purchaseUnnamed", "transactionId"])
        #expect(try await book.redeem(id: nil, product: "credits.5").unit == 1)
    }

    /// The statement keeps the rule by itself: what was judged before it may be old.
    @Test(
        arguments: [
            FieldChange("kind") { $0.type = "Non-Consumable" },
            FieldChange("revoked") { $0.revocationDate = Book.now },
            FieldChange("another's") { $0.appAccountToken = Book.blob },
            FieldChange("spent") { $0.quantity = 1 },
        ])
    func `no unit of what cannot be spent is spent by the statement`(
        change: FieldChange
    ) async throws {
        let book = try await Book.open()
        let isAnothers = change.field == "another's"
        let taken = try await book.take(account: isAnothers ? nil : "blob") { change.make(&$0) }
        if change.field == "spent" { try await book.redeem() }
        let key = PurchaseKey(
            root: taken.rootFingerprint, environment: .sandbox, bundleID: taken.bundleId,
            transactionID: taken.transactionId)

        let (now, revision) = (SQLValue.integer(Book.now.milliseconds), SQLValue.integer(9))
        let unused = SQLValue.text("a key of its own")
        let place: [SQLValue] = [
            .text("blob"), .text("Sandbox"), .text(taken.bundleId),
        ]
        let spendings: [(Statement, [SQLValue])] = [
            (Statement.Booked.spend, key.values + [.text("blob"), revision, now]),
            (Statement.Booked.spendOfProduct, place + [.text(taken.productId), now, unused]),
            (
                Statement.Booked.spendNamed,
                place + [.text(taken.transactionId), .null, now, unused]
            ),
        ]
        for (statement, values) in spendings {
            let spent = try await book.storage.write { try $0.first(statement, values) }
            #expect(spent == nil, "\(statement.name)")
        }
    }

    /// It is sent before the answer that shows what the key has done.
    @Test(arguments: [true, false])
    func `the statement spends no second unit under a key`(isNamed: Bool) async throws {
        let book = try await Book.open()
        let taken = try await book.take(account: "blob") { $0.quantity = 3 }
        try await book.redeem("order-1")
        func spend(_ key: String) async throws -> Row? {
            let place: [SQLValue] = [.text("blob"), .text("Sandbox"), .text(taken.bundleId)]
            let end: [SQLValue] = [.integer(Book.now.milliseconds), .text(key)]
            let (statement, wanted): (Statement, [SQLValue]) =
                isNamed
                ? (.Booked.spendNamed, [.text(taken.transactionId), .null])
                : (.Booked.spendOfProduct, [.text(taken.productId)])
            return try await book.storage.write {
                try $0.first(statement, place + wanted + end)
            }
        }

        #expect(try await spend("order-1") == nil)
        #expect(try await spend("order-2")?.integer("spent") == 2)
    }

    /// So are credits spent before the answer that shows what the key has done.
    @Test func `the statement spends no credits twice under a key`() async throws {
        let book = try await Book.open(
            grants: try GrantRules([
                "coins": [Grant(name: "coins", kind: .credits(perUnit: 10))]
            ]))
        try await book.prove(1, account: "blob")
        try await book.spend("order-1", 3)
        func spend(_ key: String, _ amount: Int64) async throws -> Row? {
            let values: [SQLValue] = [
                .text("blob"), .text("Sandbox"), .text("coins"), .integer(amount), .text(key),
            ]
            return try await book.storage.write {
                try $0.first(Statement.Credits.spend, values)
            }
        }

        #expect(try await spend("order-1", 3) == nil)
        #expect(try await spend("order-2", 8) == nil)
        #expect(try await book.spend("order-1", 3).balance == 7)
        #expect(try await book.balance() == 7)
        #expect(try await spend("order-2", 7)?.integer("wallet") == 0)
    }

    @Test(
        arguments: [
            Statement.Booked.oldestOfProduct, Statement.Booked.oldestNamed,
            Statement.Booked.spendOfProduct, Statement.Booked.spendNamed,
        ])
    func `a redemption passes over what is spent`(statement: Statement) async throws {
        let steps = try await queryPlan(of: statement)
        #expect(steps.contains { $0.contains("INDEX purchases_unspent") }, "\(steps)")
        #expect(!steps.contains { $0.hasPrefix("SCAN") }, "\(steps)")
    }

    /// So do the statements that claim a purchase and write its fate.
    @Test func `a purchase is claimed once, and its fate written over the one that was read`()
        async throws
    {
        let book = try await Book.open()
        let taken = try await book.take(account: "blob")
        let key = PurchaseKey(
            root: taken.rootFingerprint, environment: .sandbox, bundleID: taken.bundleId,
            transactionID: taken.transactionId)
        func fate(_ holder: String?, over signed: Timestamp) async throws -> Bool {
            let values: [SQLValue] = [
                .optional(holder), .integer(Book.now.milliseconds + 9), .null, .null, .integer(9),
                .integer(signed.milliseconds),
            ]
            return try await book.storage.write {
                try $0.first(Statement.Booked.setFate, key.values + values) != nil
            }
        }

        let claimed = try await book.storage.write {
            try $0.first(Statement.Booked.claim, key.values + [.text("glob"), .integer(9)])
        }

        #expect(claimed == nil)
        #expect(try await !fate("glob", over: Book.now))
        #expect(try await !fate(nil, over: Book.now))
        #expect(try await !fate("blob", over: Book.now.adding(milliseconds: 1)))
        #expect(try await fate("blob", over: Book.now))
    }

    /// And so does the table, whatever statement writes to it.
    @Test(arguments: ["quantity = 0, spent = 0", "spent = -1", "spent = 3"])
    func `the book holds no more units than there are, and none below nothing`(
        change: String
    ) async throws {
        let book = try await Book.open()
        try await book.take { $0.quantity = 2 }
        func fault(_ change: String) async -> StorageFault.Code? {
            let statement = Statement("test.change", "UPDATE purchases SET \(change)")
            do { try await book.storage.write { try $0.execute(statement, []) } } catch {
                return (error as? StorageFault)?.code
            }
            return nil
        }

        #expect(await fault(change) == .constraint)
        #expect(await fault("quantity = 1, spent = 1") == nil)
    }

    @Test func `a request names only what the ledger books`() async throws {
        let book = try await Book.open()
        try await book.take()
        func redeem(_ bundleID: String?) async throws -> [String?]? {
            try await refusal {
                try await book.ledger.redeem(
                    RedeemRequest(
                        idempotencyKey: "order", transactionId: "2000000000000001",
                        purpose: "feed", bundleId: bundleID), account: "blob")
            }
        }

        for word in ["Production", "Moon", "sandbox", ""] {
            #expect(
                try await refusal { try await book.unspent(environment: word) }
                    == ["environmentRefused", "environment"])
            #expect(
                try await refusal { try await book.redeem(environment: word) }
                    == ["environmentRefused", "environment"])
        }
        for word in ["com.example.other", ""] {
            #expect(try await redeem(word) == ["bundleIdRefused", "bundleId"])
        }
        #expect(try await book.unspent(environment: "Sandbox").count == 1)
        #expect(try await redeem(Book.bundleID.value) == nil)
    }

    @Test func `of two apps a redemption names one`() async throws {
        let book = try await Book.open(apps: [Book.bundleID, "com.example.other"])
        try await book.take()

        #expect(
            try await refusal { try await book.redeem() } == ["bundleIdMissing", "bundleId"])
        #expect(try await book.unspent().count == 1)
    }

    @Test func `a purchase that was booked between the look and the write keeps its owner's line`()
        async throws
    {
        let book = try await Book.open()
        try await book.take(1, account: "blob")
        let ledger = try await Ledger.open(
            storage: LateStorage(storage: book.storage), configuration: book.ledger.configuration,
            ports: book.ledger.ports)
        let revoked = try Book.signed {
            $0.signedDate = Book.now.adding(seconds: 2)
            $0.revocationDate = Book.now.adding(seconds: 1)
        }

        let taken = try await ledger.take(TakePurchaseRequest(signedTransaction: revoked))

        #expect(taken.account == "blob")
        #expect(taken.revocationDate == Book.now.adding(seconds: 1))
        #expect(taken.revision == 2)
    }
}

/// A storage that misses a purchase at the first look of each write: another
/// process books it right after.
private struct LateStorage: Storage {
    let storage: any Storage

    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer {
        try await storage.read(body)
    }

    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        try await storage.write { try body(LateWriting(writing: $0)) }
    }

    func close() async throws {}
}

/// A class, because it counts its looks.
private final class LateWriting: Writing {
    private let writing: any Writing
    private var looks = 0

    init(writing: any Writing) { self.writing = writing }

    func query(_ statement: Statement, _ values: [SQLValue]) throws -> [Row] {
        if statement.name == Statement.Booked.byKey.name {
            looks += 1
            if looks == 1 { return [] }
        }
        return try writing.query(statement, values)
    }

    func execute(_ statement: Statement, _ values: [SQLValue]) throws {
        try writing.execute(statement, values)
    }

    func databaseTime() throws -> Int64 { try writing.databaseTime() }
}
