// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import PurchaseKit
import SignedData
import StoreWire
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct NetworkTests {
    let rig: Rig
    let refused = TransportFailure.notSent(URLError(.cannotConnectToHost))
    let lost = TransportFailure.unknown(URLError(.networkConnectionLost))

    init() throws {
        rig = try Rig()
    }

    @Test func `a store that cannot be reached fails the payment`() async throws {
        rig.store.always(.lost(refused)) { _ in true }
        let app = rig.launch(naps: false)

        app.add("credits.5")
        await app.observer.diary.wait(for: "failed")

        #expect(app.observer.diary.lines == ["purchasing credits.5", "failed credits.5 0"])
        let error = try #require(app.queue.transactions.first?.error as? SKError)
        let underlying = error.userInfo[NSUnderlyingErrorKey] as? URLError
        #expect(underlying?.code == .cannotConnectToHost)
        #expect(rig.sheet.shown.lines == [])
    }

    @Test func `a sign-in without an answer fails a payment that has not left`() async throws {
        rig.store.always(.lost(.unknown(URLError(.unknown)))) { $0 == .signIn }
        let app = rig.launch(naps: false)

        app.add("credits.5")
        await app.observer.diary.wait(for: "failed credits.5 0")

        let error = try #require(app.queue.transactions.first?.error as? SKError)
        #expect(error.userInfo[NSUnderlyingErrorKey] is URLError)
    }

    @Test func `a store that vanishes after the sheet fails the payment`() async {
        let app = rig.launch()
        rig.store.next(.lost(refused), when: \.isPurchase)

        app.add("credits.5")
        await app.observer.diary.wait(for: "failed")

        #expect(app.observer.diary.lines.last == "failed credits.5 0")
        #expect(rig.store.state.withLock { $0.sales.count } == 0)
    }

    @Test func `a products request fails with the URL error itself`() async throws {
        rig.store.always(.lost(refused)) { _ in true }
        let app = rig.launch(observer: nil)

        await #expect(throws: URLError(.cannotConnectToHost)) {
            try await app.products("credits.5")
        }
        rig.store.recover()
        #expect(try await app.products("credits.5").products.count == 1)
    }

    @Test(arguments: [
        FakeStore.Fate.lost(.unknown(URLError(.timedOut))), .lost(.unknown(nil)),
        .replyLost(.unknown(URLError(.networkConnectionLost))),
        .replyLost(.unknown(URLError(.timedOut))),
        .answered(DeviceReply(status: 500)), .answered(DeviceReply(status: 503)),
        .answered(DeviceReply(status: 404)), .answered(DeviceReply(status: 429)),
        .answered(DeviceReply(status: 400, body: Array("<html>".utf8))),
        .answered(DeviceReply(status: 200, body: Array("<html>".utf8))),
        .answered(DeviceReply(status: 200, body: Array(#"{"state":"new","revision":1}"#.utf8))),
        .answered(
            DeviceReply(status: 200, body: Array(#"{"state":"authorising","revision":1}"#.utf8))),
    ])
    func `an unknown outcome is asked again and sold once`(fate: FakeStore.Fate) async {
        let app = rig.launch()
        rig.store.next(fate, when: \.isPurchase)
        rig.store.next(fate, when: \.isPurchase)

        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")

        #expect(
            app.observer.diary.lines == [
                "purchasing credits.5", "purchased credits.5 2000000000000001",
            ])
        #expect(rig.store.state.withLock { $0.sales.count } == 1)
        #expect(rig.store.count(\.isPurchase) == 3)
    }

    @Test func `what may have been sent is not failed by a store that then vanishes`() async {
        let app = rig.launch()
        rig.store.next(.replyLost(lost), when: \.isPurchase)
        rig.store.next(.lost(refused), when: \.isPurchase)
        rig.store.next(.lost(refused), when: \.isPurchase)

        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")

        #expect(rig.store.state.withLock { $0.sales.count } == 1)
    }

    @Test func `a refused sign-in does not fail what may have been sent`() async throws {
        let app = rig.launch()
        _ = try await app.products("credits.5")
        let refusal = DeviceReply(
            status: 403, body: Array(#"{"code":"disabled","message":"No."}"#.utf8))
        rig.store.next(.replyLost(lost), when: \.isPurchase)
        rig.store.next(.answered(DeviceReply(status: 401)), when: \.isPurchase)
        rig.store.next(.answered(refusal)) { $0 == .signIn }

        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")

        #expect(rig.store.state.withLock { $0.sales.count } == 1)
    }

    @Test func `it stays purchasing while the receipt cannot be fetched`() async throws {
        let app = rig.launch()
        rig.store.next(.lost(refused)) { $0 == .receipt }
        rig.store.next(.answered(DeviceReply(status: 500))) { $0 == .receipt }
        rig.store.next(.answered(DeviceReply(status: 200))) { $0 == .receipt }

        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")

        #expect(app.observer.diary.lines.count == 2)
        #expect(try rig.files.read("sandboxReceipt") != nil)
    }

    @Test func `a receipt that has not changed is not sent again`() async {
        let app = rig.launch()
        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")
        rig.store.next(.answered(DeviceReply(status: 500)), when: \.isPurchase)

        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased", count: 2)

        let asked = rig.store.state.withLock { $0.etagsAsked }
        #expect(asked == [nil, "\"1000000000001000-1\""])
    }

    @Test func `a session that has ended is made again`() async {
        let app = rig.launch()
        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")
        rig.store.state.withLock { $0.validTokens = [] }

        app.add("credits.10")
        await app.observer.diary.wait(for: "purchased", count: 2)

        #expect(rig.store.state.withLock { $0.sessions } == 2)
    }

    /// On a clock that never ends a nap by itself.
    @Test func `a session that ends while transactions are read is made again at once`() async {
        rig.store.sellElsewhere("credits.5")
        rig.store.next(.answered(DeviceReply(status: 401)), when: \.isTransactions)

        let app = rig.launch(naps: false)
        await app.observer.diary.wait(for: "purchased credits.5")

        #expect(rig.store.state.withLock { $0.sessions } == 2)
        #expect(rig.store.count(\.isTransactions) == 2)
    }

    @Test func `a new payment wakes one that waits to be asked again`() async {
        let app = rig.launch(naps: false)
        rig.store.next(.replyLost(lost), when: \.isPurchase)
        app.add("credits.5")
        await rig.sold(1)

        // Each new payment wakes what waits by then.
        var others = 0
        while !app.observer.diary.lines.contains(where: { $0.hasPrefix("purchased credits.5") }) {
            app.add("credits.10")
            others += 1
            await app.observer.diary.wait(for: "purchased credits.10", count: others)
        }

        #expect(rig.store.state.withLock { $0.sales.count } == 1 + others)
    }

    // MARK: Signatures

    @Test func `a signature by another root is never delivered`() async throws {
        let foreign = try Authorities.second.get().transactions
        let app = rig.launch(naps: false)
        rig.store.signer.withLock { $0 = foreign }

        app.add("credits.5")
        await rig.log.wait(for: "A payment's outcome is still open: a signature does not verify")
        #expect(app.observer.diary.lines == ["purchasing credits.5"])
        #expect(try rig.files.read("sandboxReceipt") == nil)

        rig.store.signer.withLock { $0 = nil }
        app.add("credits.10")
        await app.observer.diary.wait(for: "purchased", count: 2)
    }

    @Test(arguments: ["bundle", "environment", "product", "quantity", "future"])
    func `a transaction for something else is never delivered`(field: String) async {
        let app = rig.launch(naps: false)
        rig.store.state.withLock {
            $0.forge = { payload in
                switch field {
                case "bundle": payload.bundleId = "com.example.other"
                case "environment": payload.environment = "Production"
                case "product": payload.productId = "credits.10"
                case "quantity": payload.quantity = 2
                default: payload.signedDate = payload.signedDate?.adding(seconds: 86_400)
                }
            }
        }

        app.add("credits.5")
        await rig.log.wait(
            until: { log in
                app.observer.diary.lines.count > 1
                    || log.contains {
                        $0.hasPrefix("A payment's outcome") || $0.hasPrefix("The store ans")
                    }
            }, "a complaint about the store's answer, or a delivery")
        #expect(app.observer.diary.lines == ["purchasing credits.5"])

        // Nothing else was wrong with it.
        rig.store.state.withLock { $0.forge = nil }
        app.add("credits.10")
        await app.observer.diary.wait(for: "purchased", count: 2)
    }

    @Test func `production's signatures are judged by the machine's clock, not the store's`()
        async
    {
        let (store, wall) = (rig.store, rig.store.state.withLock { $0.now })
        store.state.withLock {
            $0.environment = .production
            $0.forge = { $0.environment = "Production" }
            $0.now = wall.adding(seconds: 2 * 86_400)
        }
        let app = rig.launch(naps: false)

        app.add("credits.5")
        await rig.log.wait(
            until: { log in
                app.observer.diary.lines.count > 1
                    || log.contains { $0.hasPrefix("A payment's outcome is still open") }
            }, "a complaint about the signature's date, or a delivery")
        #expect(app.observer.diary.lines == ["purchasing credits.5"])

        store.state.withLock { $0.now = wall }
        app.add("credits.10")
        await app.observer.diary.wait(for: "purchased", count: 2)
    }

    @Test(arguments: [Environment.sandbox, .production])
    func `only a sandbox is asked for its time, and only about a date in the future`(
        environment: Environment
    ) async {
        rig.store.state.withLock { state in
            let later = state.now.adding(seconds: 2 * 86_400)
            state.environment = environment
            state.forge = { payload in
                payload.environment = environment.rawValue
                if environment == .production {
                    payload.signedDate = later
                } else {
                    payload.bundleId = "com.example.other"
                }
            }
        }
        rig.store.sellElsewhere("credits.5")

        let app = rig.launch()
        await rig.log.wait(for: "A transaction is not delivered")
        await app.device.close()

        #expect(rig.store.count(\.isTransactions) == 1)
    }

    @Test func `a clock that jumped does not make a purchase look signed in the future`() async {
        let app = rig.launch()
        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")
        rig.store.state.withLock { $0.now = $0.now.adding(seconds: 40 * 86_400) }

        app.add("credits.10")
        await app.observer.diary.wait(for: "purchased", count: 2)

        #expect(rig.log.lines == [])
    }
}
