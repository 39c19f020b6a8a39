// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import PurchaseKit
import StoreWire
import Synchronization
import TestSupport
import Testing

/// Restoring what was bought for good.
@Suite(.timeLimit(.minutes(5)))
struct RestoringTests {
    let rig: Rig
    let account = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"

    init() throws {
        rig = try Rig()
    }

    /// Restores, and waits for `count` ends.
    private func restore(_ app: Rig.Launch, count: Int = 1, username: String? = nil) async {
        app.queue.restoreCompletedTransactions(withApplicationUsername: username)
        await app.observer.diary.wait(for: "restore ", count: count)
    }

    @Test func `it delivers new transactions with the first purchase, then ends once`() async {
        rig.store.sellForGood("pro")
        rig.store.sellForGood("paper", "Auto-Renewable Subscription")
        rig.store.sellForGood(
            "paper", "Auto-Renewable Subscription", original: "2000000000000002")
        let app = rig.launch()

        app.queue.restoreCompletedTransactions()
        await app.observer.diary.wait(for: "restore ")

        #expect(
            app.observer.diary.lines == [
                "restored pro 2000000000000001", "restored paper 2000000000000002",
                "restored paper 2000000000000002", "restore finished",
            ])
        let seen = app.observer.transactions
        #expect(Set(seen.compactMap(\.transactionIdentifier)).count == 3)
        for transaction in seen {
            #expect(transaction.transactionDate != nil && transaction.original?.error == nil)
            #expect(
                transaction.transactionIdentifier != transaction.original?.transactionIdentifier)
            #expect(transaction.original?.transactionState == .purchased)
            #expect(transaction.original?.payment.productIdentifier != "")
            #expect(transaction.original === transaction.original)
        }
        #expect(rig.sheet.shown.lines == ["Restore the purchases of blob?"])
    }

    /// The first period of a subscription that has changed since.
    @Test func `the first purchase names its own product`() async {
        rig.store.sellForGood("paper", "Auto-Renewable Subscription")
        rig.store.sellForGood("all", "Auto-Renewable Subscription", original: "2000000000000001")
        let app = rig.launch()

        await restore(app)

        #expect(app.observer.transactions.map(\.payment.productIdentifier) == ["paper", "all"])
        #expect(
            app.observer.transactions.map(\.original?.payment.productIdentifier)
                == ["paper", "paper"])
    }

    /// Rows: what was sold, how it stands, and whether it is restored.
    @Test(arguments: [
        ("Consumable", "finished", false), ("Non-Consumable", "finished", true),
        ("Auto-Renewable Subscription", "finished", true),
        ("Non-Renewing Subscription", "finished", false),
        ("Non-Consumable", "revoked", false),
        ("Auto-Renewable Subscription", "revoked", false),
        ("Auto-Renewable Subscription", "expired", true),
        ("Auto-Renewable Subscription", "free", true),
        ("Non-Consumable", "family", true), ("Non-Consumable", "unfinished", false),
        ("A type of next year", "finished", false),
    ])
    func `what lasts and is finished is restored`(
        type: String, condition: String, isRestored: Bool
    ) async {
        rig.store.sellForGood("goods", type)
        rig.store.state.withLock { state in
            switch condition {
            case "revoked": state.sales[0].payload.revocationDate = state.now
            case "expired": state.sales[0].payload.expiresDate = .init(milliseconds: 1)
            case "free": state.sales[0].payload.price = 0
            case "family": state.sales[0].payload.inAppOwnershipType = "FAMILY_SHARED"
            case "unfinished": state.sales[0].isFinished = false
            default: break
            }
        }
        let app = rig.launch()

        await restore(app)

        let lines = app.observer.diary.lines
        #expect(lines.contains { $0.hasPrefix("restored") } == isRestored)
        #expect(lines.last == "restore finished")
        #expect(lines.contains { $0.hasPrefix("purchased") } == (condition == "unfinished"))
    }

    @Test func `with nothing to restore it only ends, with a receipt`() async throws {
        let app = rig.launch()

        await restore(app)

        #expect(app.observer.diary.lines == ["restore finished"])
        #expect(try rig.files.read("sandboxReceipt") != nil)
        #expect(app.device.receiptURL != nil)
    }

    @Test func `the receipt is fetched again before anything is reported`() async throws {
        rig.store.sellForGood("pro")
        let first = rig.launch()
        await restore(first)
        rig.files.state.withLock { $0.files["sandboxReceipt"] = Array("spoilt".utf8) }
        let files = rig.files
        final class Reader: NSObject, SKPaymentTransactionObserver, @unchecked Sendable {
            let files: MemoryFiles
            let diary = Diary()
            init(_ files: MemoryFiles) { self.files = files }
            func paymentQueue(
                _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
            ) {
                let receipt = files.state.withLock { $0.files["sandboxReceipt"] } ?? []
                diary.write(String(decoding: receipt, as: UTF8.self))
            }
        }
        let reader = Reader(files)
        first.queue.add(reader)

        await restore(first, count: 2)

        #expect(reader.diary.lines == ["receipt 2000000000000001"])
    }

    /// Rows: the name that is asked for, and what is restored. The store keeps
    /// UUIDs only.
    @Test(
        arguments: [
            (nil, ["a", "b", "c"]), ("3F2504E0-4F89-41D3-9A0C-0305E82C3301", ["b"]),
            ("11111111-4f89-41d3-9a0c-0305e82c3301", ["c"]),
            ("22222222-4f89-41d3-9a0c-0305e82c3301", []), ("blob", ["a"]), ("", ["a"]),
        ] as [(String?, [String])])
    func `a user name restores what was bought under it`(
        username: String?, products: [String]
    ) async {
        rig.store.sellForGood("a")
        rig.store.sellForGood("b", token: account)
        rig.store.sellForGood("c", token: "11111111-4f89-41d3-9a0c-0305e82c3301")
        let app = rig.launch()

        await restore(app, username: username)

        #expect(app.observer.transactions.map(\.payment.productIdentifier) == products)
        #expect(app.observer.diary.lines.last == "restore finished")
    }

    @Test func `restoring twice makes a second set, and each is finished by itself`() async {
        rig.store.sellForGood("pro")
        let app = rig.launch(observer: DiaryObserver(finishes: true))

        app.queue.restoreCompletedTransactions()
        app.queue.restoreCompletedTransactions(withApplicationUsername: account)
        app.queue.restoreCompletedTransactions()
        await app.observer.diary.wait(for: "restore ", count: 3)
        await app.observer.diary.wait(for: "removed", count: 2)

        let lines = app.observer.diary.lines
        #expect(lines.count { $0.hasPrefix("restored pro") } == 2)
        #expect(lines.count { $0 == "restore finished" } == 3)
        #expect(Set(app.observer.transactions.map(\.transactionIdentifier)).count == 2)
        // The store knows of none of them.
        #expect(rig.store.count(\.isFinish) == 0)
        await app.device.close()
        #expect(await rig.quietLaunch() == [])
    }

    @Test func `more than a page is restored`() async {
        for number in 1...7 { rig.store.sellForGood("pro.\(number)") }
        rig.store.state.withLock { $0.pageMax = 3 }
        let app = rig.launch()

        await restore(app)

        #expect(app.observer.diary.lines.count { $0.hasPrefix("restored") } == 7)
        #expect(app.observer.diary.lines.last == "restore finished")
    }

    // MARK: What goes wrong

    @Test func `a customer who declines restores nothing`() async {
        rig.store.sellForGood("pro")
        rig.sheet.answers.withLock { $0 = [.cancel] }
        let app = rig.launch()

        await restore(app)

        #expect(app.observer.diary.lines == ["restore failed 2"])
        #expect(rig.files.text.contains("restored") == false)
    }

    @Test func `a sandbox without dialogs does not ask`() async {
        rig.store.sellForGood("pro")
        rig.store.state.withLock { $0.disablesDialogs = (true, true) }
        let app = rig.launch(sheet: SilentSheet())

        await restore(app)

        #expect(app.observer.diary.lines.last == "restore finished")
        #expect(rig.sheet.shown.lines == [])
    }

    @Test func `a network that fails on the second page fails it whole`() async {
        for number in 1...3 { rig.store.sellForGood("pro.\(number)") }
        rig.store.state.withLock { $0.pageMax = 2 }
        let app = rig.launch(observer: DiaryObserver())
        rig.store.always(.lost(.notSent(URLError(.cannotConnectToHost)))) { route in
            if case .transactions(let since, _, _) = route { since == 2 } else { false }
        }

        await restore(app)
        rig.store.recover()
        await restore(app, count: 2)

        let lines = app.observer.diary.lines
        #expect(lines.first == "restore failed -1004")
        #expect(lines.count { $0.hasPrefix("restored") } == 3)
        #expect(lines.last == "restore finished")
    }

    @Test func `what does not verify is left out, and the restore says so`() async {
        rig.store.sellForGood("pro")
        rig.store.sellForGood("best")
        rig.store.state.withLock {
            $0.forge = { if $0.productId == "pro" { $0.bundleId = "com.example.other" } }
        }
        let app = rig.launch()

        await restore(app)

        #expect(
            app.observer.diary.lines == ["restored best 2000000000000002", "restore failed 0"])
    }

    @Test func `a full disk fails the restore, and nothing was reported`() async {
        rig.store.sellForGood("pro")
        let app = rig.launch()
        await restore(app)
        app.observer.transactions.forEach(app.queue.finishTransaction)
        await app.observer.diary.wait(for: "removed")
        rig.files.state.withLock { $0.unwritable = "sandboxReceipt" }

        await restore(app, count: 2)

        #expect(app.observer.diary.lines.last == "restore failed 0")
        #expect(app.observer.diary.lines.count { $0.hasPrefix("restored") } == 1)
        #expect(!rig.files.text.contains("\"restored\""))
    }

    // MARK: Launches and purchases

    @Test func `restored transactions come again at each launch until they are finished`() async {
        rig.store.sellForGood("pro")
        let first = rig.launch()
        await restore(first)
        await first.device.close()
        let calls = rig.store.count(\.isTransactions)

        let second = rig.launch(observer: DiaryObserver(finishes: true))
        await second.observer.diary.wait(for: "removed")
        await second.device.close()

        #expect(
            second.observer.diary.lines == ["restored pro 2000000000000001", "removed pro"])
        #expect(
            second.observer.transactions[0].transactionIdentifier
                == first.observer.transactions[0].transactionIdentifier)
        #expect(await rig.quietLaunch() == [])
        // One question for each launch: nothing is restored by itself.
        #expect(rig.store.count(\.isTransactions) <= calls + 2)
        #expect(rig.sheet.shown.lines.count == 1)
    }

    /// The device ends while the store answers: nothing half restored is found.
    @Test func `a launch that ends in the middle restores nothing later`() async {
        for number in 1...3 { rig.store.sellForGood("pro.\(number)") }
        let first = rig.launch(sheet: SilentSheet())
        first.queue.restoreCompletedTransactions()
        await until("the store was asked") { rig.store.count(\.isTransactions) > 0 }
        await first.device.close()

        #expect(await rig.quietLaunch() == [])
        #expect(first.observer.diary.lines == [])
    }

    @Test func `a restore that nothing hears waits for an observer`() async {
        rig.store.sellForGood("pro")
        let app = rig.launch(observer: nil)
        app.queue.restoreCompletedTransactions()
        #expect(rig.sheet.shown.lines == [])

        app.queue.add(app.observer)
        await app.observer.diary.wait(for: "restore ")

        #expect(
            app.observer.diary.lines == ["restored pro 2000000000000001", "restore finished"])
    }

    @Test func `purchases under way go on beside it`() async {
        rig.store.sellForGood("pro")
        let app = rig.launch()

        app.add("credits.5")
        app.queue.restoreCompletedTransactions()
        app.add("credits.10")
        await app.observer.diary.wait(for: "purchased", count: 2)
        await app.observer.diary.wait(for: "restore ")

        #expect(app.observer.diary.lines.count { $0.hasPrefix("restored") } == 1)
        #expect(app.queue.transactions.count == 3)
        #expect(rig.store.state.withLock { $0.sales.count } == 3)
    }

    @Test func `what this device has finished is restored before the store knows`() async {
        let app = rig.launch(observer: DiaryObserver(finishes: true))
        rig.store.always(.lost(.notSent(URLError(.notConnectedToInternet))), when: \.isFinish)
        app.add("credits.5")
        await app.observer.diary.wait(for: "removed")
        rig.store.state.withLock { $0.sales[0].payload.type = "Non-Consumable" }

        await restore(app)

        #expect(app.observer.diary.lines.contains("restored credits.5 2000000000000001"))
    }

    @Test func `a queue file of version 2 is read, and written as 3`() async {
        let first = rig.launch()
        first.add("credits.5")
        await first.observer.diary.wait(for: "purchased")
        await first.device.close()
        rig.files.state.withLock { state in
            let text = String(decoding: state.files["queue.json"] ?? [], as: UTF8.self)
            state.files["queue.json"] = Array(
                text.replacingOccurrences(of: "\"version\" : 3", with: "\"version\" : 2").utf8)
        }

        let second = rig.launch(observer: DiaryObserver(finishes: true))
        await second.observer.diary.wait(for: "removed")

        #expect(
            second.observer.diary.lines == [
                "purchased credits.5 2000000000000001", "removed credits.5",
            ])
        #expect(rig.files.text.contains("\"version\" : 3"))
        #expect(rig.log.lines == [])
    }

    @Test func `finishing the first purchase does nothing`() async {
        rig.store.sellForGood("pro")
        let app = rig.launch()
        await restore(app)
        let original = app.observer.transactions[0].original

        if let original { app.queue.finishTransaction(original) }
        await restore(app, count: 2)

        #expect(app.queue.transactions.count == 2)
    }
}
