// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import StoreWire
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ProductsTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    @Test func `products come with words, exact price and a locale that knows its currency`()
        async throws
    {
        let app = rig.launch(observer: nil)

        let response = try await app.products("credits.5", "credits.10", "nothing")

        let product = try #require(
            response.products.first { $0.productIdentifier == "credits.5" })
        #expect(response.products.count == 2)
        #expect(response.invalidProductIdentifiers == ["nothing"])
        #expect(product.localizedTitle == "Title of credits.5")
        #expect(product.localizedDescription == "Words for credits.5")
        #expect(product.price == NSDecimalNumber(string: "0.99"))
        let formatter = NumberFormatter()
        formatter.numberStyle = .currency
        formatter.locale = product.priceLocale
        #expect(formatter.string(from: product.price) == "$0.99")
        #expect(rig.log.lines == ["No product \"nothing\": the catalogue has no such id"])
    }

    @Test func `a thousand ids and more are asked for in pages`() async throws {
        let app = rig.launch(observer: nil)
        let ids = Set((1...2001).map { "credits.\($0)" })

        let response = try await ProductsListener.ask(ids, app.device)

        #expect(response.products.count == 2)
        #expect(response.invalidProductIdentifiers.count == 1999)
        #expect(rig.store.count { $0 == .products } == 3)
    }

    @Test func `no ids are no error`() async throws {
        let app = rig.launch(observer: nil)

        #expect(try await ProductsListener.ask([], app.device).products.isEmpty)
    }

    @Test func `a refused sign-in fails with the store's sentence`() async throws {
        let refusal = #"{"code":"wrongPassword","message":"The password is wrong."}"#
        rig.store.always(.answered(DeviceReply(status: 401, body: Array(refusal.utf8)))) {
            $0 == .signIn
        }
        let app = rig.launch(observer: nil)

        let error = await #expect(throws: SKError.self) { try await app.products("credits.5") }
        #expect(error?.localizedDescription == "The password is wrong.")
        #expect(error?.code == .clientInvalid)
    }

    @Test func `a started request without a reference is answered, and then released`() async {
        let app = rig.launch(observer: nil)
        let listener = CountingListener()
        weak var seen: SKProductsRequest?
        func start() {
            let request = SKProductsRequest(
                productIdentifiers: ["credits.5"], device: app.device)
            request.delegate = listener
            request.start()
            seen = request
        }

        start()
        await listener.calls.wait(for: "finished")

        #expect(listener.calls.lines == ["response", "finished"])
        // The last call was made with the request in hand.
        await until("a request that was let go") { seen == nil }
    }

    @Test func `a request that is cancelled, or never started, is let go`() {
        let app = rig.launch(observer: nil)
        weak var cancelled: SKProductsRequest?
        weak var unused: SKProductsRequest?
        func make() {
            let request = SKProductsRequest(
                productIdentifiers: ["credits.5"], device: app.device)
            request.start()
            request.cancel()
            cancelled = request
            let other = SKProductsRequest(
                productIdentifiers: ["credits.5"], device: app.device)
            unused = other
        }

        make()

        #expect(cancelled == nil)
        #expect(unused == nil)
    }

    @Test func `a cancelled request calls no delegate`() async throws {
        let app = rig.launch(observer: nil)
        let listener = CountingListener()
        let request = SKProductsRequest(
            productIdentifiers: ["credits.5"], device: app.device)
        request.delegate = listener

        request.start()
        request.cancel()
        _ = try await app.products("credits.10")
        _ = try await app.products("credits.10")

        #expect(listener.calls.lines == [])
    }

    @Test func `the response comes right before the end`() async throws {
        let app = rig.launch(observer: nil)
        let listener = CountingListener()
        let request = SKProductsRequest(
            productIdentifiers: ["credits.5"], device: app.device)
        request.delegate = listener

        request.start()
        request.start()
        await listener.calls.wait(for: "finished")

        #expect(listener.calls.lines == ["response", "finished"])
    }
}

/// Writes down which of its methods were called.
final class CountingListener: NSObject, SKProductsRequestDelegate {
    let calls = Diary()

    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse) {
        calls.write("response")
    }

    func requestDidFinish(_ request: SKRequest) { calls.write("finished") }

    func request(_ request: SKRequest, didFailWithError error: any Error) {
        calls.write("failed")
    }
}
