// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire
import TestSupport
import Testing

@testable import Ledger

/// Purchases that are proven by a transaction's number.
@Suite(.timeLimit(.minutes(5))) struct LookUpTests {
    private let store = FakeStore()

    private static func isKept<Taken>(_ outcome: ProofOutcome<Taken>) -> Bool {
        if case .kept = outcome { true } else { false }
    }

    private func waiting(_ book: Book) async throws -> [WaitingProofReport] {
        try await book.ledger.waitingProofs(account: "blob").proofs
    }

    @Test func `a number is looked up in production, then in the sandbox, and booked once`()
        async throws
    {
        let book = try await Book.open(asking: store)
        store.has([Book.id(1): try Book.signed()])

        let first = try await book.present()
        let asked = store.heard()
        let direct = try await book.take()
        let again = try await book.present()

        let path = "/inApps/v1/transactions/\(Book.id(1))"
        #expect(asked == ["production" + path, "sandbox" + path])
        #expect(first == .taken(direct))
        #expect(again == first)
        #expect(try await book.unspent(environment: "Sandbox") == [Book.id(1): 1])
    }

    @Test func `each call has a token for the app that expires in minutes`() async throws {
        let book = try await Book.open(asking: store, environments: [.sandbox])
        store.has([Book.id(1): try Book.signed()])

        _ = try await book.present()

        let call = try #require(store.lastCall)
        let header = try #require(call.headers["Authorization"])
        let token = try BearerToken.parse(String(header.dropFirst("Bearer ".count)))
        #expect(header.hasPrefix("Bearer "))
        #expect(token.keyID.hasPrefix(ServerKey.prefix))
        #expect(call.timeoutMilliseconds == 5_000)
    }

    @Test(
        arguments: [
            (4_010_000, 4_040_010, true), (4_040_010, 4_010_000, true),
            (4_040_010, 4_040_010, false),
        ])
    func `a refused key proves nothing about the transaction`(
        production: Int, sandbox: Int, isKept: Bool
    ) async throws {
        let book = try await Book.open(asking: store)
        store.answers { call in
            try FakeStore.error(call.url.hasPrefix(FakeStore.production) ? production : sandbox)
        }

        if isKept {
            #expect(Self.isKept(try await book.present()))
        } else {
            let told = try await refusal { try await book.present() }
            #expect(told == ["transactionUnknown", "transactionId"])
        }
    }

    @Test(arguments: [404, 400, 403, 302])
    func `an error that is not the store's word about the transaction keeps the proof`(
        status: Int
    ) async throws {
        let book = try await Book.open(asking: store)
        store.answers { _ in StoreAnswer(status: status, body: Array("<html>".utf8)) }

        #expect(Self.isKept(try await book.present()))
    }

    @Test func `a key that production does not know finds what the sandbox has`() async throws {
        let book = try await Book.open(asking: store)
        let signed = try Book.signed()
        store.answers { call in
            guard call.url.hasPrefix(FakeStore.sandbox) else { return StoreAnswer(status: 401) }
            return try FakeStore.json(TransactionInfoResponse(signedTransactionInfo: signed))
        }

        #expect(try await book.present() == .taken(try await book.take()))
    }

    @Test func `another transaction, app, environment or root in the answer is refused`()
        async throws
    {
        let book = try await Book.open(asking: store, environments: [.sandbox])
        let answers: [(String, String)] = [
            (try Book.signed(2), "storeContradicts"),
            (try Book.signed { $0.bundleId = "com.example.other" }, "bundleIdRefused"),
            (try Book.signed { $0.environment = "Production" }, "environmentRefused"),
            (try Book.signed(by: try Book.foreign()), "rootUntrusted"), ("a.b.c", "proofInvalid"),
            (
                try Book.signed {
                    $0.appAccountToken = "22222222-2222-4333-8444-555555555555"
                }, "accountContradicts"
            ),
        ]
        for (signed, code) in answers {
            store.has([Book.id(1): signed])
            #expect(try await refusal { try await book.present() }?.first == code)
        }
        #expect(try await book.unspent().isEmpty)
        #expect(try await waiting(book).isEmpty)
    }

    @Test func `numbers that are none never reach the store`() async throws {
        let book = try await Book.open(asking: store)
        for text in ["", "12a", "../history/1", "1?x=1", String(repeating: "1", count: 33), "１"] {
            let told = try await refusal {
                try await book.ledger.take(TakeTransactionRequest(transactionId: text))
            }
            #expect(told == ["textInvalid", "transactionId"])
        }
        #expect(store.heard() == [])
    }

    @Test func `a ledger without a key says so`() async throws {
        let book = try await Book.open()

        #expect(
            try await refusal { try await book.present() } == ["storeUnconfigured", "environment"])
    }

    @Test func `a proof is kept while the store is down, once, and settled when it is back`()
        async throws
    {
        let clock = MovedClock()
        let book = try await Book.open(
            asking: store, environments: [.sandbox], wall: clock.wall)

        let kept = try await book.present()
        let again = try await book.present()
        #expect(Self.isKept(kept))
        #expect(kept == again)
        #expect(store.pauses.count > 1)
        #expect(try await waiting(book).map(\.attempts) == [0])

        clock.move(seconds: 60)
        #expect(try await book.ledger.settleProofs() == 0)
        #expect(try await waiting(book).map(\.trouble) == ["the store is not asked at present"])

        store.has([Book.id(1): try Book.signed()])
        #expect(try await book.ledger.settleProofs() == 0)
        clock.move(seconds: 3600)
        #expect(try await book.ledger.settleProofs() == 1)
        #expect(try await waiting(book).isEmpty)
        #expect(try await book.unspent() == [Book.id(1): 1])
    }

    @Test func `a kept proof that the store refuses in the end is shown, and may be sent again`()
        async throws
    {
        let clock = MovedClock()
        let book = try await Book.open(
            asking: store, environments: [.sandbox], wall: clock.wall)
        _ = try await book.present()
        store.has([:])
        clock.move(seconds: 60)

        #expect(try await book.ledger.settleProofs() == 1)
        #expect(try await waiting(book).map(\.refusal) == ["transactionUnknown"])
        clock.move(seconds: 86_400)
        #expect(try await book.ledger.settleProofs() == 0)

        store.isDown()
        _ = try await book.present()
        #expect(try await waiting(book).map(\.refusal) == [nil])
    }

    @Test func `a process without the key leaves kept proofs to others`() async throws {
        let clock = MovedClock()
        let book = try await Book.open(
            asking: store, environments: [.sandbox], wall: clock.wall)
        _ = try await book.present()
        var configuration = book.ledger.configuration
        configuration.stores = []
        let keyless = try await Ledger.open(
            storage: book.storage, configuration: configuration, ports: book.ledger.ports)
        clock.move(seconds: 3600)

        #expect(try await keyless.settleProofs() == 0)
        let pause = await keyless.nextRound().milliseconds(since: clock.wall.now)
        #expect(pause == Ledger.workMillisecondsMax)
        #expect(try await waiting(book).map(\.refusal) == [nil])
        store.has([Book.id(1): try Book.signed()])
        #expect(try await book.ledger.settleProofs() == 1)
    }

    @Test func `at most a hundred proofs wait for an account`() async throws {
        let book = try await Book.open(asking: store, environments: [.sandbox])
        for id in 1...100 { #expect(Self.isKept(try await book.present(id))) }

        #expect(try await refusal { try await book.present(101) } == ["proofsTooMany", "account"])
        #expect(Self.isKept(try await book.present(100)))
        #expect(Self.isKept(try await book.present(101, account: "other")))
    }

    @Test func `after a 429 the store is left alone until the date that it names`() async throws {
        let clock = MovedClock()
        let book = try await Book.open(
            asking: store, environments: [.sandbox], wall: clock.wall)
        let date = Book.now.adding(seconds: 600).milliseconds
        store.answers { _ in StoreAnswer(status: 429, retryAfter: "\(date)") }

        _ = try await book.present()
        #expect(store.heard().count == 1)
        store.has([Book.id(1): try Book.signed()])
        clock.move(seconds: 599)
        _ = try await book.present()
        #expect(try await book.ledger.settleProofs() == 0)
        #expect(store.heard() == [])

        clock.move(seconds: 2)
        #expect(try await book.ledger.settleProofs() == 1)
        #expect(store.heard().count == 1)
    }
}
