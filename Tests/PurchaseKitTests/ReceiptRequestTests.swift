// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import PurchaseKit
import StoreWire
import Synchronization
import TestSupport
import Testing

/// Receipts that are asked for.
@Suite(.timeLimit(.minutes(5)))
struct ReceiptRequestTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    @Test func `an app without a valid receipt ends with 173`() async {
        await #expect(processExitsWith: .exitCode(173)) { SKTerminateForInvalidReceipt() }
    }

    /// As libraries do that ask once and keep the answer.
    @Test func `the receipt's address is known before there is one`() async throws {
        let first = rig.launch(observer: nil)
        let address = first.device.expectedReceiptURL
        #expect(address?.lastPathComponent == "sandboxReceipt")
        #expect(first.device.receiptURL == nil)
        first.queue.add(first.observer)
        first.add("credits.5")
        await first.observer.diary.wait(for: "purchased")
        #expect(first.device.receiptURL == address)
        #expect(first.device.expectedReceiptURL == address)
        await first.device.close()

        #expect(rig.launch(observer: nil).device.expectedReceiptURL == address)
        #expect(rig.launch(observer: nil, customer: "kid").device.expectedReceiptURL == nil)
        rig.store.state.withLock { $0.customer = "1000000000002000" }
        let other = rig.launch(observer: nil)
        _ = try await other.products("credits.5")
        #expect(other.device.expectedReceiptURL == nil)
    }

    @Test func `a production store's receipt has its own name`() async throws {
        rig.store.state.withLock { $0.environment = .production }
        let app = rig.launch(observer: nil)
        _ = try? await app.products("credits.5")
        #expect(app.device.expectedReceiptURL?.lastPathComponent == "receipt")
    }

    final class Listener: NSObject, SKRequestDelegate, Sendable {
        let diary = Diary()

        func requestDidFinish(_ request: SKRequest) { diary.write("finished") }

        func request(_ request: SKRequest, didFailWithError error: any Error) {
            diary.write("failed \((error as NSError).code)")
        }
    }

    /// Starts a request and drops it, as many apps do.
    private func ask(
        _ app: Rig.Launch, _ properties: [String: Any]? = nil
    ) async -> [String] {
        let listener = Listener()
        do {
            let request = SKReceiptRefreshRequest(
                receiptProperties: properties, device: app.device)
            request.delegate = listener
            request.start()
            request.start()
        }
        await listener.diary.wait(for: "f")
        return listener.diary.lines
    }

    @Test func `the receipt is written again, also if this device seems to have it`() async throws {
        let app = rig.launch(observer: nil)
        #expect(await ask(app) == ["finished"])
        #expect(try rig.files.read("sandboxReceipt") != nil)
        rig.files.state.withLock { $0.files["sandboxReceipt"] = [0] }

        #expect(await ask(app) == ["finished"])

        #expect(try rig.files.read("sandboxReceipt")?.count ?? 0 > 1)
        #expect(rig.sheet.shown.lines.first == "Fetch the receipt of blob again?")
        #expect(rig.store.state.withLock { $0.sales.isEmpty })
    }

    @Test func `a customer who declines, and a store that is away, fail it`() async {
        rig.sheet.answers.withLock { $0 = [.cancel] }
        let app = rig.launch(observer: nil)
        #expect(await ask(app) == ["failed 2"])
        rig.store.always(.lost(.notSent(URLError(.cannotConnectToHost)))) { $0 == .receipt }
        #expect(await ask(app) == ["failed -1004"])
    }

    @Test func `properties that ask for a bad receipt fail in a sandbox`() async {
        let app = rig.launch(observer: nil)
        #expect(await ask(app, [SKReceiptPropertyIsExpired: true]) == ["failed 1"])
        #expect(await ask(app, [SKReceiptPropertyIsRevoked: NSNumber(value: true)]) == ["failed 1"])
        #expect(
            await ask(app, [SKReceiptPropertyIsVolumePurchase: false]) == ["finished"])
        let request = SKReceiptRefreshRequest(receiptProperties: ["expired": 1])
        #expect(request.receiptProperties?["expired"] as? Int == 1)
        #expect(SKReceiptRefreshRequest().receiptProperties == nil)
    }

    @Test func `a cancelled request calls nobody`() async {
        let listener = Listener()
        let app = rig.launch(observer: nil)
        let request = SKReceiptRefreshRequest(receiptProperties: nil, device: app.device)
        request.delegate = listener
        request.start()
        request.cancel()

        #expect(await ask(app) == ["finished"])
        #expect(listener.diary.lines == [])
    }

    @Test func `a purchased transaction has its signed form`() async {
        let app = rig.launch()
        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")

        let data = (app.observer.transactions.last as (any Deprecated)?)?.receipt
        #expect(data.map { String(decoding: $0, as: UTF8.self) }?.split(separator: ".").count == 3)
    }
}

/// Reads what is deprecated without a warning.
private protocol Deprecated {
    var receipt: Data? { get }
}

extension SKPaymentTransaction: Deprecated {
    @available(*, deprecated)
    var receipt: Data? { transactionReceipt }
}
