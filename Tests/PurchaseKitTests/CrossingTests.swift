// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import PurchaseKit

/// Answers that arrive after something else has happened.
@Suite(.timeLimit(.minutes(5)))
struct CrossingTests {
    let rig: Rig
    let store: HoldingStore

    init() throws {
        rig = try Rig()
        store = HoldingStore(rig.store)
    }

    @Test func `a receipt is never fetched for another customer than the buyer`() async throws {
        let first = rig.launch(transport: store)
        _ = try await first.products("credits.5")
        store.hold(when: \.isPurchase)
        first.add("credits.5")
        await store.diary.wait(for: "held PUT")
        rig.store.state.withLock {
            $0.customer = "1000000000002000"
            $0.validTokens = []
        }
        // Answered to another customer than the one who asked.
        _ = try? await first.products("credits.10")

        store.release()
        await rig.log.wait(for: "A payment waits for the customer who confirmed it.")
        await first.device.close()

        #expect(first.observer.diary.lines == ["purchasing credits.5"])
        #expect(try rig.files.read("sandboxReceipt") == nil)
        rig.store.state.withLock { $0.customer = "1000000000001000" }
        let second = rig.launch()
        await second.observer.diary.wait(for: "purchased credits.5")
    }

    /// A sheet whose customer confirms, and what happens just before.
    private struct ConfirmingSheet: PaymentSheet {
        let before: @Sendable () -> Void

        func present(_ contents: SheetContents) async -> SheetAnswer {
            before()
            return .confirm
        }

        func notify(_ sentence: String) async {}
    }

    /// The session expires when the device has looked at the clock so often since the
    /// confirmation, and the next one is another customer's.
    @Test(arguments: 0...6)
    func `a payment is sent in the session whose customer confirmed it`(looks: Int) async {
        let left = Mutex<Int?>(nil)
        let wall = WallClock {
            left.withLock { left in
                guard let looks = left else { return Rig.now }
                left = looks - 1
                return looks > 0 ? Rig.now : Timestamp(milliseconds: 4_000_000_000_001)
            }
        }
        let sheet = ConfirmingSheet { [store = rig.store] in
            left.withLock { $0 = looks }
            store.state.withLock { $0.customer = "1000000000002000" }
        }
        let app = rig.launch(sheet: sheet, wall: wall)

        app.add("credits.5")
        let waits = "A payment waits for the customer who confirmed it."
        await until("a payment that is sent or waits") {
            rig.store.count(\.isPurchase) > 0 || rig.log.lines.contains(waits)
        }
        await app.device.close()

        let buyers = rig.store.state.withLock { $0.buyers }
        #expect(buyers.allSatisfy { $0 == "1000000000001000" })
    }

    /// In another customer's session the store answers that it does not know the
    /// transaction. That would end the finish, and the sale would come again.
    @Test func `a finish is sent in no other customer's session`() async {
        rig.store.always(
            .lost(.notSent(URLError(.cannotConnectToHost))), when: \.isFinish)
        let first = rig.launch(observer: DiaryObserver(finishes: true))
        first.add("credits.5")
        await first.observer.diary.wait(for: "removed")
        await until("a first finish") { rig.store.count(\.isFinish) > 0 }
        let sales = rig.store.state.withLock { state in
            (state.customer, state.validTokens) = ("1000000000002000", [])
            defer { state.sales = [] }
            return state.sales
        }
        rig.store.recover()
        await until("the end of the finish", seen: rig.files.text) {
            await first.device.finishers.isEmpty
        }
        await first.device.close()

        rig.store.state.withLock {
            ($0.customer, $0.sales) = ("1000000000001000", sales)
        }
        #expect(await rig.quietLaunch() == [])
        let third = rig.launch()
        await rig.acknowledged()
        #expect(rig.store.state.withLock { $0.sales.map(\.isFinished) } == [true])
        await third.device.close()
    }

    /// The payment's own answer is delivered, finished and forgotten while the
    /// page that brings the same transaction waits for its receipt.
    @Test func `what was finished in the meantime is not delivered again`() async throws {
        store.hold { $0 == .receipt }
        store.hold { $0 == .receipt }
        rig.store.state.withLock { $0.hidesSales = true }
        let app = rig.launch(
            observer: DiaryObserver(finishes: true), waitSeconds: 50, transport: store)
        app.add("credits.5")
        await store.diary.wait(for: "held GET")
        // The page is read while the receipt of the payment's own answer is on its way.
        rig.store.state.withLock { $0.hidesSales = false }
        await until("a page with the sale") {
            rig.store.state.withLock { $0.pagesWithSales } > 0
        }
        for _ in 1...3 { _ = try await app.products("credits.5") }

        store.release()
        await store.diary.wait(for: "held GET", count: 2)
        await rig.acknowledged()
        store.release()
        let after = rig.store.count(\.isTransactions)
        await rig.store.called(after + 2, \.isTransactions)
        app.add("credits.none")
        await app.observer.diary.wait(for: "removed credits.none")
        await app.device.close()

        let sold = app.observer.diary.lines.filter { $0.hasPrefix("purchased") }
        #expect(sold == ["purchased credits.5 2000000000000001"])
    }

    @Test func `a page of transactions finished in the meantime fetches no receipt`()
        async throws
    {
        let rig = rig
        store.hold { $0.isTransactions && rig.store.state.withLock { $0.pagesWithSales } > 0 }
        let app = rig.launch(waitSeconds: 50, transport: store)
        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")
        await store.diary.wait(for: "held GET")
        app.queue.finishTransaction(try #require(app.observer.transactions.last))
        await rig.acknowledged()
        let receipts = rig.store.state.withLock { $0.etagsAsked.count }

        store.release()
        let after = rig.store.count(\.isTransactions)
        await rig.store.called(after + 2, \.isTransactions)
        await app.device.close()

        #expect(rig.store.state.withLock { $0.etagsAsked.count } == receipts)
        #expect(app.observer.diary.lines.count { $0.hasPrefix("purchased") } == 1)
    }

    @Test(arguments: [false, true])
    func `a page of a realm restored in the meantime is discarded`(
        whileReceiptIsFetched: Bool
    ) async throws {
        rig.store.sellElsewhere("credits.5")
        rig.store.sellElsewhere("credits.10")
        if whileReceiptIsFetched {
            store.hold { $0 == .receipt }
        } else {
            store.hold(when: \.isTransactions)
        }
        let app = rig.launch(transport: store)
        await store.diary.wait(for: "held GET")
        // The copy lacks the second sale; its revisions begin at the first again.
        rig.store.state.withLock {
            $0.generation = 2
            $0.sales.removeLast()
            $0.revision = 1
            $0.validTokens = []
        }
        _ = try await app.products("credits.5")

        store.release()
        await app.observer.diary.wait(for: "purchased")
        rig.store.sellElsewhere("credits.10")
        await app.device.close()

        #expect(app.observer.diary.lines == ["purchased credits.5 2000000000000001"])
        let next = rig.launch()
        await next.observer.diary.wait(for: "purchased credits.10")
        #expect(next.observer.diary.lines.contains("purchased credits.10 2000000000000002"))
    }

    @Test func `a receipt never takes the place of a newer one that another process wrote`()
        async throws
    {
        rig.store.sellElsewhere("credits.10")
        store.hold { $0 == .receipt }
        let one = rig.launch(transport: store)
        await store.diary.wait(for: "held GET")
        let other = rig.launch()
        other.add("credits.5")
        await other.observer.diary.wait(for: "purchased credits.5")

        store.release()
        await one.device.follower?.value
        await one.device.close()
        await other.device.close()

        let receipt = try #require(try rig.files.read("sandboxReceipt"))
        #expect(
            String(decoding: receipt, as: UTF8.self) == "receipt 2000000000000001 2000000000000002")
    }

    @Test(arguments: [(-1, 1), (1, -1)] as [(Int64, Int64)])
    func `a page with impossible numbers counts as no answer`(
        revision: Int64, ofTransaction: Int64
    ) async {
        let page = TransactionsResponse(
            transactions: [
                TransactionDescription(
                    signedTransaction: "x", purchaseId: nil, isFinished: false,
                    revision: ofTransaction)
            ], revision: revision, hasMore: true, now: rig.store.state.withLock { $0.now })
        let body = (try? JSONEncoder().encode(page)).map { [UInt8]($0) } ?? []
        rig.store.next(.answered(DeviceReply(status: 200, body: body)), when: \.isTransactions)
        let app = rig.launch()

        app.add("credits.10")
        await app.observer.diary.wait(for: "purchased credits.10")

        await rig.store.called(2, \.isTransactions)
        await app.device.close()
        let asked = rig.store.state.withLock { $0.calls.filter(\.isTransactions) }
        #expect(asked.allSatisfy { $0 == .transactions(since: 0, waitSeconds: 0) })
        #expect(rig.log.lines == [])
    }
}
