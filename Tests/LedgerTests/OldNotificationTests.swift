// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import Storage
import StoreWire
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import Ledger

/// Notifications of version 1, of which only the receipt proves anything.
@Suite(.engineFree, .timeLimit(.minutes(5))) struct OldNotificationTests {
    private let store = FakeStore()
    private let clock = MovedClock()

    /// A body as our store sends it, with `receipt` as the newest one.
    private func body(
        _ receipt: String?, type: String = "DID_RENEW", password: String? = nil,
        bundleID: BundleID = Book.bundleID
    ) throws -> [UInt8] {
        var body = ResponseBodyV1(
            notificationType: type, isProduction: false, bundleID: bundleID.value,
            unifiedReceipt: UnifiedReceipt(
                environment: "Sandbox", latestReceipt: receipt, latestReceiptInfo: [],
                pendingRenewalInfo: []))
        body.password = password
        return try StrictJSON.encode(body)
    }

    private func asking(forwardsTo urls: [String] = []) async throws -> Book {
        try await Book.open(
            asking: store, environments: [.sandbox], forwardsTo: urls, wall: clock.wall)
    }

    private func kept(_ book: Book) async throws -> [(payload: String, refusal: String?)] {
        let statement = Statement(
            "test.kept", "SELECT n.payload, n.refusal FROM notifications_in n")
        return try await book.storage.read { try $0.query(statement, []) }.map {
            (try $0.text("payload"), try $0.optionalText("refusal"))
        }
    }

    private struct Reply: Encodable {
        var status = 0
        var latest_receipt_info: [[String: String]] = []
    }

    @Test func `a signed receipt's purchases are booked once, and claimed by the app`()
        async throws
    {
        let book = try await Book.open()
        let body = try body(try Book.receipt([Book.record(1), Book.record(2, quantity: 3)]))

        let told = try await book.ledger.take(notificationBody: body)
        let again = try await book.ledger.take(notificationBody: body)
        let claimed = try await book.take(1)

        #expect(told == again)
        #expect(told.notificationType == "DID_RENEW")
        #expect(told.purchase == nil)
        #expect(claimed.transactionId == Book.id(1))
        #expect(try await book.unspent() == [Book.id(1): 1])
        try await book.take(2) { $0.quantity = 3 }
        #expect(try await book.unspent() == [Book.id(1): 1, Book.id(2): 3])
        #expect(try await kept(book).map(\.payload) == [String(decoding: body, as: UTF8.self)])
    }

    @Test func `what is not in the receipt is not believed`() async throws {
        let book = try await Book.open()
        try await book.take(1)
        var text = String(
            decoding: try body(try Book.receipt([Book.record(1)]), type: "REFUND"),
            as: UTF8.self)
        text = text.replacing(
            #""latest_receipt_info":[]"#,
            with: #""latest_receipt_info":[{"transaction_id":"\#(Book.id(1))","#
                + #""cancellation_date_ms":"1760000001000"},{"transaction_id":"9"}]"#)

        _ = try await book.ledger.take(notificationBody: Array(text.utf8))

        #expect(text.contains("cancellation_date_ms"))
        #expect(try await book.unspent() == [Book.id(1): 1])
    }

    @Test func `one without a password or a genuine receipt is refused, and not kept`()
        async throws
    {
        let book = try await Book.open()
        let genuine = try Book.receipt([Book.record()])
        let cases: [([UInt8], [String?])] = [
            (try body(nil), ["notificationInvalid", "unified_receipt.latest_receipt"]),
            (try body("?"), ["receiptInvalid", "receipt"]),
            (try body("AAAA"), ["proofInvalid", "receipt"]),
            (
                try body(try Book.receipt([Book.record()], by: Book.foreign())),
                ["rootUntrusted", "receipt"]
            ),
            (try body(genuine, type: ""), ["textInvalid", "notification_type"]),
            (
                try body(genuine, bundleID: "com.example.other"),
                ["notificationContradicts", "bid"]
            ),
            (
                try body(try Book.receipt([Book.record()], bundleID: "com.example.other")),
                ["bundleIdRefused", "bundleId"]
            ),
        ]
        for (body, wanted) in cases {
            let told = try await refusal {
                try await book.ledger.take(notificationBody: body)
            }
            #expect(told == wanted)
        }
        await #expect(throws: DecodingError.self) {
            try await book.ledger.take(notificationBody: Array("{\"bid\":1}".utf8))
        }
        #expect(try await kept(book).isEmpty)
        #expect(try await book.unspent().isEmpty)
    }

    @Test func `the password is the shared secret, and is not kept`() async throws {
        let book = try await asking()
        store.answers { _ in try FakeStore.json(Reply()) }
        let receipt = try Book.receipt([Book.record()])
        for password in [nil, "", "secres", "secret2"] as [String?] {
            let told = try await refusal {
                try await book.ledger.take(notificationBody: try body(receipt, password: password))
            }
            #expect(told == ["passwordRefused", "password"])
        }
        #expect(store.heard() == [])

        _ = try await book.ledger.take(notificationBody: try body(receipt, password: "secret"))
        // A repeat asks no store.
        _ = try await book.ledger.take(notificationBody: try body(receipt, password: "secret"))

        #expect(store.heard() == ["sandbox/verifyReceipt"])
        let payloads = try await kept(book).map(\.payload)
        #expect(payloads.count == 1)
        #expect(payloads.first?.contains(#""password":"-""#) == true)
    }

    @Test func `the store is asked, and what it says was cancelled is revoked`() async throws {
        let book = try await asking()
        let entry = [
            "transaction_id": Book.id(1),
            "cancellation_date_ms": "\(Book.now.adding(seconds: 60).milliseconds)",
        ]
        store.answers { _ in try FakeStore.json(Reply(latest_receipt_info: [entry])) }
        try await book.take(1)
        // No root that the ledger trusts has signed it: the store vouches for it.
        let receipt = try Book.receipt([Book.record()], by: try Book.foreign())

        _ = try await book.ledger.take(
            notificationBody: try body(receipt, type: "CANCEL", password: "secret"))

        #expect(try await book.unspent().isEmpty)
        store.answers { _ in try FakeStore.json(Reply(status: 21_003)) }
        let told = try await refusal {
            try await book.ledger.take(
                notificationBody: try body(receipt, type: "REFUND", password: "secret"))
        }
        #expect(told == ["proofInvalid", "receipt"])
    }

    @Test func `while the store is down, a signed receipt counts, and the rest is settled later`()
        async throws
    {
        let book = try await asking()
        let genuine = try Book.receipt([Book.record(1)])
        let vouched = try Book.receipt([Book.record(2)], by: try Book.foreign())
        store.isDown()
        for receipt in [genuine, vouched] {
            _ = try await book.ledger.take(
                notificationBody: try body(receipt, password: "secret"))
        }
        try await book.take(1)
        let early = try await book.unspent()
        let entries = (1...2).map { id in
            [
                "transaction_id": Book.id(id), "app_account_token": Book.blob,
                "cancellation_date_ms": "\(Book.now.adding(seconds: 60).milliseconds)",
            ]
        }
        store.answers { _ in try FakeStore.json(Reply(latest_receipt_info: entries)) }
        clock.move(seconds: 3600)
        let settled = try await book.ledger.settleProofs()

        #expect(early == [Book.id(1): 1])
        #expect(settled == 2)
        #expect(try await kept(book).count == 2)
        let rows = try await book.storage.read {
            try $0.query(
                Statement(
                    "test.fates",
                    "SELECT p.account, p.revoked_at FROM purchases p ORDER BY p.transaction_id"),
                [])
        }
        #expect(try rows.map { try $0.optionalText("account") } == ["blob", Book.blob])
        // It is cancelled for the account that has it, whatever its token says.
        #expect(try rows.map { try $0.optionalInteger("revoked_at") != nil } == [true, true])
    }

    @Test func `without a shared secret, nothing unproven is kept while the store is down`()
        async throws
    {
        var access = try store.access([.sandbox])
        access.sharedSecret = nil
        let book = try await asking()
        var configuration = book.ledger.configuration
        configuration.stores = [access]
        let ledger = try await Ledger.open(
            storage: book.storage, configuration: configuration, ports: book.ledger.ports)
        store.isDown()
        let receipt = try Book.receipt([Book.record()], by: try Book.foreign())

        let told = try await refusal {
            try await ledger.take(notificationBody: try body(receipt, password: "any"))
        }

        #expect(told == ["storeUnavailable", "unified_receipt.latest_receipt"])
        #expect(try await kept(book).isEmpty)
    }

    @Test func `a copy is sent as it came, and erasure deletes its contents`() async throws {
        let book = try await asking(forwardsTo: ["https://merchant.example/copies"])
        let copies = Mutex<[[UInt8]]>([])
        store.answers { call in
            guard call.receiver == .merchant else { return try FakeStore.json(Reply()) }
            copies.withLock { $0.append(call.body) }
            return StoreAnswer(status: 200)
        }
        let body = try body(try Book.receipt([Book.record(1)]), password: "secret")
        _ = try await book.ledger.take(notificationBody: body)
        try await book.take(1)
        _ = try await book.ledger.forward()
        let erasure = try await book.ledger.erase(account: "blob")
        _ = try await book.ledger.take(
            notificationBody: try self.body(
                try Book.receipt([Book.record(1)]), type: "CANCEL", password: "secret"))

        let text = String(decoding: body, as: UTF8.self)
        #expect(
            copies.withLock { $0.map { String(decoding: $0, as: UTF8.self) } }
                == [text.replacing(#""password":"secret""#, with: #""password":"-""#)])
        #expect(erasure.notifications == 1)
        #expect(try await kept(book).map(\.payload) == ["erased", "erased"])
    }

    private func waiting(_ book: Book) async throws -> Int {
        let statement = Statement("test.waiting", "SELECT digest FROM proofs_waiting")
        return try await book.storage.read { try $0.query(statement, []).count }
    }

    @Test(arguments: [false, true])
    func `while the store is down, nothing about an erased account is kept`(
        isGenuine: Bool
    ) async throws {
        let book = try await asking()
        let receipt = try Book.receipt(
            [Book.record(1), Book.record(2)],
            by: isGenuine ? try Book.sandbox() : try Book.foreign())
        try await book.take(1)
        store.isDown()
        _ = try await book.ledger.take(notificationBody: try body(receipt, password: "secret"))
        let before = try await waiting(book)
        let erasure = try await book.ledger.erase(account: "blob")
        let later = try body(receipt, type: "CANCEL", password: "secret")
        let told = try await refusal { try await book.ledger.take(notificationBody: later) }

        #expect(before == 1)
        #expect(erasure.notifications == 1)
        #expect(told == ["storeUnavailable", "unified_receipt.latest_receipt"])
        #expect(try await kept(book).map(\.payload) == ["erased"])
        #expect(try await waiting(book) == 0)
        // The store sends it again once it answers.
        store.answers { _ in try FakeStore.json(Reply()) }
        clock.move(seconds: 3600)
        _ = try await book.ledger.take(notificationBody: later)
        #expect(try await kept(book).map(\.payload) == ["erased", "erased"])
    }

    @Test(arguments: [false, true])
    func `a transaction's number that no database can store is refused alone`(
        isGenuine: Bool
    ) async throws {
        let book = try await asking()
        let receipt = try Book.receipt(
            [Book.record(1), Book.record(2) { $0.transactionID = "a\0b" }],
            by: isGenuine ? try Book.sandbox() : try Book.foreign())
        store.isDown()
        _ = try await book.ledger.take(notificationBody: try body(receipt, password: "secret"))

        #expect(try await kept(book).map(\.refusal) == [isGenuine ? "textInvalid" : nil])
    }

    @Test func `a receipt of others waits on when an account is erased`() async throws {
        let book = try await asking()
        try await book.take(1)
        store.isDown()
        _ = try await book.ledger.take(
            notificationBody: try body(try Book.receipt([Book.record(2)]), password: "secret"))
        _ = try await book.ledger.erase(account: "blob")

        #expect(try await waiting(book) == 1)
        #expect(try await kept(book).allSatisfy { $0.payload != "erased" })
    }

    /// The account is erased before each of the calls that the notification makes.
    @Test func `an erasure in the midst of a notification deletes its contents`() async throws {
        let body = try body(try Book.receipt((1...3).map { Book.record($0) }))
        var (call, isDone) = (0, false)
        while !isDone {
            let book = try await Book.open()
            try await book.take(1)
            let turn = Turn(before: call) { _ = try await book.ledger.erase(account: "blob") }
            let ledger = try await Ledger.open(
                storage: TurnStorage(storage: book.storage, turn: turn),
                configuration: book.ledger.configuration, ports: book.ledger.ports)
            turn.begin()
            _ = try await ledger.take(notificationBody: body)
            isDone = !turn.isOver
            if isDone { _ = try await book.ledger.erase(account: "blob") }
            call += 1

            #expect(try await kept(book).map(\.payload) == ["erased"], "call \(call)")
        }
        #expect(call > 5)
    }
}

/// Does something once, before a call of a storage. A class, because the storage and the
/// test share it.
private final class Turn: Sendable {
    private let left = Mutex<Int?>(nil)
    private let number: Int
    private let act: @Sendable () async throws -> Void

    init(before number: Int, _ act: @escaping @Sendable () async throws -> Void) {
        self.number = number
        self.act = act
    }

    /// Counts from now on.
    func begin() { left.withLock { $0 = number } }

    var isOver: Bool { left.withLock { ($0 ?? 0) < 0 } }

    func step() async throws {
        let isNow = left.withLock { left -> Bool in
            guard let calls = left, calls >= 0 else { return false }
            left = calls - 1
            return calls == 0
        }
        if isNow { try await act() }
    }
}

private struct TurnStorage: Storage {
    let storage: any Storage
    let turn: Turn

    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer {
        try await turn.step()
        return try await storage.read(body)
    }

    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        try await turn.step()
        return try await storage.write(body)
    }

    func close() async throws {}
}
