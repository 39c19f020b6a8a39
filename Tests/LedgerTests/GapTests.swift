// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import Ledger

/// Missed notifications, found in the store's history.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct GapTests {
    private let store = FakeStore()

    /// The notification of a purchase, signed some seconds after `now`.
    private static func notification(_ id: Int, account: String = Book.blob) throws -> String {
        let transaction = try Book.signed(id) { $0.appAccountToken = account }
        var data = NotificationData()
        data.bundleId = Book.bundleID.value
        data.environment = "Sandbox"
        data.signedTransactionInfo = transaction
        var payload = ResponseBodyV2DecodedPayload()
        payload.notificationType = "ONE_TIME_CHARGE"
        payload.notificationUUID = "\(id)"
        payload.signedDate = Book.now.adding(seconds: Int64(id))
        payload.data = data
        return try Book.sandbox().transactions.sign(payload)
    }

    /// The notification of a subscription's period, with what is signed about its renewal.
    private static func period() throws -> String {
        var renewal = JWSRenewalInfoDecodedPayload()
        renewal.originalTransactionId = Book.id(1)
        renewal.signedDate = Book.now
        let info = try Book.sandbox().transactions.sign(renewal)
        let transaction = try Book.signed {
            $0.type = "Auto-Renewable Subscription"
            $0.appAccountToken = Book.blob
            $0.expiresDate = Book.now.adding(seconds: 86_400)
        }
        let body = try Book.notification(transaction, type: "DID_RENEW") {
            $0.signedRenewalInfo = info
        }
        return body.signedPayload
    }

    /// A history of two notifications a page. Fails as often as `failures` says.
    private func history(_ payloads: [String], failures: Int = 0) {
        let left = Mutex(failures)
        let shared = Shared(left: left)
        store.answers { call in
            let token = call.url.split(separator: "=").last.flatMap { Int($0) } ?? 0
            if token > 0, shared.fails() { throw StoreUnreached("cut") }
            let end = min(token + 2, payloads.count)
            return try FakeStore.json(
                NotificationHistoryResponse(
                    notificationHistory: payloads[token..<end].map {
                        NotificationHistoryResponseItem(signedPayload: $0, sendAttempts: [])
                    }, paginationToken: end < payloads.count ? "\(end)" : nil))
        }
    }

    private final class Shared: Sendable {
        private let left: Mutex<Int>

        init(left: consuming Mutex<Int>) { self.left = left }

        func fails() -> Bool {
            left.withLock { left in
                left -= 1
                return left >= 0
            }
        }
    }

    private func start(_ call: StoreCall?) throws -> Timestamp? {
        try StrictJSON.decode(NotificationHistoryRequest.self, from: try #require(call).body)
            .startDate
    }

    @Test func `what was missed is taken page by page, once, and the next reading goes on there`()
        async throws
    {
        let clock = MovedClock()
        let book = try await Book.open(
            asking: store, environments: [.sandbox], wall: clock.wall)
        _ = try await book.ledger.take(ResponseBodyV2(signedPayload: try Self.notification(1)))
        history(try [3, 2, 1, 4, 5].map { try Self.notification($0) })

        let reports = try await book.ledger.fillGaps()
        #expect(reports == [GapReport(read: 5, refused: 0, isComplete: true, trouble: nil)])
        #expect(try await book.unspent(Book.blob).count == 5)
        #expect(book.ledger.counts.gapsFilled == 4)
        #expect(store.heard().count == 3)

        // Not again before five minutes are over, except at a start.
        #expect(try await book.ledger.fillGaps().isEmpty)
        clock.move(seconds: 300)
        #expect(try await book.ledger.fillGaps().count == 1)
        let overlap = NewsCursor.overlapMilliseconds
        #expect(
            try start(store.lastCall)
                == Book.now.adding(seconds: 5).adding(milliseconds: -overlap))
        #expect(book.ledger.counts.gapsFilled == 4)
        #expect(try await book.ledger.fillGaps(isStart: true).count == 1)
    }

    @Test func `a subscription's notification that was received is no gap, and costs no commit`()
        async throws
    {
        let knife = Knife(nil)
        let book = try await Book.open(
            asking: store, environments: [.sandbox],
            storage: CutStorage(storage: try await Shelf.storage(), knife: knife))
        let payload = try Self.period()
        _ = try await book.ledger.take(ResponseBodyV2(signedPayload: payload))
        let calls = knife.calls

        let (_, again) = try await book.ledger.hear(payload, isFromHistory: true)
        // One look-up.
        #expect(knife.calls == calls + 1)
        history([payload])
        let reports = try await book.ledger.fillGaps()

        #expect(again?.account == Book.blob)
        #expect(reports == [GapReport(read: 1, refused: 0, isComplete: true, trouble: nil)])
        #expect(book.ledger.counts.gapsFilled == 0)
        #expect(book.ledger.counts.taken == 1)
    }

    @Test func `a subscription's notification that was missed is one gap`() async throws {
        let book = try await Book.open(asking: store, environments: [.sandbox])
        history([try Self.period()])

        for _ in 1...2 { _ = try await book.ledger.fillGaps(isStart: true) }

        #expect(book.ledger.counts.gapsFilled == 1)
        #expect(book.ledger.counts.taken == 1)
    }

    @Test func `a reading that was cut goes on at its page`() async throws {
        let book = try await Book.open(asking: store, environments: [.sandbox])
        history(try (1...5).map { try Self.notification($0) }, failures: 3)

        let cut = try await book.ledger.fillGaps()
        #expect(cut.map(\.isComplete) == [false])
        #expect(cut.map(\.trouble) == ["cut"])
        _ = store.heard()
        let rest = try await book.ledger.fillGaps(isStart: true)

        #expect(rest.map(\.read) == [3])
        #expect(store.heard().first?.hasSuffix("paginationToken=2") == true)
        #expect(try await book.unspent(Book.blob).count == 5)
    }

    @Test func `a token that has expired begins the reading again`() async throws {
        let book = try await Book.open(asking: store, environments: [.sandbox])
        history(try (1...3).map { try Self.notification($0) }, failures: 3)
        _ = try await book.ledger.fillGaps()
        let payload = try Self.notification(3)
        store.answers { call in
            if call.url.contains("paginationToken") { return try FakeStore.error(4_000_017) }
            return try FakeStore.json(
                NotificationHistoryResponse(
                    notificationHistory: [
                        NotificationHistoryResponseItem(signedPayload: payload, sendAttempts: [])
                    ], paginationToken: nil))
        }

        #expect(try await book.ledger.fillGaps(isStart: true).map(\.isComplete) == [true])
        #expect(try await book.unspent(Book.blob).count == 3)
    }

    @Test func `a store whose clock is ahead is read from a later date`() async throws {
        let book = try await Book.open(asking: store, environments: [.sandbox])
        let oldest = Book.now.adding(seconds: 5 * 365 * 86_400)
        let payload = try Self.notification(1)
        store.answers { call in
            let asked = try StrictJSON.decode(NotificationHistoryRequest.self, from: call.body)
            guard let start = asked.startDate, start >= oldest else {
                return try FakeStore.error(4_000_012)
            }
            return try FakeStore.json(
                NotificationHistoryResponse(
                    notificationHistory: [
                        NotificationHistoryResponseItem(signedPayload: payload, sendAttempts: [])
                    ], paginationToken: nil))
        }

        #expect(try await book.ledger.fillGaps().map(\.isComplete) == [true])
        #expect(try await book.unspent(Book.blob).count == 1)
    }

    @Test func `forged and foreign entries of a history are left out, and counted`() async throws {
        let book = try await Book.open(asking: store, environments: [.sandbox])
        let foreign = try Book.notification(try Book.signed(7), by: try Book.foreign())
        history(["a.b.c", foreign.signedPayload, try Self.notification(1)])

        let reports = try await book.ledger.fillGaps()

        #expect(reports == [GapReport(read: 3, refused: 2, isComplete: true, trouble: nil)])
        #expect(try await book.unspent(Book.blob).count == 1)
    }

    @Test func `copies are sent on in order, and wait for the first one that fails`() async throws {
        let clock = MovedClock()
        let url = "https://merchant.example/hook"
        let book = try await Book.open(
            asking: store, environments: [.sandbox], forwardsTo: [url], wall: clock.wall)
        let payloads = try (1...3).map { try Self.notification($0) }
        for payload in payloads {
            _ = try await book.ledger.take(ResponseBodyV2(signedPayload: payload))
            _ = try await book.ledger.take(ResponseBodyV2(signedPayload: payload))
            clock.move(seconds: 1)
        }
        store.isDown()
        #expect(try await book.ledger.forward() == 0)
        #expect(store.heard().count == 1)
        #expect(try await book.ledger.forward() == 0)
        #expect(store.heard().isEmpty)

        let arrived = Arrivals()
        store.answers { call in
            arrived.note(try StrictJSON.decode(ResponseBodyV2.self, from: call.body))
            return StoreAnswer(status: 200)
        }
        clock.move(seconds: 5)
        #expect(try await book.ledger.forward() == 3)
        #expect(arrived.all == payloads)
        #expect(try await book.ledger.forwards().forwards.isEmpty)
    }

    private final class Arrivals: Sendable {
        private let list = Mutex<[String]>([])
        var all: [String] { list.withLock { $0 } }
        func note(_ body: ResponseBodyV2) { list.withLock { $0.append(body.signedPayload) } }
    }

    @Test func `a copy that fails for three days is parked, shown, and sent again on request`()
        async throws
    {
        let clock = MovedClock()
        let url = "https://merchant.example/hook"
        let book = try await Book.open(
            asking: store, environments: [.sandbox], forwardsTo: [url], wall: clock.wall)
        for id in 1...2 {
            _ = try await book.ledger.take(
                ResponseBodyV2(signedPayload: try Self.notification(id)))
        }
        store.answers { _ in StoreAnswer(status: 500) }
        clock.move(seconds: 3 * 86_400)

        #expect(try await book.ledger.forward() == 2)
        let report = try #require(try await book.ledger.forwards().forwards.first)
        #expect(report.parked == 2)
        #expect(report.trouble == "the server answered with 500")

        store.answers { _ in StoreAnswer(status: 204) }
        let left = try await book.ledger.unpark(UnparkRequest(url: url))
        #expect(left.forwards.map(\.waiting) == [2])
        #expect(try await book.ledger.forward() == 2)
        #expect(try await book.ledger.forwards().forwards.isEmpty)
    }
}
