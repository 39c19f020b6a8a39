// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import PurchaseKit
import StoreWire
import Synchronization
import TestSupport
import Testing

/// What is found at the next launch.
@Suite(.timeLimit(.minutes(5)))
struct LaunchTests {
    let rig: Rig
    let lost = TransportFailure.unknown(URLError(.networkConnectionLost))

    init() throws {
        rig = try Rig()
    }

    @Test func `an unfinished purchase is delivered at every launch until finished`() async {
        let first = rig.launch()
        first.add("credits.5", quantity: 2)
        await first.observer.diary.wait(for: "purchased")
        await first.device.close()

        let second = rig.launch()
        await second.observer.diary.wait(for: "purchased")
        await second.device.close()
        let third = rig.launch(observer: DiaryObserver(finishes: true))
        await third.observer.diary.wait(for: "removed")
        await rig.acknowledged()
        await third.device.close()

        #expect(second.observer.diary.lines == ["purchased credits.5 2000000000000001"])
        #expect(second.queue.transactions.first?.payment.quantity == 2)
        #expect(await rig.quietLaunch() == [])
    }

    @Test func `a failed payment is delivered at every launch until finished`() async throws {
        rig.sheet.answers.withLock { $0 = [.cancel] }
        let first = rig.launch()
        first.add("credits.5")
        await first.observer.diary.wait(for: "failed")
        await first.device.close()

        let second = rig.launch(observer: DiaryObserver(finishes: true))
        await second.observer.diary.wait(for: "removed")
        await second.device.close()

        #expect(second.observer.diary.lines == ["failed credits.5 2", "removed credits.5"])
        #expect(await rig.quietLaunch() == [])
    }

    @Test func `a payment whose sheet was not answered ends as cancelled`() async throws {
        let first = rig.launch(sheet: SilentSheet())
        first.add("credits.5")
        await first.observer.diary.wait(for: "purchasing")
        await first.device.close()

        let second = rig.launch()
        await second.observer.diary.wait(for: "failed")

        #expect(second.observer.diary.lines == ["failed credits.5 2"])
        #expect(rig.store.count(\.isPurchase) == 0)
    }

    @Test func `a confirmed payment is sent again under the same id`() async throws {
        let first = rig.launch(naps: false)
        rig.store.always(.replyLost(lost), when: \.isPurchase)
        first.add("credits.5")
        await rig.sold(1)
        await first.device.close()
        rig.store.recover()

        let second = rig.launch()
        await second.observer.diary.wait(for: "purchased")

        #expect(
            second.observer.diary.lines.filter { $0.hasPrefix("purchased") } == [
                "purchased credits.5 2000000000000001"
            ])
        #expect(rig.store.state.withLock { $0.sales.count } == 1)
        #expect(rig.sheet.shown.lines.count == 1)
    }

    @Test func `a payment of an earlier launch is not failed by an absent store`() async throws {
        let first = rig.launch(naps: false)
        rig.store.always(.replyLost(lost), when: \.isPurchase)
        first.add("credits.5")
        await rig.sold(1)
        await first.device.close()
        rig.store.recover()
        rig.store.always(.lost(.notSent(URLError(.cannotConnectToHost)))) { $0 != .receipt }

        let second = rig.launch()
        await second.observer.diary.wait(for: "purchasing")
        rig.store.recover()
        await second.observer.diary.wait(for: "purchased")

        #expect(!second.observer.diary.lines.contains { $0.hasPrefix("failed") })
    }

    @Test func `a purchase whose file was lost arrives by itself`() async {
        rig.store.sellElsewhere("credits.10")

        let app = rig.launch()
        await app.observer.diary.wait(for: "purchased")

        #expect(app.observer.diary.lines == ["purchased credits.10 2000000000000001"])
        #expect(app.queue.transactions.first?.payment.productIdentifier == "credits.10")
        #expect((try? rig.files.read("sandboxReceipt")) != nil)
    }

    @Test func `a purchase made elsewhere and finished is not delivered`() async {
        rig.store.sellElsewhere("credits.10")
        rig.store.state.withLock { $0.sales[0].isFinished = true }

        #expect(await rig.quietLaunch() == [])
    }

    @Test func `what does not verify waits, and holds up nothing else`() async {
        rig.store.sellElsewhere("credits.5")
        rig.store.sellElsewhere("credits.10")
        rig.store.state.withLock {
            $0.forge = { payload in
                if payload.productId == "credits.5" { payload.bundleId = "com.example.other" }
            }
        }
        let first = rig.launch()
        await first.observer.diary.wait(for: "purchased credits.10")
        await first.device.close()
        #expect(first.observer.diary.lines == ["purchased credits.10 2000000000000002"])
        rig.store.state.withLock { $0.forge = nil }

        let second = rig.launch()
        await second.observer.diary.wait(for: "purchased credits.5")

        #expect(second.observer.diary.lines.count == 2)
    }

    @Test func `what does not verify is asked for again at the next launch, and nothing before it`()
        async
    {
        for product in ["credits.10", "credits.10", "credits.5"] {
            rig.store.sellElsewhere(product)
        }
        rig.store.state.withLock {
            $0.forge = { payload in
                if payload.productId == "credits.5" { payload.bundleId = "com.example.other" }
            }
        }
        let first = rig.launch()
        await first.observer.diary.wait(for: "purchased", count: 2)
        // The history is written after the delivery, and by an open device only.
        await rig.read(to: 2)
        await first.device.close()
        rig.store.state.withLock {
            $0.forge = nil
            $0.calls = []
        }

        let second = rig.launch()
        await second.observer.diary.wait(for: "purchased credits.5")

        let asked = rig.store.state.withLock { $0.calls.first(where: \.isTransactions) }
        #expect(asked == .transactions(since: 2, waitSeconds: 0))
    }

    @Test func `a receipt is shown to its customer, also while nobody listens`() async throws {
        let first = rig.launch()
        first.add("credits.5")
        await first.observer.diary.wait(for: "purchased")
        await first.device.close()

        let second = rig.launch(observer: nil)
        _ = try await second.products("credits.5")
        #expect(second.device.receiptURL?.lastPathComponent == "sandboxReceipt")
        await second.device.close()
        rig.store.state.withLock { $0.customer = "1000000000002000" }

        let third = rig.launch(observer: nil)
        _ = try await third.products("credits.5")
        #expect(third.device.receiptURL == nil)
        await third.device.close()
    }

    @Test func `what a store is asked about a receipt is of its own customer`() async throws {
        let first = rig.launch()
        first.add("credits.5")
        await first.observer.diary.wait(for: "purchased")
        await first.device.close()
        rig.store.state.withLock {
            $0.customer = "1000000000002000"
            $0.sales = []
            $0.etagsAsked = []
        }

        let second = rig.launch()
        second.add("credits.10")
        await second.observer.diary.wait(for: "purchased credits.10")
        await second.device.close()

        let asked = rig.store.state.withLock { $0.etagsAsked }
        #expect(asked.first == .some(nil))
    }

    @Test func `unfinished purchases are delivered while the store is away`() async {
        let first = rig.launch()
        first.add("credits.5")
        await first.observer.diary.wait(for: "purchased")
        await first.device.close()
        rig.store.always(.lost(.notSent(URLError(.cannotConnectToHost)))) { _ in true }

        let second = rig.launch(naps: false)
        await second.observer.diary.wait(for: "purchased")

        #expect(second.device.receiptURL != nil)
    }

    // MARK: Whose queue it is

    @Test func `another customer inherits nothing, and the first loses nothing`() async {
        let first = rig.launch()
        first.add("credits.5")
        await first.observer.diary.wait(for: "purchased")
        await first.device.close()
        rig.store.state.withLock { $0.customer = "1000000000002000" }
        let sales = rig.store.state.withLock { state in
            defer { state.sales = [] }
            return state.sales
        }

        #expect(await rig.quietLaunch() == [])
        rig.store.state.withLock {
            $0.customer = "1000000000001000"
            $0.sales = sales
        }
        let third = rig.launch()
        await third.observer.diary.wait(for: "purchased")
        #expect(third.observer.diary.lines == ["purchased credits.5 2000000000000001"])
    }

    @Test func `a price that another customer saw is asked for again`() async throws {
        let app = rig.launch(waitSeconds: 1)
        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased credits.5")
        rig.store.state.withLock { state in
            (state.customer, state.validTokens) = ("1000000000002000", [])
            state.products["credits.5"] = 1290
        }
        await until("another customer's session", seen: rig.files.text) {
            rig.files.text.contains("1000000000002000")
        }

        app.add("credits.5")
        await rig.sheet.shown.wait(for: "Title of credits.5", count: 2)

        let shown = rig.sheet.shown.lines
        #expect(shown[1].contains("1.29") && !shown[1].contains("changed"), "\(shown)")
        await app.device.close()
    }

    @Test func `the last customer is assumed while the store is away`() async {
        rig.store.sellElsewhere("credits.5")
        let first = rig.launch()
        await first.observer.diary.wait(for: "purchased credits.5")
        await first.device.close()
        rig.store.state.withLock {
            $0.customer = "1000000000002000"
            $0.sales = []
        }
        rig.store.sellElsewhere("credits.10")
        let second = rig.launch()
        await second.observer.diary.wait(for: "purchased credits.10")
        await second.device.close()
        rig.store.always(.lost(.notSent(URLError(.cannotConnectToHost)))) { _ in true }

        let third = rig.launch(naps: false)
        await third.observer.diary.wait(for: "purchased")

        #expect(third.observer.diary.lines == ["purchased credits.10 2000000000000002"])
    }

    @Test func `a new store at the same address inherits nothing`() async {
        let first = rig.launch(naps: false)
        rig.store.always(.replyLost(lost), when: \.isPurchase)
        first.add("credits.5")
        await rig.sold(1)
        await first.device.close()
        rig.store.recover()
        rig.store.state.withLock {
            $0.realm = "realm-2"
            $0.sales = []
            $0.purchases = [:]
            $0.revision = 0
        }

        #expect(await rig.quietLaunch() == [])
        #expect(rig.store.state.withLock { $0.sales.count } == 0)
        #expect(rig.files.text.contains(#""realm" : "realm-1""#))
    }

    @Test func `another realm's transaction of the same number is delivered`() async {
        rig.store.sellElsewhere("credits.5")
        let first = rig.launch()
        await first.observer.diary.wait(for: "purchased credits.5 2000000000000001")
        await first.device.close()
        rig.store.state.withLock {
            $0.realm = "realm-2"
            $0.sales = []
            $0.revision = 0
        }
        rig.store.sellElsewhere("credits.10")

        let second = rig.launch()

        await second.observer.diary.wait(for: "purchased credits.10 2000000000000001")
        await second.device.close()
    }

    @Test func `the same realm under another root is not believed`() async throws {
        let first = rig.launch()
        first.add("credits.5")
        await first.observer.diary.wait(for: "purchased")
        await first.device.close()
        let impostor = FakeStore(try Authorities.second.get())

        let second = rig.launch(naps: false, transport: impostor)
        await rig.log.wait(for: "The store is not used")
        second.add("credits.10")
        await second.observer.diary.wait(for: "failed credits.10 1")

        #expect(impostor.state.withLock { $0.purchases.count } == 0)
    }

    /// Even if the store does not know that the device names one.
    @Test func `a device for production does not use a sandbox`() async {
        let first = rig.launch(environment: .production, naps: false)
        await rig.log.wait(for: "The store is not used: the store at")
        first.add("credits.5")
        await first.observer.diary.wait(for: "failed credits.5")
        await first.device.close()
        let second = rig.launch(environment: .sandbox)
        second.add("credits.5")

        await second.observer.diary.wait(for: "purchased credits.5")
        await second.device.close()
    }

    @Test func `a restored realm is read again from its beginning`() async {
        rig.store.sellElsewhere("credits.5")
        rig.store.sellElsewhere("credits.5")
        let first = rig.launch(observer: DiaryObserver(finishes: true))
        await first.observer.diary.wait(for: "removed", count: 2)
        await rig.acknowledged()
        await first.device.close()
        rig.store.state.withLock {
            $0.generation = 2
            $0.sales.removeLast()
            $0.sales[0].isFinished = false
        }

        let second = rig.launch()
        await second.observer.diary.wait(for: "purchased")

        #expect(second.observer.diary.lines == ["purchased credits.5 2000000000000001"])
    }

    @Test func `a realm that is restored while the app runs is read again from its beginning`()
        async
    {
        rig.store.sellElsewhere("credits.5")
        rig.store.sellElsewhere("credits.5")
        let app = rig.launch(observer: DiaryObserver(finishes: true), waitSeconds: 1)
        await app.observer.diary.wait(for: "removed", count: 2)
        await rig.acknowledged()

        // The copy is older than both sales, and sold something else since.
        rig.store.state.withLock { state in
            var sale = state.sales[0]
            sale.payload.transactionId = "2000000000000009"
            sale.payload.productId = "credits.10"
            sale.isFinished = false
            state.sales = [sale]
            state.revision = sale.revision
            state.generation = 2
            state.validTokens = []
        }

        await app.observer.diary.wait(for: "purchased credits.10 2000000000000009")
        await app.device.close()
    }

    // MARK: Two processes

    @Test func `two processes share a file and lose nothing`() async {
        let first = rig.launch()
        let second = rig.launch()

        for _ in 1...5 {
            first.add("credits.5")
            second.add("credits.10")
        }
        await first.observer.diary.wait(for: "purchased credits.5", count: 5)
        await second.observer.diary.wait(for: "purchased credits.10", count: 5)

        #expect(first.queue.transactions.count == 5)
        #expect(second.queue.transactions.count == 5)
        #expect(rig.files.text.components(separatedBy: #""state" : "purchased""#).count == 11)
    }

    @Test func `a process leaves alone what another one is at`() async {
        let first = rig.launch(sheet: SilentSheet())
        first.add("credits.5")
        await first.observer.diary.wait(for: "purchasing")

        #expect(await rig.quietLaunch() == [])

        await first.device.close()
        let third = rig.launch()
        await third.observer.diary.wait(for: "failed")
    }

    // MARK: The file

    @Test(arguments: [
        "", "{", "\0\0", #"{"version":4,"treasure":"kept"}"#, #"{"version":1,"treasure":"old"}"#,
    ])
    func `a queue file that cannot be used is set aside, and the store fills a new one`(
        text: String
    ) async throws {
        rig.store.sellElsewhere("credits.10")
        let bytes = Array(text.utf8)
        rig.files.state.withLock { $0.files["queue.json"] = bytes }
        let app = rig.launch()

        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased credits.5")
        await app.observer.diary.wait(for: "purchased credits.10")

        let files = rig.files.state.withLock { $0.files }
        let aside = try #require(files.first { $0.key.hasPrefix("queue-aside-") })
        #expect(aside.value == bytes)
        let notice = try #require(rig.log.lines.first)
        #expect(notice.contains("It was set aside as \(aside.key)."))
        #expect(rig.log.lines.count == 1)
    }

    @Test func `a queue file damaged while the app runs loses nothing`() async {
        let app = rig.launch(naps: false)
        rig.store.always(.replyLost(lost), when: \.isPurchase)
        app.add("credits.5")
        await rig.sold(1)
        rig.files.state.withLock { $0.files["queue.json"] = [] }
        rig.store.recover()

        app.add("credits.10")
        await app.observer.diary.wait(for: "purchased credits.5")
        await app.observer.diary.wait(for: "purchased credits.10")

        #expect(rig.log.lines.filter { $0.contains("set aside") }.count == 1)
        #expect(rig.store.state.withLock { $0.sales.count } == 2)
    }

    @Test func `a queue file that goes while the app runs loses nothing`() async {
        let app = rig.launch(naps: false)
        rig.store.always(.replyLost(lost), when: \.isPurchase)
        app.add("credits.5")
        await rig.sold(1)
        rig.files.state.withLock { $0.files["queue.json"] = nil }
        rig.store.state.withLock { $0.hidesSales = true }
        rig.store.recover()

        app.add("credits.10")
        await app.observer.diary.wait(for: "purchased credits.5")
        await app.observer.diary.wait(for: "purchased credits.10")

        #expect(rig.store.state.withLock { $0.sales.count } == 2)
    }

    @Test func `a full disk fails the payment before anything is sent`() async throws {
        rig.files.fail { _ in true }
        let app = rig.launch(naps: false)

        app.add("credits.5")
        await app.observer.diary.wait(for: "failed")

        #expect(app.observer.diary.lines == ["purchasing credits.5", "failed credits.5 0"])
        let error = try #require(app.queue.transactions.first?.error as? SKError)
        let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError
        #expect(underlying?.code == Int(ENOSPC))
        #expect(rig.store.count(\.isPurchase) == 0)
        rig.files.fail(when: nil)
        for transaction in app.queue.transactions { app.queue.finishTransaction(transaction) }
        await app.observer.diary.wait(for: "removed")
    }

    /// The payment is on disk as running, and nothing of it left the device.
    @Test(arguments: [false, true])
    func `a failure that could not be written ends when it is finished, or at the next launch`(
        isStillFull: Bool
    ) async throws {
        let first = rig.launch()
        _ = try await first.products("credits.5")
        let written = rig.files.replacements
        rig.files.fail { $0 > written + 1 }
        rig.sheet.answers.withLock { $0 = [.cancel] }
        first.add("credits.5")
        await first.observer.diary.wait(for: "failed credits.5 2")
        #expect(rig.files.text.contains("credits.5"))

        if !isStillFull { rig.files.fail(when: nil) }
        for transaction in first.queue.transactions { first.queue.finishTransaction(transaction) }
        await first.observer.diary.wait(for: "removed")
        if isStillFull { await rig.log.wait(for: "A failed payment stays in the queue file") }
        rig.files.fail(when: nil)
        await first.device.close()

        #expect(await rig.quietLaunch() == (isStillFull ? ["failed credits.5 2"] : []))
        #expect(rig.store.count(\.isPurchase) == 0)
    }

    @Test func `a disk that is full after the sale keeps the payment until it is not`() async {
        let app = rig.launch()
        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")
        let written = rig.files.replacements

        rig.files.fail { (written + 3...written + 6).contains($0) }
        app.add("credits.10")
        await app.observer.diary.wait(for: "purchased credits.10")

        #expect(!app.observer.diary.lines.contains { $0.hasPrefix("failed") })
        #expect(rig.store.state.withLock { $0.sales.count } == 2)
    }

    @Test(arguments: 1...6)
    func `whatever write fails, the customer pays once or sees a failure`(
        number: Int
    ) async {
        rig.files.fail { $0 == number }
        let first = rig.launch()
        first.add("credits.5")
        await first.observer.diary.wait(
            until: { lines in
                lines.contains { $0.hasPrefix("purchased") || $0.hasPrefix("failed") }
            }, "a purchase or a failure")
        await first.device.close()

        let second = rig.launch()
        let isSold = rig.store.state.withLock { $0.sales.count }
        if isSold == 1 { await second.observer.diary.wait(for: "purchased") }
        #expect(isSold <= 1)
    }
}

extension Rig {
    /// Waits until the store has sold so often.
    func sold(_ count: Int) async {
        await until("\(count) sales", seen: "\(store.state.withLock { $0.sales.count })") {
            store.state.withLock { $0.sales.count } >= count
        }
    }

    /// Waits until the store has heard of every finish, and the file knows.
    func acknowledged() async {
        await until("a queue without finished entries", seen: files.text) {
            !files.text.contains(#""finished""#)
        }
    }

    /// What a launch hears until it has read the store's transactions.
    func quietLaunch() async -> [String] {
        let before = store.count(\.isTransactions)
        let app = launch()
        await until("a question for the store's transactions") {
            store.count(\.isTransactions) != before
        }
        // A payment of its own comes behind whatever else there was.
        app.add("credits.none")
        await app.observer.diary.wait(for: "failed credits.none")
        for transaction in app.queue.transactions
        where transaction.payment.productIdentifier == "credits.none" {
            app.queue.finishTransaction(transaction)
        }
        await app.observer.diary.wait(for: "removed credits.none")
        await app.device.close()
        return app.observer.diary.lines.filter { !$0.contains("credits.none") }
    }
}
