// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import Storage
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Ledger

/// Messages to the merchant's servers.
@Suite(.timeLimit(.minutes(5))) struct WebhookTests {
    static let secret = "whsec_" + Base64.encode(Array("0123456789abcdefghijklmnopqrstuv".utf8))
    private static let url = "https://merchant.example/hooks"

    /// The bodies' types that arrived, with their accounts.
    private final class Receiver: Sendable {
        private let state = Mutex<(answer: StoreAnswer, calls: [StoreCall])>(
            (StoreAnswer(status: 200), []))

        var calls: [StoreCall] { state.withLock { $0.calls } }

        func answers(_ status: Int, retryAfter: String? = nil) {
            state.withLock { $0.answer = StoreAnswer(status: status, retryAfter: retryAfter) }
        }

        func receive(_ call: StoreCall) throws -> StoreAnswer {
            state.withLock { state in
                state.calls.append(call)
                return state.answer
            }
        }

        func heard() throws -> [String] {
            let calls = state.withLock { state in
                defer { state.calls = [] }
                return state.calls
            }
            struct Body: Decodable {
                struct Contents: Decodable {
                    let account: String?
                    let transactionId: String?
                    let idempotencyKey: String?
                }
                let type: String
                let data: Contents
            }
            return try calls.map {
                let body = try JSONDecoder().decode(Body.self, from: Data($0.body))
                let name =
                    body.data.idempotencyKey ?? String((body.data.transactionId ?? "").suffix(1))
                return "\(body.type) \(body.data.account ?? "-") \(name)"
            }
        }
    }

    private func book(
        _ receiver: Receiver, _ clock: MovedClock, isOrdered: Bool = false,
        events: Set<WebhookEvent>? = nil
    ) async throws -> Book {
        let store = FakeStore()
        store.answers { try receiver.receive($0) }
        let book = try await Book.open(
            asking: store, environments: [.sandbox],
            grants: try GrantRules(["coins": [Grant(name: "coins", kind: .credits(perUnit: 9))]]),
            wall: clock.wall)
        var configuration = book.ledger.configuration
        configuration.webhooks = [
            try WebhookEndpoint(
                url: Self.url, secret: Self.secret, isOrdered: isOrdered, events: events)
        ]
        return Book(
            ledger: try await Ledger.open(
                storage: book.storage, configuration: configuration, ports: book.ledger.ports),
            storage: book.storage)
    }

    @Test func `each event is sent once, and a repeat of a call sends nothing`() async throws {
        let (receiver, clock) = (Receiver(), MovedClock())
        let book = try await book(receiver, clock)
        for _ in 0..<2 {
            try await book.take(1)
            try await book.redeem("order", id: 1)
            try await book.take(2) { $0.productId = "coins" }
            try await book.spend("hat", 5)
        }
        try await book.take(2, account: nil) {
            $0.productId = "coins"
            $0.signedDate = Book.now.adding(seconds: 1)
            $0.revocationDate = Book.now
        }
        _ = try await refusal { try await book.redeem("more", id: 1) }
        _ = try await book.ledger.deliverWebhooks()
        let heard = try receiver.heard()
        _ = try await book.ledger.deliverWebhooks()

        #expect(
            heard.sorted() == [
                "credits.spent blob hat", "purchase.booked blob 1", "purchase.booked blob 2",
                "purchase.updated blob 2", "unit.redeemed blob order",
            ])
        #expect(try receiver.heard() == [])
        let listed = try await book.ledger.webhooks(state: "sent")
        #expect(listed.webhooks.count == 5)
    }

    @Test func `a message is signed as the specification has it`() async throws {
        let (receiver, clock) = (Receiver(), MovedClock())
        let book = try await book(receiver, clock, events: [.purchaseBooked])
        try await book.take(1)
        try await book.redeem("order", id: 1)
        _ = try await book.ledger.deliverWebhooks()
        let call = try #require(receiver.calls.first)
        let (id, date) = (call.headers["webhook-id"] ?? "", call.headers["webhook-timestamp"])

        #expect(receiver.calls.count == 1)
        #expect(id.hasPrefix("msg_"))
        #expect(date == "\(Book.now.milliseconds / 1000)")
        #expect(
            call.headers["webhook-signature"]
                == (try WebhookSecret(Self.secret).signature(
                    id: id, timestampSeconds: Book.now.milliseconds / 1000, body: call.body)))
    }

    @Test func `a server that is down gets a message for three days, and then it is parked`()
        async throws
    {
        let (receiver, clock) = (Receiver(), MovedClock())
        let book = try await book(receiver, clock, events: [.purchaseBooked])
        try await book.take(1)
        receiver.answers(500)
        var attempts = 0
        while try await book.ledger.webhooks(state: "waiting").webhooks.first != nil {
            _ = try await book.ledger.deliverWebhooks()
            attempts += try receiver.heard().count
            clock.move(seconds: 3600)
            guard attempts < 200 else { break }
        }
        let parked = try await book.ledger.webhooks(state: "parked").webhooks
        receiver.answers(200)
        _ = try await book.ledger.deliverWebhooks()
        let silent = try receiver.heard()
        let replayed = try await book.ledger.replayWebhooks(WebhooksRequest(url: Self.url))
        _ = try await book.ledger.deliverWebhooks()

        #expect((10...40).contains(attempts))
        #expect(parked.map(\.trouble) == ["the server answered with 500"])
        #expect(silent == [])
        #expect(replayed.changed == 1)
        #expect(try receiver.heard() == ["purchase.booked blob 1"])
        let id = parked.first?.messageId ?? ""
        #expect(
            try await book.ledger.replayWebhooks(
                WebhooksRequest(url: Self.url, messageIds: [id, "msg_none"])
            ).changed == 1)
        #expect(
            try await book.ledger.parkWebhooks(
                WebhooksRequest(url: Self.url, messageIds: [id])
            ).changed == 1)
        _ = try await book.ledger.deliverWebhooks()
        #expect(try receiver.heard() == [])
    }

    @Test(arguments: [true, false])
    func `an account's messages wait for each other on request`(isOrdered: Bool) async throws {
        let (receiver, clock) = (Receiver(), MovedClock())
        let book = try await book(receiver, clock, isOrdered: isOrdered)
        try await book.take(1)
        receiver.answers(503)
        _ = try await book.ledger.deliverWebhooks()
        _ = try receiver.heard()
        receiver.answers(200)
        try await book.redeem("order", id: 1)
        try await book.take(2, account: "ann")
        _ = try await book.ledger.deliverWebhooks()
        let early = try receiver.heard()
        clock.move(seconds: 60)
        _ = try await book.ledger.deliverWebhooks()
        _ = try await book.ledger.deliverWebhooks()
        let late = try receiver.heard()

        if isOrdered {
            #expect(early == ["purchase.booked ann 2"])
            #expect(late == ["purchase.booked blob 1", "unit.redeemed blob order"])
        } else {
            #expect(early.sorted() == ["purchase.booked ann 2", "unit.redeemed blob order"])
            #expect(late == ["purchase.booked blob 1"])
        }
    }

    @Test func `a server that asks for a pause gets no message before its end`() async throws {
        let (receiver, clock) = (Receiver(), MovedClock())
        let book = try await book(receiver, clock)
        try await book.take(1)
        receiver.answers(503, retryAfter: "7200")
        _ = try await book.ledger.deliverWebhooks()
        let next = try await book.ledger.webhooks(state: "waiting").webhooks.map(\.nextDate)
        // Another message waits too.
        try await book.take(2)
        receiver.answers(200)
        clock.move(seconds: 7199)
        _ = try await book.ledger.deliverWebhooks()
        let early = try receiver.heard()
        clock.move(seconds: 1)
        _ = try await book.ledger.deliverWebhooks()

        #expect(next == [Book.now.adding(seconds: 7200)])
        #expect(early == ["purchase.booked blob 1"])
        #expect(
            try receiver.heard().sorted()
                == ["purchase.booked blob 1", "purchase.booked blob 2"])
    }

    @Test(arguments: ["999999999999999999999", "Fri, 31 Dec 2399 23:59:59 GMT"])
    func `a pause ends with the three days, in which a message is tried once more`(
        retryAfter: String
    ) async throws {
        let (receiver, clock) = (Receiver(), MovedClock())
        let book = try await book(receiver, clock, events: [.purchaseBooked])
        try await book.take(1)
        receiver.answers(429, retryAfter: retryAfter)
        _ = try await book.ledger.deliverWebhooks()
        clock.move(seconds: 3 * 86_400 - 1)
        _ = try await book.ledger.deliverWebhooks()
        let early = try receiver.heard()
        clock.move(seconds: 1)
        _ = try await book.ledger.deliverWebhooks()

        #expect(early == ["purchase.booked blob 1"])
        #expect(try receiver.heard() == ["purchase.booked blob 1"])
        #expect(try await book.ledger.webhooks().webhooks.map(\.state) == ["parked"])
    }

    @Test(arguments: [200, 500, 410])
    func `a message that is parked while it is sent stays parked, unless it arrives`(
        status: Int
    ) async throws {
        let (receiver, clock) = (Receiver(), MovedClock())
        let book = try await book(receiver, clock, events: [.purchaseBooked])
        try await book.take(1)
        let id = try #require(try await book.ledger.webhooks().webhooks.first?.messageId)
        var ports = book.ledger.ports
        let door = try #require(ports.stores)
        ports.stores = StoreDoor(sleep: { _ in }) { call throws(StoreUnreached) in
            let request = WebhooksRequest(url: Self.url, messageIds: [id])
            do { _ = try await book.ledger.parkWebhooks(request) } catch {
                throw StoreUnreached("\(error)")
            }
            return try await door.send(call)
        }
        let sender = try await Ledger.open(
            storage: book.storage, configuration: book.ledger.configuration, ports: ports)
        receiver.answers(status)
        _ = try await sender.deliverWebhooks()
        receiver.answers(200)
        clock.move(seconds: 3600)
        _ = try await sender.deliverWebhooks()
        let states = try await book.ledger.webhooks().webhooks.map(\.state)
        let replayed = try await book.ledger.replayWebhooks(WebhooksRequest(url: Self.url))

        #expect(try receiver.heard().count == 1)
        #expect(states == [status == 200 ? "sent" : "parked"])
        #expect(replayed.changed == (status == 200 ? 0 : 1))
    }

    @Test func `a server that wants no messages parks them at once`() async throws {
        let (receiver, clock) = (Receiver(), MovedClock())
        let book = try await book(receiver, clock, events: [.purchaseBooked])
        try await book.take(1)
        receiver.answers(410)
        _ = try await book.ledger.deliverWebhooks()

        #expect(try await book.ledger.webhooks().webhooks.map(\.state) == ["parked"])
        #expect(
            try await refusal { try await book.ledger.webhooks(state: "lost") }
                == ["stateInvalid", "state"])
    }

    /// A ledger whose worker sleeps, because its pauses never end.
    private func asleep(
        _ receiver: Receiver
    ) async throws -> (
        ledger: Ledger, worker: Task<Void, Never>, lastPause: @Sendable () -> Duration?
    ) {
        let book = try await book(receiver, MovedClock())
        var ports = book.ledger.ports
        let door = try #require(ports.stores)
        let pauses = Pauses()
        ports.stores = StoreDoor(sleep: { pause in
            pauses.last.withLock { $0 = pause }
            let (never, hold) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
            hold.finish()
            try Task.checkCancellation()
        }) { call throws(StoreUnreached) in try await door.send(call) }
        let ledger = try await Ledger.open(
            storage: book.storage, configuration: book.ledger.configuration, ports: ports)
        let worker = Task { await ledger.work() }
        await until("the worker sleeps") { pauses.last.withLock { $0 != nil } }
        return (ledger, worker, { pauses.last.withLock { $0 } })
    }

    private final class Pauses: Sendable {
        let last = Mutex<Duration?>(nil)
    }

    @Test func `a message that this process writes is sent at once`() async throws {
        let (ledger, worker, _) = try await asleep(Receiver())
        _ = try await ledger.take(
            TakePurchaseRequest(signedTransaction: try Book.signed(1), account: "blob"))
        try await until("the message is sent") {
            try await ledger.webhooks(state: "sent").webhooks.count == 1
        }
        try await ledger.storage.write { writing in
            _ = try ledger.prepare(
                RedeemRequest(idempotencyKey: "k", transactionId: Book.id(1), purpose: "p"),
                account: "blob"
            ).redeem(in: writing)
        }
        ledger.wakeWorker()
        try await until("the merchant's own message is sent") {
            try await ledger.webhooks(state: "sent").webhooks.count == 2
        }
        worker.cancel()
        await worker.value
    }

    @Test func `a proof that this process keeps is awaited`() async throws {
        let (ledger, worker, lastPause) = try await asleep(Receiver())
        let idle = lastPause()
        // The store's answer cannot be read, so that the proof is kept.
        _ = try await ledger.take(
            TakeTransactionRequest(transactionId: Book.id(9), account: "blob"))
        await until("the worker waits for the proof", seen: "\(String(describing: lastPause()))") {
            lastPause() == .seconds(1)
        }
        worker.cancel()
        await worker.value

        #expect(idle == .seconds(30))
    }

    @Test func `the worker looks again when the next thing is due`() async throws {
        let (receiver, clock) = (Receiver(), MovedClock())
        let book = try await book(receiver, clock, isOrdered: true)
        _ = try await book.ledger.fillGaps(isStart: true)
        func seconds() async -> Int64 {
            await book.ledger.nextRound().milliseconds(since: clock.wall.now) / 1000
        }
        let idle = await seconds()
        try await book.take(1)
        let owed = await seconds()
        receiver.answers(500)
        _ = try await book.ledger.deliverWebhooks()
        let failed = await seconds()
        // It waits for the first, so that it does not count.
        try await book.redeem("order", id: 1)
        let blocked = await seconds()
        receiver.answers(500, retryAfter: "20")
        clock.move(seconds: 5)
        _ = try await book.ledger.deliverWebhooks()
        let resting = await seconds()
        // An operator who replays a message wants it sent now.
        _ = try await book.ledger.replayWebhooks(WebhooksRequest(url: Self.url))
        let replayed = book.ledger.errands.rest(of: Self.url, at: clock.wall.now)

        #expect([idle, owed, failed, blocked, resting] == [30, 2, 5, 5, 30])
        #expect(replayed == nil)
    }

    @Test(arguments: ["", "whsec_", "whsec_QUJD", "QUJD", "whsec_!!!"])
    func `what is no secret is refused`(text: String) {
        #expect(throws: WireError.self) {
            try WebhookEndpoint(url: Self.url, secret: text)
        }
    }
}
